#include "config.h"
#include "tracer/stop.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>

/* New tasks: a thread, a vfork child or a process, which memory and group decide. Either its own first stop or its
 * maker's event comes first. */

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
	if (is_leaving(t, child->process)) {
		child->ready = true;
		return;
	}
	if (child->birth_signal == SIGTRAP || ptrace(PTRACE_LISTEN, child->tid, NULL, NULL) < 0)
		task_resume(child, 0);
	else
		child->listening = true;
}

static struct process *begin_child(struct process *parent, struct task *child)
{
	struct tracer *t = parent->tracer;

	if (parent->objects.count || t->paused)
		return process_fork(parent, child);
	/* The parent was attached to just when it was executing another program, and has never been looked at. */
	struct process *p = process_new(t, child->tid, child->tgid);

	if (!p)
		return NULL;
	child->process = p;
	process_ref(p);
	p->attached = true;
	process_start(p); /* an error: it has been killed, which is told later */
	return p;
}

/* A new task's memory and group decide what it is: a thread, a vfork child, a new process. */
void adopt(struct tracer *t, struct task *child)
{
	struct process *parent = child->process;
	const pid_t tgid = tgid_of(child->tid);

	t->held_tasks -= child->phase == PHASE_HELD;
	pin_orphan(t, child);
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
		parent->shared = true;
		child->release_at_exec = !t->set->follow;
		child->is_vfork_child = child->birth_event == PTRACE_EVENT_VFORK;
		start_running(t, child);
		return;
	}
	if (!t->set->follow || is_leaving(t, parent) || parent->broken) {
		clean_child(parent, child->tid);
		t->untraced_children += !t->letting_go;
		release_task(t, child, 0);
		return;
	}
	struct process *p = begin_child(parent, child);

	if (!p) {
		clean_child(parent, child->tid);
		t->lost_attach++;
		release_task(t, child, 0);
		return;
	}
	output_note(parent, "process %d has forked %d", parent->pid, child->tid);
	output_note(p, "process %d was forked by %d", p->pid, parent->pid);
	process_unref(parent, NULL);
	start_running(t, child);
}

/* A task that was held until its maker, a task of p, was known. */
static void adopt_held(struct tracer *t, struct task *child, struct process *p, unsigned event)
{
	child->birth_event = event;
	child->process = p;
	if (p)
		process_ref(p);
	adopt(t, child);
}

void act_new_task(struct tracer *t, struct task *parent, const struct stop *stop)
{
	unsigned long message = 0;
	struct task *child;

	task_leave_slot(parent);
	ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &message);
	if (stop->event == PTRACE_EVENT_VFORK)
		parent->vforking = true;
	child = task_find(t, (pid_t)message);
	if (message)
		pin_birth(t, parent, (pid_t)message);
	if (!message || (!child && kill((pid_t)message, 0) < 0 && errno == ESRCH)) {
		/* It is not told, or was killed before it ran and has been reaped already. */
	} else if (!child) {
		child = task_new(t, (pid_t)message, 0, parent->process, PHASE_EXPECTED);
		child->birth_event = stop->event;
	} else if (child->phase == PHASE_HELD) {
		adopt_held(t, child, parent->process, stop->event);
	}
	task_go_on(t, parent);
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
void adopt_orphans(struct tracer *t, struct process *p, pid_t maker, const struct task *except)
{
	struct task *orphan;

	if (!t->held_tasks || group_lives(t, maker, except))
		return;
	/* Nobody is left to tell: those whose maker is not known go on as well. */
	if (t->tasks.count == t->held_tasks)
		maker = 0;
	while ((orphan = next_orphan(t, maker)))
		adopt_held(t, orphan, p, PTRACE_EVENT_FORK);
}

/* Whether a task of its maker's group is about to tell of it. */
static bool is_announced(struct tracer *t, const struct task *child)
{
	const struct hash_entry *entry;
	unsigned long message;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		const struct task *task = (const struct task *)(uintptr_t)entry->value;

		if (task->tgid == child->maker && task->stopped &&
		    ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &message) == 0 && (pid_t)message == child->tid)
			return true;
	}
	return false;
}

void adopt_without_maker(struct tracer *t, pid_t maker)
{
	const struct hash_entry *entry;
	bool known;

	for (size_t i = 0; t->held_tasks && (entry = hash_next(&t->tasks, &i));) {
		struct task *child = (struct task *)(uintptr_t)entry->value;

		if (child->phase != PHASE_HELD || child->maker != maker || is_announced(t, child))
			continue;
		i = 0;
		child->release_at_exec = !t->set->follow;
		if (tgid_of(child->tid) == maker || same_memory(child->tid, maker, &known)) {
			adopt_held(t, child, NULL, PTRACE_EVENT_FORK);
			continue;
		}
		/* What it was born with is not what is going to be traced. */
		t->untraced_children++;
		release_task(t, child, 0);
	}
}

/* A child by CLONE_UNTRACED and CLONE_PTRACE is traced, but nobody ever tells of it. When all others of its maker's group
 * are at rest, nobody will. */
void adopt_untold(struct tracer *t)
{
	struct task *orphan;

	while ((orphan = next_orphan(t, 0))) {
		const struct task *maker = task_find(t, orphan->maker);

		adopt_held(t, orphan, maker ? maker->process : NULL, PTRACE_EVENT_FORK);
	}
}

void act_born_early(struct tracer *t, const struct stop *stop)
{
	struct task *task = task_new(t, stop->tid, 0, NULL, PHASE_HELD);

	t->held_tasks++;
	task->stopped = true;
	task->birth_signal = stop->signal;
	task->maker = maker_of(stop->tid);
	if (t->tasks.count == t->held_tasks)
		adopt_orphans(t, NULL, 0, NULL);
}
