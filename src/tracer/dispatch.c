#include "config.h"
#include "tracer/dispatch.h"
#include "tracer/births.h"
#include "tracer/exit_captures.h"
#include "tracer/execs.h"
#include "tracer/forks.h"
#include "tracer/kernel_events.h"
#include "tracer/task_life.h"
#include "tracer/process.h"
#include "tracer/process_objects.h"
#include "calls/call_enter.h"
#include "calls/kernel_calls.h"
#include "calls/call_return.h"
#include "calls/affinity/pin.h"
#include "calls/probes/kernel_probes.h"
#include "calls/affinity/pin_watch.h"
#include "record/attachments.h"
#include "record/put_records.h"
#include "record/trace_output.h"
#include "record/resident.h"
#include "record/run.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/step_over.h"
#include "breakpoints/out_of_line_slots.h"
#include "base/msg.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* ---- Hits ---- */

#define JUMPS_MAX 8 /* maximum number of jumps that act_hit() follows, because jumps may be circular */

/* Acts on a hit at a function's entry. Acts on _dl_debug_state after all other probes, because updating the objects may
 * free the breakpoint. */
static void act_entry(struct task *task, struct breakpoint *b)
{
	const struct probe *probe = b->probe;

	kernel_calls_begin(task, b);
	call_enter(task, b);
	while (probe && probe->wanted->hook != HOOK_LIBRARY)
		probe = probe->next;
	if (!probe)
		return;
	pin_expose(task->process->tracer, task, "a library comes or goes");
	process_linker_notice(task);
}

/* Acts on a hit. If the code under the breakpoint only jumps to another breakpoint, acts on the hit there at once, too,
 * without resuming the task in between (follow_jump()). */
static void act_hit(struct task *task, struct breakpoint *b)
{
	for (unsigned jumps = 0;; jumps++) {
		const unsigned forgotten = task->process->text->forgotten;
		const uint64_t address = b->address;

		if (b->inserted) {
			if (b->is_return)
				call_return(task, b);
			if (pin_watches(b))
				pin_asked(task, b);
			if (b->probe)
				act_entry(task, b);
			/* dlclose may have freed this very breakpoint. */
			if (task->process->text->forgotten != forgotten)
				b = breakpoint_find(task->process, address);
		}
		if (!b) {
			if (jumps)
				task_set_pc(task, address);
			task_resume(task, 0);
			return;
		}
		struct breakpoint *next = jumps < JUMPS_MAX ? follow_jump(task, b) : NULL;

		if (!next) {
			step_over_breakpoint(task, b);
			return;
		}
		b = next;
	}
}

/* Gives a fork's child its own tables at its first hit. Returns false if the memory of a child that is alive cannot be
 * opened. The task then stays stopped, and functrace detaches from the process right after this stop. */
static bool own_at_hit(struct task *task)
{
	struct process *p = task->process;
	struct run *run = p->tracer->run;
	const int error = process_open(p, task->tid);

	process_own(p);
	if (error == 0 || error == -ESRCH || error == -ENOENT)
		return true;
	if (!p->trace->broken && run->sums.lost_attach++ < BROKEN_REPORTED)
		msg_warn("process %d runs on untraced: its memory cannot be opened: %s", p->pid, strerror(-error));
	p->trace->broken = run->has_broken = true;
	task_make_ready(task, hit_take_back(task) ? 0 : SIGTRAP);
	return false;
}

/* Returns true if a SIGTRAP of another origin can have the same pc as a hit of b. This is so if the pc is the address
 * of b's instruction. It is also so if that instruction is not longer than the breakpoint: the pc can be the start of
 * the next instruction then. */
static bool is_legal_place(const struct breakpoint *b, uint64_t pc)
{
	return pc == b->address || b->insn.length <= b->size;
}

/* Acts on a hit by code that runs in another mode of the processor (emulators and some JITs enter it by a far call). In
 * that mode the bytes are another instruction than functrace has decoded, and calls follow another ABI, so functrace
 * cannot trace the function. Removes the breakpoint for good, and sets the task's pc back to the instruction. */
static void act_other_mode(struct task *task, const struct stop *stop, uint64_t pc)
{
	struct process *p = task->process;
	const uint64_t address = p->arch->breakpoint.hit_address(pc);
	struct breakpoint *b = breakpoint_find(p, address);

	if (!b || !b->size || !task_hit_by_kernel(task)) {
		task_resume(task, stop->signal);
		return;
	}
	if (!b->unusable && b->probe)
		msg_warn("process %d (%s) calls %s in another mode of the processor (by a far call, between code of 32 "
			 "and of 64 bits): functrace cannot trace such a call, and traces this function no more",
			 p->pid, p->trace->origin.name, b->probe->traced.shown);
	if (b->inserted)
		breakpoint_remove(p, b);
	b->unusable = true;
	task_set_pc(task, address);
	task_resume(task, 0);
}

static void act_trap(struct task *task, const struct stop *stop)
{
	struct process *p = task->process;

	if (p && p->mem_fd < 0 && !own_at_hit(task))
		return;
	if (task_slot(task)) {
		/* The pc of a hit is outside all slots. If the pc is inside the task's slot, the SIGTRAP is the
		 * target's own. */
		if (task_regs(task) == 0 && slot_at(p, p->arch->registers.pc(&task->regs)) == task_slot(task)) {
			task_leave_slot(task);
			task_resume(task, stop->signal);
			return;
		}
		slot_left(task);
	}
	const int error = p ? task_regs(task) : -ESRCH;
	uint64_t pc = error ? 0 : p->arch->registers.pc(&task->regs);

	if (error ? error == -ENOTSUP && task_foreign_pc(task, &pc)
		  : p->arch->registers.other_mode && p->arch->registers.other_mode(&task->regs)) {
		act_other_mode(task, stop, pc);
		return;
	}
	if (error) {
		task_resume(task, p ? 0 : stop->signal);
		return;
	}
	const uint64_t address = p->arch->breakpoint.hit_address(pc);
	struct breakpoint *b = breakpoint_find(p, address);

	guard_saw(p->tracer->engine, task->journal_task, pc, p->arch->registers.sp(&task->regs));
	if (!b || !b->size || b->unusable ||
	    (is_legal_place(b, pc) && !task->blocks_trap && !task_hit_by_kernel(task))) {
		task_resume(task, sigtrap_deliver(task) ? stop->signal : 0);
		return;
	}
	if (p->tracer->set->cpu != CPU_FREE)
		pin_hit(task);
	sigtrap_after_hit(task);
	act_hit(task, b);
}

/* ---- Signals ---- */

/* If the instruction in a slot has itself raised the fault, si_addr is its address in the slot, `before`. Replaces it
 * by the address of the original instruction, to which the task's pc is already set. */
static void translate_siginfo(struct task *task, uint64_t before)
{
	siginfo_t info;

	if (!task_siginfo(task->tid, &info) || (uint64_t)(uintptr_t)info.si_addr != before)
		return;
	info.si_addr = (void *)(uintptr_t)task->process->arch->registers.pc(&task->regs);
	task_set_siginfo(task, &info);
}

static void act_signal(struct task *task, int sig)
{
	if (exec_awaits(task, sig))
		return;
	if (task_slot(task)) {
		const bool fault = sig == SIGILL || sig == SIGFPE || sig == SIGTRAP || sig == SIGSEGV || sig == SIGBUS;
		const uint64_t before =
			fault && task_regs(task) == 0 ? task->process->arch->registers.pc(&task->regs) : 0;

		task_leave_slot(task);
		if (fault && before && task->process->arch->registers.pc(&task->regs) != before)
			translate_siginfo(task, before);
	}
	/* Restart a system call that this stop has interrupted: without a tracer, the kernel would discard a signal
	 * that the target ignores, and the call would go on. */
	if (!stops_or_continues(sig))
		task_restart_syscall(task);
	msg_debug(DBG_PROCESS, 1, "%d gets signal %d", task->tid, sig);
	task_resume(task, kernel_events_own_signal(task, sig) ? 0 : sig);
}

static void act_group_stop(struct tracer *t, struct task *task, int sig)
{
	task_leave_slot(task);
	task_listen(task);
	if (t->launch->pid == task->tid)
		engine_target_stopped(t->engine, sig);
}

static void act_interrupt(struct tracer *t, struct task *task)
{
	task_leave_slot(task);
	if (t->launch->pid == task->tid)
		engine_target_continued(t->engine);
	if (task->interrupted)
		task_restart_syscall(task);
	task->interrupted = false;
	task_resume(task, 0);
}

/* ---- Ends ---- */

static void describe_end(char *text, size_t size, pid_t tid, int status)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "process %d was killed by signal %d (%s)", tid, WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "process %d has exited with status %d", tid, WEXITSTATUS(status));
}

/* Returns true if all tasks of the process are at their exit events, so that the kernel frees the memory next. */
static bool dispatch_is_last(const struct task *task)
{
	if (!task->process)
		return false;
	FOR_EACH_TASK(other, task->process)
		if (!other->exit_event_seen)
			return false;
	return true;
}

/* Acts on an exit event. If stop->went_on is set, the task was already resumed from the event, because an exec of
 * another task may wait for this task's end. The other task is still there, so this task is not the last one of the
 * process. */
static void act_exit(struct tracer *t, struct task *task, const struct stop *stop)
{
	act_unannounced_birth(t, task);
	task->exit_event_seen = true;
	const bool last = !stop->went_on && dispatch_is_last(task);

	if (last) {
		attachments_take(task->process->trace, task->tid);
		resident_put(task->process->trace, task->tid);
	}
	if (exit_captures_task_ended(task, last))
		return;
	slot_left(task);
	if (stop->went_on)
		task_woken(task);
	else
		task_resume(task, 0);
}

static void act_gone(struct tracer *t, struct task *task, int status)
{
	char how[96];
	const pid_t tid = task->tid;
	struct process *p = task->process;
	const pid_t tgid = task->tgid;
	const bool leader = tgid == tid;

	exit_captures_task_gone(task);
	pin_gone(t, tid);
	describe_end(how, sizeof(how), tid, status);
	if (p && leader && WIFSIGNALED(status))
		p->trace->killed_by = WTERMSIG(status);
	if (p && leader && p->task_count > 1)
		output_note(p->trace, "%s", how);
	if (p)
		process_ref(p);
	if (p && leader && p->shared)
		kernel_probes_leave(p, tgid);
	if (p && !task->exit_event_seen)
		p->life->has_unread_end = true;
	task_forget(t, task, NULL);
	/* The kernel reports a leader's exit when all other threads have ended. If a thread was just taking the
	 * leader's tid by an exec, that thread's exit is reported as the leader's. */
	if (leader)
		task_forget_group(t, tgid, NULL);
	if (leader && p && p->life->has_unread_end)
		births_expect_unannounced(t, p);
	births_adopt_orphans(t, p, tgid, NULL);
	if (p)
		process_unref(p, how);
	if (t->launch->pid != tid)
		return;
	t->launch_status = status;
	t->waited_since = clock_ns(CLOCK_MONOTONIC);
	engine_want_tick(t->engine);
	engine_target_ended(t->engine, status);
}

/* Acts on the end of a task that is not in the table. A leader that has ended before functrace attached is a zombie,
 * which cannot be seized. If a thread has taken the leader's tid, the end is that thread's:
 *
 *	101: exec(), gets its leader's tid, 100 | user: SIGKILL | 101: ends as 100, without an exec event */
static void act_unknown_gone(struct tracer *t, const struct stop *stop)
{
	if (engine_take_wake_child(t->engine, stop->tid))
		return;
	struct task *const thread = task_of_group(t, stop->tid);

	if (!thread) {
		msg_debug(DBG_PROCESS, 1, "%d has ended; it is no tracee", stop->tid);
		return;
	}
	task_rename(t, thread, stop->tid);
	act_gone(t, thread, stop->status);
}

static void act_vfork_done(struct tracer *t, struct task *task)
{
	task->vforking = false;
	task->interrupted = false; /* any stop replaces the stop of a pending interrupt */
	task_leave_slot(task);
	task_go_on(t, task);
}

void dispatch_stop(struct tracer *t, const struct stop *stop)
{
	struct task *task = task_find(t, stop->tid);

	switch (stop->kind) {
	case STOP_NONE:
		break;
	case STOP_STRANGER:
		act_unknown_gone(t, stop);
		break;
	case STOP_BORN_EARLY:
		act_born_early(t, stop);
		break;
	case STOP_BORN:
		act_born(t, task, stop);
		break;
	case STOP_EXEC:
		act_exec(t, stop);
		break;
	case STOP_TRAP:
		act_trap(task, stop);
		break;
	case STOP_SIGNAL:
		act_signal(task, stop->signal);
		break;
	case STOP_GROUP:
		act_group_stop(t, task, stop->signal);
		break;
	case STOP_INTERRUPT:
		act_interrupt(t, task);
		break;
	case STOP_NEW_TASK:
		act_new_task(t, task, stop);
		break;
	case STOP_VFORK_DONE:
		act_vfork_done(t, task);
		break;
	case STOP_EXIT:
		if (task)
			act_exit(t, task, stop);
		else if (!stop->went_on)
			task_resume_stranger(stop->tid);
		break;
	case STOP_GONE:
		act_gone(t, task, stop->status);
		break;
	}
}
