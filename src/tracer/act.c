#include "config.h"
#include "tracer/stop.h"
#include "base/msg.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* What is done about a stop: one switch. */

static void forget(struct tracer *t, struct task *task, const char *how)
{
	struct process *p = task->process;

	task_free(t, task);
	if (p)
		process_unref(p, how);
}

/* ---- Hits ---- */

#define JUMPS_MAX 8 /* they may go in a circle */

static bool sent_by_kernel(pid_t tid)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_code == SI_KERNEL;
}

static void library_event(struct process *p)
{
	uint32_t state;
	const uint64_t offset = 3 * p->arch->pointer_size;

	/* struct r_debug: version, map, brk, state; 0 is RT_CONSISTENT. */
	if (p->r_debug && memory_read(p, p->r_debug + offset, &state, sizeof(state)) == 0 && state)
		return;
	process_update_objects(p);
}

static void act_entry(struct task *task, struct breakpoint *b)
{
	if (b->probe->wanted->hook == HOOK_LIBRARY)
		library_event(task->process);
	else if (b->probe->wanted->hook == HOOK_SIGACTION || b->probe->is_resolver)
		call_watch(task, b);
	else
		call_enter(task, b);
}

/* A hit, and those that follow from it without a stop. */
static void act_hit(struct task *task, struct breakpoint *b)
{
	for (unsigned jumps = 0;; jumps++) {
		const uint64_t address = b->address;

		if (b->inserted) {
			if (b->is_return)
				call_return(task, b);
			if (b->probe)
				act_entry(task, b);
			/* dlclose may have taken this very breakpoint along. */
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
			pass_breakpoint(task, b);
			return;
		}
		b = next;
	}
}

static void act_trap(struct task *task, const struct stop *stop)
{
	struct process *p = task->process;

	if (task->slot) {
		/* A hit is outside of every copy; only the target's own trap may be inside one. */
		if (task_regs(task) == 0 && slot_at(p, p->arch->pc(&task->regs)) == task->slot) {
			task_leave_slot(task);
			task_resume(task, stop->signal);
			return;
		}
		task->slot->users--;
		task->slot = NULL;
	}
	if (!p || task_regs(task) < 0) {
		task_resume(task, p ? 0 : stop->signal);
		return;
	}
	const uint64_t address = p->arch->breakpoint_address(p->arch->pc(&task->regs));
	struct breakpoint *b = breakpoint_find(p, address);

	/* A pc just behind a one-byte instruction is a legal place to be when another SIGTRAP comes. */
	if (!b || !b->size || b->unusable || (b->insn.length <= b->size && !sent_by_kernel(task->tid))) {
		task_resume(task, sigtrap_deliver(task) ? stop->signal : 0);
		return;
	}
	if (p->tracer->set->pin)
		pin_hit(p->tracer, task->tid);
	if (p->trap != TRAP_DEFAULT)
		sigtrap_after_hit(task);
	act_hit(task, b);
}

/* ---- Signals ---- */

/* si_addr of a fault raised by the instruction itself is the pc: it must not be one in a copy. */
static void translate_siginfo(struct task *task, uint64_t before)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) < 0 ||
	    (uint64_t)(uintptr_t)info.si_addr != before)
		return;
	info.si_addr = (void *)(uintptr_t)task->process->arch->pc(&task->regs);
	ptrace(PTRACE_SETSIGINFO, task->tid, NULL, &info);
}

/* A vfork child that stops keeps its parent in an uninterruptible sleep: the terminal's Ctrl-Z would never be seen to
 * have worked. Untraced the child hardly ever is there; traced it waits for it until it execs. */
static bool wait_with_stop(struct task *task, int sig)
{
	if (!task->is_vfork_child || !stops_or_continues(sig))
		return false;
	task->held_stop = sig == SIGCONT ? 0 : sig;
	if (sig == SIGCONT)
		return false;
	task_resume(task, 0);
	return true;
}

static void act_signal(struct task *task, int sig)
{
	if (wait_with_stop(task, sig))
		return;
	if (task->slot) {
		const bool fault = sig == SIGILL || sig == SIGFPE || sig == SIGTRAP ||
				   sig == SIGSEGV || sig == SIGBUS;
		const uint64_t before = fault && task_regs(task) == 0 ?
						task->process->arch->pc(&task->regs) : 0;

		task_leave_slot(task);
		if (fault && before && task->process->arch->pc(&task->regs) != before)
			translate_siginfo(task, before);
	}
	/* A signal that the target ignores by default is never even sent to it untraced. */
	if (!stops_or_continues(sig))
		task_restart_syscall(task);
	msg_debug(DBG_PROCESS, 1, "%d gets signal %d", task->tid, sig);
	task_resume(task, sig);
}

static void act_group_stop(struct tracer *t, struct task *task, int sig)
{
	task_leave_slot(task);
	task->listening = true;
	if (ptrace(PTRACE_LISTEN, task->tid, NULL, NULL) < 0)
		task->listening = false;
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

/* After an event that the task need not know of. While letting go it stays as it is, ready to be detached: any stop
 * uses up an interruption that is still pending, so it would not stop again. */
static void go_on(struct tracer *t, struct task *task)
{
	if (t->letting_go)
		task->ready = true;
	else
		task_resume(task, 0);
}

/* ---- Births ---- */

/* Some live task that shares the process's memory, for kcmp: one of its own group if there is one. A vfork child may
 * have execed already, which has not been told yet. */
static pid_t any_task_of(struct tracer *t, const struct process *p, const struct task *except)
{
	const struct hash_entry *entry;
	pid_t other = 0;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		const struct task *task = (const struct task *)(uintptr_t)entry->value;

		/* One that ends has no memory any more, or soon. */
		if (task->process != p || task == except || task->phase != PHASE_LIVE ||
		    task->exiting)
			continue;
		if (task->tgid == p->pid)
			return task->tid;
		other = task->tid;
	}
	return other;
}

static bool shares_memory(struct tracer *t, const struct task *child, const struct process *parent)
{
	const pid_t other = any_task_of(t, parent, child);
	bool known = false, same = false;

	if (other)
		same = same_memory(child->tid, other, &known);
	if (known)
		return same;
	return child->birth_event == PTRACE_EVENT_VFORK;
}

/* A task born into a stopped group stays stopped. */
static void start_running(struct tracer *t, struct task *child)
{
	if (t->letting_go) {
		child->ready = true;
		return;
	}
	if (child->birth_signal == SIGTRAP || ptrace(PTRACE_LISTEN, child->tid, NULL, NULL) < 0)
		task_resume(child, 0);
	else
		child->listening = true;
}

/* A new task's memory and group decide what it is: a thread, a vfork child, a new process. */
static void adopt(struct tracer *t, struct task *child)
{
	struct process *parent = child->process;
	const pid_t tgid = tgid_of(child->tid);

	t->held_tasks -= child->phase == PHASE_HELD;
	pin_born(t, child->tid);
	child->phase = PHASE_LIVE;
	child->tgid = tgid ? tgid : child->tid;
	/* A fork from inside a copy returns in the child's copy too. */
	if (parent && task_regs(child) == 0) {
		struct slot *slot = slot_at(parent, parent->arch->pc(&child->regs));

		if (slot && slot->owner) {
			slot->users++;
			child->slot = slot;
			task_leave_slot(child);
		}
	}
	if (!parent || tgid != child->tid) {
		start_running(t, child);
		return;
	}
	if (shares_memory(t, child, parent)) {
		child->release_at_exec = !t->set->follow;
		child->is_vfork_child = child->birth_event == PTRACE_EVENT_VFORK;
		start_running(t, child);
		return;
	}
	if (!t->set->follow || t->letting_go) {
		clean_child(parent, child->tid);
		t->untraced_children += !t->letting_go;
		release_task(t, child, 0);
		return;
	}
	struct process *p = process_fork(parent, child->tid, child->tgid, NULL);

	if (!p) {
		clean_child(parent, child->tid);
		t->lost_attach++;
		release_task(t, child, 0);
		return;
	}
	output_note(parent, "process %d has forked %d", parent->pid, child->tid);
	output_note(p, "process %d was forked by %d", p->pid, parent->pid);
	child->process = p;
	process_ref(p);
	process_unref(parent, NULL);
	start_running(t, child);
}

static void act_new_task(struct tracer *t, struct task *parent, const struct stop *stop)
{
	unsigned long message = 0;
	struct task *child;

	task_leave_slot(parent);
	ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &message);
	if (stop->event == PTRACE_EVENT_VFORK)
		parent->vforking = true;
	child = task_find(t, (pid_t)message);
	if (!message || (!child && kill((pid_t)message, 0) < 0 && errno == ESRCH)) {
		/* It is not told, or was killed before it ran and has been reaped already. */
	} else if (!child) {
		child = task_new(t, (pid_t)message, 0, parent->process, PHASE_EXPECTED);
		child->birth_event = stop->event;
	} else if (child->phase == PHASE_HELD) {
		child->birth_event = stop->event;
		child->process = parent->process;
		if (child->process)
			process_ref(child->process);
		adopt(t, child);
	}
	go_on(t, parent);
}

/* Whether somebody may still tell of what this group has made. */
static bool group_lives(struct tracer *t, pid_t tgid, const struct task *except)
{
	const struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		const struct task *task = (const struct task *)(uintptr_t)entry->value;

		if (task != except && task->tgid == tgid && task->phase == PHASE_LIVE)
			return true;
	}
	return false;
}

static struct task *next_orphan(struct tracer *t, pid_t maker)
{
	const struct hash_entry *entry;

	for (size_t i = 0; t->held_tasks && (entry = hash_next(&t->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;

		if (task->phase == PHASE_HELD && (!maker || task->maker == maker))
			return task;
	}
	return NULL;
}

/* The last of the group `maker` (but for `except`) died before it could tell of its children, which must not wait for
 * ever. Other groups' children are left alone: they have other text. */
static void adopt_orphans(struct tracer *t, struct process *p, pid_t maker, const struct task *except)
{
	struct task *orphan;

	if (!t->held_tasks || group_lives(t, maker, except))
		return;
	/* Nobody is left to tell: those whose maker is not known go on as well. */
	if (t->tasks.count == t->held_tasks)
		maker = 0;
	while ((orphan = next_orphan(t, maker))) {
		orphan->process = p;
		orphan->birth_event = PTRACE_EVENT_FORK;
		if (p)
			process_ref(p);
		adopt(t, orphan);
	}
}

/* A child by CLONE_UNTRACED and CLONE_PTRACE is traced, but nobody ever tells of it. When all others of its maker's group
 * are at rest, nobody will. */
void adopt_untold(struct tracer *t)
{
	struct task *orphan;

	while ((orphan = next_orphan(t, 0))) {
		const struct task *maker = task_find(t, orphan->maker);

		orphan->process = maker ? maker->process : NULL;
		orphan->birth_event = PTRACE_EVENT_FORK;
		if (orphan->process)
			process_ref(orphan->process);
		adopt(t, orphan);
	}
}

static void act_born_early(struct tracer *t, const struct stop *stop)
{
	struct task *task = task_new(t, stop->tid, 0, NULL, PHASE_HELD);

	t->held_tasks++;
	task->stopped = true;
	task->birth_signal = stop->signal;
	task->maker = maker_of(stop->tid);
	if (t->tasks.count == t->held_tasks)
		adopt_orphans(t, NULL, 0, NULL);
}

/* ---- Exec ---- */

static void forget_siblings(struct tracer *t, pid_t tgid, struct task *keep)
{
	const struct hash_entry *entry;
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
			struct task *task = (struct task *)(uintptr_t)entry->value;

			if (task == keep || task->tgid != tgid || task->phase != PHASE_LIVE)
				continue;
			forget(t, task, NULL);
			again = true;
			break;
		}
	}
}

/* After an exec by a thread that was not the leader, the kernel reports it under the leader's id;
 * all other threads have gone without a word. */
static struct task *exec_task(struct tracer *t, const struct stop *stop)
{
	unsigned long former = 0;
	struct task *task;

	ptrace(PTRACE_GETEVENTMSG, stop->tid, NULL, &former);
	task = task_find(t, (pid_t)former);
	if (!task)
		task = task_find(t, stop->tid);
	if (!task)
		task = task_new(t, stop->tid, stop->tid, NULL, PHASE_LIVE);
	task->phase = PHASE_LIVE;
	forget_siblings(t, stop->tid, task);
	if (task->tid != stop->tid) {
		hash_remove(&t->tasks, (uint64_t)task->tid, NULL);
		task->tid = stop->tid;
		hash_set_ptr(&t->tasks, (uint64_t)task->tid, task);
	}
	task->tgid = stop->tid;
	task->stopped = true;
	task->regs_known = false;
	return task;
}

static void leave_old_process(struct task *task)
{
	char how[64];
	struct process *old = task->process;

	if (task->slot)
		task->slot->users--;
	task->slot = NULL;
	memset(task->undone, 0, sizeof(task->undone));
	task->last_release.probe = NULL;
	task->name_known = false;
	calls_drop_task(task);
	task->process = NULL;
	if (!old)
		return;
	snprintf(how, sizeof(how), "process %d executes another program", task->tid);
	process_unref(old, how);
}

/* Attached to just before the exec, it was given its breakpoints after it: then they are in the new program, whose memory
 * the old process's descriptor still reads. */
static void clean_new_image(struct process *old)
{
	const struct hash_entry *entry;
	unsigned char byte;
	size_t i = 0;

	if (!old || old->tasks != 1 || !(entry = hash_next(&old->breakpoints, &i)) ||
	    memory_read(old, entry->key, &byte, 1) < 0)
		return;
	process_pause(old, "executes another program");
	slots_restore(old);
}

static void launch_failed(struct tracer *t, struct task *task)
{
	/* Its output cannot be written: the program has not run yet, and is not run untraced. */
	t->exit_status = 1;
	kill(task->tid, SIGKILL);
	release_task(t, task, SIGKILL);
	t->finished = true;
}

static void act_exec(struct tracer *t, const struct stop *stop)
{
	struct task *task = exec_task(t, stop);
	const bool launched = t->launch->pid == task->tid;
	const bool first = launched && !t->launch_execed;

	/* A thread that forked just before the exec has been killed by that. */
	adopt_orphans(t, task->process, task->tgid, task);
	clean_new_image(task->process);
	leave_old_process(task);
	task->is_vfork_child = false;
	if (task->held_stop)
		kill(task->tid, task->held_stop);
	task->held_stop = 0;
	if (launched)
		t->launch_execed = true;
	if (task->release_at_exec || t->letting_go) {
		t->untraced_children++;
		release_task(t, task, 0);
		return;
	}
	if (lacks_privileges(task->tid))
		msg_warn("process %d runs a set-user-ID or set-group-ID program without those privileges: the kernel "
			 "gives none to a traced program, unless functrace runs as root", task->tid);
	struct process *p = process_new(t, task->tid, task->tid);

	if (!p) {
		const int error = errno;

		if (error == ENOEXEC)
			msg_warn("process %d is not traced: its program is made for a processor that this functrace does "
				 "not know", task->tid);
		else
			msg_warn("process %d is not traced: its memory cannot be opened: %s", task->tid, strerror(error));
		t->untraced_children++;
		if (first)
			engine_started(t->engine);
		release_task(t, task, 0);
		return;
	}
	p->is_launched = launched;
	task->process = p;
	process_ref(p);
	if (!t->paused && process_start(p) < 0 && first) {
		launch_failed(t, task);
		return;
	}
	if (first)
		engine_started(t->engine);
	task_resume(task, 0);
}

/* ---- Ends ---- */

static void describe_end(char *text, size_t size, pid_t tid, int status)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "process %d was killed by signal %d (%s)", tid,
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "process %d has exited with status %d", tid,
			 WEXITSTATUS(status));
}

static void act_gone(struct tracer *t, struct task *task, int status)
{
	char how[96];
	const pid_t tid = task->tid;
	struct process *p = task->process;
	const pid_t tgid = task->tgid;
	const bool leader = tgid == tid;

	pin_gone(t, tid);
	describe_end(how, sizeof(how), tid, status);
	if (p && leader && p->tasks > 1)
		output_note(p, "%s", how);
	if (p)
		process_ref(p);
	forget(t, task, NULL);
	adopt_orphans(t, p, tgid, NULL);
	if (p)
		process_unref(p, how);
	if (t->launch->pid == tid) {
		t->launch_ended = true;
		t->launch_status = status;
		engine_target_ended(t->engine, status);
	}
}

static void act_vfork_done(struct tracer *t, struct task *task)
{
	task->vforking = false;
	task_leave_slot(task);
	go_on(t, task);
}

bool act(struct tracer *t, const struct stop *stop)
{
	struct task *task = task_find(t, stop->tid);

	switch (stop->kind) {
	case STOP_NONE:
		return false;
	case STOP_STRANGER:
		if (!engine_is_waker(t->engine, stop->tid))
			msg_debug(DBG_PROCESS, 1, "%d has ended, which is no tracee", stop->tid);
		break;
	case STOP_BORN_EARLY:
		act_born_early(t, stop);
		break;
	case STOP_BORN:
		task->birth_signal = stop->signal;
		adopt(t, task);
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
		if (!task) {
			ptrace(PTRACE_CONT, stop->tid, NULL, NULL);
			break;
		}
		task->exiting = true;
		if (task->slot)
			task->slot->users--;
		task->slot = NULL;
		task_resume(task, 0);
		break;
	case STOP_GONE:
		act_gone(t, task, stop->status);
		break;
	}
	return t->tasks.count != 0 && !t->finished;
}
