#include "config.h"
#include "tracer/births.h"
#include "tracer/task_life.h"
#include "tracer/forks.h"
#include "tracer/process_start.h"
#include "calls/contexts.h"
#include "calls/probes/kernel_probes.h"
#include "calls/affinity/pin.h"
#include "calls/sigtrap.h"
#include "record/trace_output.h"
#include "record/run.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/pending_stops.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"
#include "proc/process_search.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

/* Handles new tasks. Shared memory and the thread group decide whether a task is a thread, a vfork child or a process.
 * A new task's own first stop may come before or after its parent's event. */

/* Returns a live task that shares the process's memory, for kcmp. Prefers a task of the process's own group, because a
 * vfork child may have called execve, which is not reported yet. */
static pid_t any_task_of(const struct process *p, const struct task *except)
{
	pid_t other = 0;

	FOR_EACH_TASK(task, p) {
		if (task == except || !task_has_memory(task))
			continue;
		if (task->tgid == p->pid)
			return task->tid;
		other = task->tid;
	}
	return other;
}

static bool shares_memory(const struct task *child, const struct task *maker)
{
	const pid_t other = maker ? maker->tid : any_task_of(child->process, child);
	bool known = false, same = false;

	if (other)
		same = proc_same_memory(child->tid, other, &known);
	if (known)
		return same;
	return child->life->birth.event == PTRACE_EVENT_VFORK;
}

/* Returns the thread group of a new task that a task of p has created; 0 if the new task is already gone. */
static pid_t births_group_of(pid_t tid, const struct process *p)
{
	if (proc_is_of_group(tid, tid))
		return tid;
	return p && proc_is_of_group(tid, p->pid) ? p->pid : proc_tgid(tid);
}

/* Finds out what a new task is: a thread, a vfork child or another process that shares its parent's memory, or a
 * process of its own. maker: the parent; NULL if it is unknown or dead. The parent has not run since it created the
 * task, so the data about the parent's state are also true of the task. */
static void find_out(struct tracer *t, struct task *child, const struct task *maker)
{
	struct process *parent = child->process;

	child->life->birth.kind = BIRTH_SHARES;
	if (maker)
		sigtrap_inherit_mask(child, maker);
	child->text_serial = maker ? maker->text_serial : 0;
	if (!parent || child->tgid != child->tid)
		return;
	if (shares_memory(child, maker)) {
		parent->shared = true;
		const bool is_vfork = child->life->birth.event == PTRACE_EVENT_VFORK;

		/* It runs in its parent's memory until it executes a program, so no breakpoint can be there. */
		if (is_vfork && parent->kernel && t->set->traced.probes == PROBES_AUTO)
			t->run->probes.vforks += t->set->target.follow;
		else if (!kernel_probes_join(parent, child->tgid)) {
			process_own(parent);
			kernel_probes_use_breakpoints(parent);
		}
		child->life->release_at_exec = !t->set->target.follow;
		child->life->vfork.is_child = is_vfork;
		return;
	}
	child->life->birth.kind = BIRTH_FORK;
	child->life->birth.is_release =
		!t->set->target.follow || process_is_leaving(t, parent) || parent->trace->broken;
	if (!child->life->birth.is_release)
		output_note(parent->trace, "process %d has forked %d", parent->pid, child->tid);
	/* Leave the parent's process first, because process_fork() checks whether that process has other tasks. */
	task_part(child);
	struct process *p = process_fork(parent, child);

	if (p) {
		task_join(child, p);
		if (!child->life->birth.is_release)
			process_probe_fork(parent, p);
		if (maker)
			contexts_fork_task(maker, child);
		if (maker && !child->life->birth.is_release && task_newest_call(maker)) {
			process_own(p);
			calls_fork(maker, child);
		}
	}
	process_unref(parent, NULL);
}

/* Resumes the child. A task that was created in a stopped group stays stopped. */
static void start_running(struct tracer *t, struct task *child)
{
	if (process_is_leaving(t, child->process)) {
		task_make_ready(child, 0);
		return;
	}
	if (child->life->birth.signal == SIGTRAP || !task_listen(child))
		task_resume(child, 0);
}

/* If the parent forked by an instruction in a slot, the child's pc is in its own copy of that slot. Moves the pc to the
 * original code. */
static void leave_copy(struct task *child)
{
	struct process *p = child->process;

	if (p && p->life->lender)
		p = p->life->lender;
	if (!p || !p->text->syscall_copies || task_regs(child) < 0)
		return;
	struct slot *slot = slot_at(p, p->arch->registers.pc(&child->regs));

	if (!slot || !slot->written)
		return;
	slot_joined(child, slot);
	task_leave_slot(child);
}

static void let_child_go(struct tracer *t, struct task *child)
{
	struct process *p = child->process;

	if (p) {
		process_clean(p, child->tid);
		p->trace->reported = true;
	}
	t->run->sums.lost_attach += !p;
	t->run->sums.untraced_children += p && !t->letting_go;
	task_release(t, child, 0);
}

/* Continues or detaches a task at its first stop, after find_out(). */
static void birth_adopt(struct tracer *t, struct task *child)
{
	struct process *p = child->process;

	t->held_tasks -= child->phase == PHASE_HELD;
	pin_orphan(t, child->tid, child->life->birth.maker);
	child->phase = PHASE_LIVE;
	leave_copy(child);
	if (child->life->birth.kind == BIRTH_FORK) {
		if (!p || child->life->birth.is_release || process_is_leaving(t, p)) {
			let_child_go(t, child);
			return;
		}
		if (p->life->lacks_breakpoints)
			process_own(p);
		if (!p->life->lender && !p->life->planted &&
		    !t->run->paused) { /* the parent's objects were never read */
			p->trace->origin.attached = true;
			process_start(p); /* an error was reported, or means that the child was killed */
		}
	}
	start_running(t, child);
}

void act_born(struct tracer *t, struct task *child, const struct stop *stop)
{
	child->life->birth.signal = stop->signal;
	birth_adopt(t, child);
}

/* Continues a task that was held until its parent, a task of p, was found. */
static void adopt_held(struct tracer *t, struct task *child, struct process *p, const struct task *maker,
		       unsigned event)
{
	child->life->birth.event = event;
	if (p)
		task_join(child, p);
	find_out(t, child, maker);
	birth_adopt(t, child);
}

/* Makes the struct of a child of p that has not come to its first stop yet. maker: the child's parent, as in
 * find_out(). */
static void expect_child(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, const struct task *maker,
			 unsigned event)
{
	struct task *const child = task_begin(t, tid, tgid, p, PHASE_EXPECTED);

	child->life->birth.event = event;
	find_out(t, child, maker);
}

/* Handles a child of `maker`, whose event or registers name the child. */
static void meet_child(struct tracer *t, struct task *maker, pid_t tid, unsigned event)
{
	struct task *child = task_find(t, tid);
	pid_t tgid;

	pin_birth(t, maker, tid);
	if (child && child->phase == PHASE_HELD)
		adopt_held(t, child, maker->process, maker, event);
	else if (!child && (tgid = births_group_of(tid, maker->process)))
		expect_child(t, tid, tgid, maker->process, maker, event);
	/* Otherwise the child was killed before it ran, and is already reaped. */
}

/* A new thread may end its process at once. This kills its parent too, and ends the parent's stop at the clone event.
 * The parent is then at its exit event, which must be handled before the parent is resumed:
 *
 *	100: clone() makes 101: its event | 101: exit() | 100: SIGKILL, exit event | here: 100 is to be resumed
 *
 * If the exit event is collected already, it is queued, and the parent has to stay marked as stopped. If it were marked
 * as running, the queue would drop the exit event, and the parent would never leave this stop:
 *
 *	100: clone(): its event, queued | SIGKILL | 100: exit event, queued | here: 100 is at the queued event */
void act_new_task(struct tracer *t, struct task *parent, const struct stop *stop)
{
	const pid_t tid = task_event_message(parent->tid);

	task_leave_slot(parent);
	if (stop->event == PTRACE_EVENT_VFORK)
		parent->vforking = true;
	if (tid)
		meet_child(t, parent, tid, stop->event);
	if (stop->event != PTRACE_EVENT_CLONE || !task_is_at_its_end(parent))
		task_go_on(t, parent);
	else if (!parent->has_left_mm) /* its exit event is not collected yet */
		task_woken(parent);
}

/* ptrace_stop() does not stop a task with SIGKILL pending. So a task that is killed inside a fork never reports the
 * event for its child, and the child's first stop may come when functrace has already freed the tables of the child's
 * text. But the call has returned, and the task's registers contain the child's id:
 *
 *	100: fork() makes 101 | SIGKILL | 100: exit event, fork() = 101 | 100: ended | 101: first stop
 *
 * Whenever a thread group ends, its threads get such a SIGKILL, also if another thread calls exit() or execve(). The
 * number in the register may be one of another pid namespace. So it is used only if it is the id of a held child of
 * this group, or of a tracee that is not in the table yet. */
void act_unannounced_birth(struct tracer *t, struct task *maker)
{
	struct process *const p = maker->process;
	const bool is_read = p && task_regs(maker) == 0;
	const pid_t tid = is_read && p->arch->syscalls.created_tid ? p->arch->syscalls.created_tid(&maker->regs) : 0;
	const struct task *child = tid ? task_find(t, tid) : NULL;

	if (p && !is_read)
		p->life->has_unread_end = true;
	if (!tid || (child && (child->phase != PHASE_HELD || child->life->birth.maker != maker->tgid)) ||
	    (!child && !proc_is_own_tracee(tid)))
		return;
	meet_child(t, maker, tid, PTRACE_EVENT_FORK);
}

/* Returns true if the group has a live task whose event may still report a child of the group. */
static bool group_lives(struct tracer *t, pid_t tgid, const struct task *except)
{
	const struct task *task;

	for (size_t i = 0; (task = tasks_next(t, &i));)
		if (task != except && task->tgid == tgid && task->phase == PHASE_LIVE)
			return true;
	return false;
}

/* A second SIGKILL ends even the stop of the exit event, perhaps before the tracer has read the task's registers:
 *
 *	100: fork() makes 101 | SIGKILL twice | 100: ended | 101: first stop
 *
 * When the group's end is reported, all its children exist, are traced, and have been given to another parent, for
 * example init. So this function adds all tracees that are not in the table as expected tasks. It leaves out a tracee
 * if its parent's group has a live task in the table, because the parent's event may still come. */
void births_expect_unannounced(struct tracer *t, struct process *p)
{
	size_t count;
	pid_t *const all = processes_all(&count);

	for (size_t i = 0; i < count; i++)
		if (!task_find(t, all[i]) && proc_is_own_tracee(all[i]) && !group_lives(t, proc_parent(all[i]), NULL))
			expect_child(t, all[i], all[i], p, NULL, PTRACE_EVENT_FORK);
	free(all);
}

static struct task *next_orphan(struct tracer *t, pid_t maker)
{
	struct task *task;

	for (size_t i = 0; t->held_tasks && (task = tasks_next(t, &i));) {
		if (task->phase == PHASE_HELD && (!maker || task->life->birth.maker == maker))
			return task;
	}
	return NULL;
}

/* Continues the held children of the group `maker` if its last task, apart from `except`, has died before it could
 * report them. The children of other groups stay held, because their text is that of another process. */
void births_adopt_orphans(struct tracer *t, struct process *p, pid_t maker, const struct task *except)
{
	struct task *orphan;

	if (!t->held_tasks || group_lives(t, maker, except))
		return;
	/* No task is left that could report a child, so children with an unknown parent are continued as well. */
	if (t->tasks.count == t->held_tasks)
		maker = 0;
	while ((orphan = next_orphan(t, maker)))
		adopt_held(t, orphan, p, NULL, PTRACE_EVENT_FORK);
}

/* Returns true if a task of the parent's group is stopped in the event that names the child. */
static bool is_announced(struct tracer *t, const struct task *child)
{
	const struct task *task;

	for (size_t i = 0; (task = tasks_next(t, &i));)
		if (task->tgid == child->life->birth.maker && task->stopped &&
		    task_event_message(task->tid) == child->tid)
			return true;
	return false;
}

void births_adopt_without_maker(struct tracer *t, pid_t maker)
{
	struct task *child;
	bool known;

	for (size_t i = 0; t->held_tasks && (child = tasks_next(t, &i));) {
		if (child->phase != PHASE_HELD || child->life->birth.maker != maker || is_announced(t, child))
			continue;
		i = 0;
		child->life->release_at_exec = !t->set->target.follow;
		if (proc_tgid(child->tid) == maker || proc_same_memory(child->tid, maker, &known)) {
			adopt_held(t, child, NULL, NULL, PTRACE_EVENT_FORK);
			continue;
		}
		/* The child has the memory of the old program, whose tracing has ended. */
		t->run->sums.untraced_children++;
		task_release(t, child, 0);
	}
}

/* Continues held children that no event reports, such as a child created with CLONE_UNTRACED and CLONE_PTRACE. Called
 * when all other tasks of its parent's group are stopped or asleep, so that no event can come any more. */
void births_adopt_unannounced(struct tracer *t)
{
	struct task *orphan;

	while ((orphan = next_orphan(t, 0))) {
		const struct task *maker = task_find(t, orphan->life->birth.maker);

		adopt_held(t, orphan, maker ? maker->process : NULL, NULL, PTRACE_EVENT_FORK);
	}
}

void act_born_early(struct tracer *t, const struct stop *stop)
{
	const pid_t tgid = proc_tgid(stop->tid);
	struct task *task = task_begin(t, stop->tid, tgid ? tgid : stop->tid, NULL, PHASE_HELD);

	t->held_tasks++;
	stops_mark(task, stop);
	task->life->birth.signal = stop->signal;
	task->life->birth.maker = tgid && tgid != stop->tid ? tgid : proc_parent(stop->tid);
	if (t->tasks.count == t->held_tasks)
		births_adopt_orphans(t, NULL, 0, NULL);
}
