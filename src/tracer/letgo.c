#include "config.h"
#include "tracer/letgo.h"
#include "tracer/watching.h"
#include "tracer/leftovers.h"
#include "record/trace_output.h"
#include "record/run.h"
#include "tracer/births.h"
#include "tracer/task_life.h"
#include "tracer/leak_check.h"
#include "tracer/forks.h"
#include "tracer/kernel_events.h"
#include "tracer/process.h"
#include "tracer/process_start.h"
#include "tracer/stop_pump.h"
#include "calls/affinity/pin.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/step_over.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/collect.h"
#include "ptrace/target_memory.h"
#include "proc/proc.h"
#include "uprobe/uprobes.h"
#include "base/msg.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Detaches from processes, and leaves the target as it was before the attach.
 *
 * Breakpoints are removed first, while tasks run. After that three things remain: tasks that have just hit a
 * breakpoint, tasks whose pc is in a slot, and the slots themselves. A task that sleeps in a system call is neither at
 * a hit nor in a slot. Such a task is not even stopped, because an interrupt would make epoll_wait and similar calls
 * fail with EINTR; the kernel detaches it when the tracer's thread ends. All other tasks are interrupted. If a hit's
 * SIGTRAP is still pending, it is collected first. Then the pc is set back to the original text. */

/* Returns true if the task waits in vfork, is at its exit event, or is blocked in a system call whose instruction is
 * outside all slots. */
static bool is_asleep(const struct task *task)
{
	uint64_t pc;
	long number;

	if (task->vforking || task->exit_event_seen)
		return true;
	return proc_syscall(task->tid, &number, &pc) && !(task->process && slot_at(task->process, pc));
}

/* Handles a stop while functrace detaches: makes the task ready to be detached, or continues it until its next stop.
 * Returns false if the stop is to be dispatched as usual. */
static bool make_ready(struct task *task, const struct stop *stop)
{
	switch (stop->kind) {
	case STOP_TRAP:
		task_leave_slot(task);
		task_make_ready(task, hit_take_back(task) || !sigtrap_deliver(task) ? 0 : SIGTRAP);
		return true;
	case STOP_SIGNAL:
		task_leave_slot(task);
		if (!stops_or_continues(stop->signal))
			task_restart_syscall(task);
		task_make_ready(task, kernel_events_own_signal(task, stop->signal) ? 0 : stop->signal);
		return true;
	case STOP_INTERRUPT:
	case STOP_GROUP:
		if (task_has_trap_queued(task)) {
			task_resume(task, 0);
			return true;
		}
		task_leave_slot(task);
		if (stop->kind == STOP_INTERRUPT)
			task_restart_syscall(task);
		task->life->parting.can_call = true;
		task_make_ready(task, 0);
		return true;
	case STOP_EXIT:
		/* functrace does not wait for this task, because another task may be in an exec that waits until this
		 * task has ended. */
		task->life->parting.is_asleep = true;
		return false;
	default:
		/* Forks, execs and exits are dispatched; a child's breakpoints are removed, and it is detached. */
		return false;
	}
}

/* Returns true if functrace detaches from the task's process. In this and the functions below, `only` is the process
 * from which functrace detaches; NULL: it detaches from all. */
static bool is_concerned(const struct process *only, const struct task *task)
{
	return !only || task->process == only;
}

/* Returns true if the task sleeps and need not be interrupted: the kernel detaches it when the tracer's thread ends. If
 * `only` is not NULL, that thread continues, so sleeping tasks must be interrupted, too, and detached one by one. A
 * parent in vfork is not interrupted even then, because it cannot be stopped. */
static bool can_be_left(const struct process *only, const struct task *task)
{
	/* The kernel does not cancel a single step when the tracer's thread ends. */
	if (task->is_stepping || !is_asleep(task))
		return false;
	if (task->vforking || task->exit_event_seen || !task->process)
		return true;
	return !only && !task->process->life->uncompared && !task->process->text->writes_refused &&
	       !sigtrap_needs_restore(task->process);
}

/* Returns true if an expected child will not stop any more, because its end was collected before its parent's event.
 * Such a child is a zombie, and untraced, until its parent reaps it:
 *
 *	100: fork() | 101: SIGKILL, exit event, end | 100: its event: 101 is expected | here: 101 is not waited for */
static bool has_ended_early(const struct task *task)
{
	return !proc_is_own_tracee(task->tid);
}

/* Interrupts the tasks that must be stopped. First finds out which tasks sleep, so that no task is stopped while /proc
 * is read. */
static void interrupt_all(struct tracer *t, const struct process *only)
{
	struct task *task;

	for (size_t i = 0; (task = tasks_next(t, &i));)
		if (is_concerned(only, task) && !task->stopped)
			task->life->parting.is_asleep =
				task->phase == PHASE_LIVE ? can_be_left(only, task) : has_ended_early(task);
	for (size_t i = 0; (task = tasks_next(t, &i));) {
		/* If the interrupt fails with ESRCH, the task is gone without a report (by an exec), or its exit is
		 * about to be reported. So functrace waits for no stop of it. */
		if (is_concerned(only, task) && task->phase == PHASE_LIVE && !task->life->parting.is_asleep &&
		    !task->life->parting.is_ready && (!task->stopped || task->listening))
			task->life->parting.is_asleep = !task_interrupt(task);
	}
}

/* Returns true if some task must still stop. */
static bool is_waiting_for_any(struct tracer *t, const struct process *only)
{
	const struct task *task;

	for (size_t i = 0; (task = tasks_next(t, &i));) {
		if (is_concerned(only, task) && !task->life->parting.is_asleep && !task->life->parting.is_ready &&
		    task->phase != PHASE_HELD)
			return true;
	}
	return false;
}

struct parting {
	const struct process *only;
	bool is_waiting;
};

static struct stop take_parting(struct tracer *t, void *context)
{
	const struct parting *const parting = context;

	return parting->is_waiting ? collect(t) : collect_now(t);
}

static bool filter_parting(struct tracer *t, const struct stop *stop, void *context)
{
	const struct parting *const parting = context;
	struct task *const task = task_find(t, stop->tid);

	return task && is_concerned(parting->only, task) && task->phase == PHASE_LIVE && stop->kind != STOP_GONE &&
	       make_ready(task, stop);
}

static void make_all_ready(struct tracer *t, const struct process *only)
{
	struct parting parting = {.only = only};
	const struct stop_pump pump = {take_parting, filter_parting, &parting};

	interrupt_all(t, only);
	for (;;) {
		parting.is_waiting = is_waiting_for_any(t, only);
		if (only && !parting.is_waiting)
			return;
		if (pump_once(t, &pump).kind == STOP_NONE) {
			if (!only)
				births_adopt_unannounced(t);
			return;
		}
		if (!t->tasks.count)
			return;
	}
}

/* Restores the slots. Also removes the breakpoints of a process whose memory could not be opened (`uncompared`), by
 * ptrace through a stopped task. In other processes the breakpoints are already removed. */
static void restore_text(struct process *p)
{
	if (p->life->uncompared)
		FOR_EACH_TASK(task, p)
			if (task->life->parting.is_ready) {
				process_clean(p, task->tid);
				break;
			}
	slots_restore(p);
}

/* Detaches a task. If this fails, the task was killed, which is no error. */
static void detach(struct task *task)
{
	if (task->life->parting.can_call && task->process)
		sigtrap_restore(task);
	task_detach(task, task->life->parting.signal);
}

static void detach_ready(struct tracer *t)
{
	struct task *task;

	for (size_t i = 0; (task = tasks_next(t, &i));)
		if (task->life->parting.is_ready)
			detach(task);
}

/* --verify: checks that every byte that was ever changed has its original value. */
static void verify_text(struct process *p)
{
	unsigned char now[ARCH_SLOT_SIZE];
	size_t sites = 0, slots = 0, wrong = 0;

	HASH_EACH_PTR(const struct breakpoint, b, &p->text->breakpoints) {
		if (!b->size || b->unusable)
			continue;
		sites++;
		/* Memory that cannot be read has been unmapped since. */
		wrong += memory_read(p, b->address, now, b->size) == 0 && memcmp(now, b->original, b->size);
	}
	HASH_EACH_PTR(const struct slot, slot, &p->text->slots) {
		slots++;
		wrong += memory_read(p, slot->address, now, sizeof(now)) == 0 && memcmp(now, slot->saved, sizeof(now));
	}
	const size_t left = leftovers_count(p);

	if (wrong)
		msg_error("process %d: %zu of the %zu places of its text (machine code) that functrace had changed "
			  "differ from their original bytes. The process may crash there: restart it.",
			  p->pid, wrong, sites + slots);
	else if (left)
		msg_warn("process %d: functrace has restored all bytes of its text that it had changed (%zu "
			 "breakpoints, %zu copies verified), but %zu breakpoint%s that this run did not set %s there",
			 p->pid, sites, slots, left, left == 1 ? "" : "s", left == 1 ? "is" : "are");
	else
		msg_info("process %d: its text is as it was before: the bytes at %zu breakpoints and at %zu copies of "
			 "instructions are the original ones again",
			 p->pid, sites, slots);
}

/* Removes up to 32 breakpoints at return addresses; no others are still inserted. Takes them from the process `only`
 * or, if that is NULL, from one process that has some. Returns false if no breakpoint is left. */
static bool remove_some_returns(struct tracer *t, struct process *only)
{
	if (only)
		return breakpoints_remove_some(only, false, 32);
	for (struct process *p = t->processes; p; p = p->next)
		if (breakpoints_remove_some(p, false, 32))
			return true;
	return false;
}

/* Removes the breakpoints, entries first, and acts on stops meanwhile: a task that has hit a breakpoint must not wait
 * until thousands of them are removed. */
static void remove_breakpoints(struct tracer *t, struct process *only)
{
	for (struct process *p = only ? only : t->processes; p; p = only ? NULL : p->next)
		breakpoints_remove_some(p, true, SIZE_MAX);
	while (remove_some_returns(t, only))
		for (unsigned i = 0; i < 64 && pump_once(t, &pump_polls).kind != STOP_NONE && pump_goes_on(t); i++)
			;
}

/* Waits until the kernel has removed its probes, and acts on stops meanwhile. */
static void await_unprobed(struct tracer *t)
{
	while (!uprobe_unlink_is_done() && pump_goes_on(t))
		if (pump_once(t, &pump_polls).kind == STOP_NONE)
			nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
}

/* Warns if the target's action for SIGTRAP was not restored, checks the text (--verify), and adds the process to the
 * summary. Called after the text was restored. */
static void letgo_finish(struct process *p)
{
	if (sigtrap_needs_restore(p))
		msg_warn("process %d no longer ignores SIGTRAP: a breakpoint has reset the signal's action, and "
			 "functrace could not restore it",
			 p->pid);
	if (p->tracer->set->verify)
		verify_text(p);
	process_report(p);
}

void let_go(struct tracer *t)
{
	char why[64];

	msg_keep(MESSAGES_KEPT);
	for (struct process *p = t->processes; p; p = p->next)
		process_own(p);
	if (!leak_check_at_detach(t)) {
		t->finished = true;
		return;
	}
	watching_stop(t);
	remove_breakpoints(t, NULL);
	t->letting_go = true;
	pin_undo(t);
	for (struct process *p = t->processes; p; p = p->next) {
		snprintf(why, sizeof(why), "process %d is let go of", p->pid);
		process_clear(p, why);
	}
	await_unprobed(t);
	make_all_ready(t, NULL);
	for (struct process *p = t->processes; p; p = p->next)
		restore_text(p);
	detach_ready(t);
	/* Close the traces last, because reading names and writing may take long. No task waits for the tracer any
	 * more. */
	process_time_reads(t);
	for (struct process *p = t->processes; p; p = p->next)
		output_end(p->trace, false);
	for (struct process *p = t->processes; p; p = p->next)
		letgo_finish(p);
	t->finished = true;
}

/* Detaches from one process while others stay traced. A parent in vfork cannot be stopped; it is detached when the
 * vfork is over. */
static void let_go_of(struct process *p)
{
	struct tracer *t = p->tracer;

	process_ref(p); /* its tasks may end meanwhile */
	remove_breakpoints(t, p);
	p->leaving = true;
	pin_undo(t);
	process_pause(p, NULL);
	await_unprobed(t);
	make_all_ready(t, p);
	restore_text(p);
	FOR_EACH_TASK(task, p)
		if (task->life->parting.is_ready) {
			detach(task);
			task_forget(t, task, NULL);
		}
	letgo_finish(p);
	process_unref(p, NULL);
}

static bool has_ready_task(const struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (task->life->parting.is_ready)
			return true;
	return false;
}

/* Returns a process with a broken trace from which functrace has not detached yet, or NULL. A launched program stays
 * attached, without breakpoints, as long as other processes are traced, because functrace has to end when the program
 * ends, and stop when it stops. */
static struct process *next_to_go(const struct tracer *t)
{
	for (struct process *p = t->processes; p; p = p->next)
		if (p->trace->broken &&
		    (p->trace->origin.is_launched ? p->text->inserted != 0 : !p->leaving || has_ready_task(p)))
			return p;
	return NULL;
}

void let_go_broken(struct tracer *t)
{
	struct process *p = t->processes;

	t->may_let_go = t->run->has_broken = false;
	while (p && p->trace->broken)
		p = p->next;
	if (!p) {
		let_go(t);
		return;
	}
	pin_undo(t);
	while (t->tasks.count && (p = next_to_go(t))) {
		if (p->trace->origin.is_launched)
			process_pause(p, NULL);
		else
			let_go_of(p);
	}
}
