#include "config.h"
#include "tracer/seize.h"
#include "tracer/births.h"
#include "tracer/task_life.h"
#include "tracer/process.h"
#include "tracer/seize_stops.h"
#include "tracer/wait_for_births.h"
#include "ptrace/halt.h"
#include "ptrace/pending_stops.h"
#include "proc/proc.h"
#include "base/msg.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seizes all tasks that use an address space, before a breakpoint is inserted into it: a task that is not traced would
 * die of SIGTRAP at its first breakpoint. */

static struct task *new_task(struct tracer *t, pid_t tid, pid_t pid)
{
	struct task *task = task_begin(t, tid, pid, NULL, PHASE_LIVE);

	task->life->release_at_exec = !t->set->target.follow; /* set anew when the task's process is known */
	return task;
}

/* Handles the exec of an untraced thread, which has taken the tid of its leader. */
static void seize_replaced(struct tracer *t, pid_t pid)
{
	struct task *leader = task_find(t, pid);

	stops_forget(t, pid);
	if (leader)
		task_begin_again(leader);
	else
		leader = new_task(t, pid, pid);
	leader->life->is_lost = true;
}

/* Seizes one task. Returns 0 or -errno. */
static int seize_one(struct tracer *t, pid_t tid, pid_t pid)
{
	struct withheld withheld[WITHHELD] = {{.tid = tid},
					      {.tid = tid == pid ? 0 : pid}}; /* the leader of the task's group */
	const int error = seize_task(t, tid, pid, withheld);
	const bool gone = withheld[0].reported && !WIFSTOPPED(withheld[0].status);

	/* PTRACE_SEIZE may have waited for an exec, and then have seized the new program. */
	if (!error && !gone && tid != pid && syscall(SYS_tgkill, pid, tid, 0) < 0 && errno == ESRCH)
		seize_replaced(t, pid);
	else if (!error && !gone)
		new_task(t, tid, pid)->exit_event_seen = withheld[0].exit_event_seen;
	/* Put off the stops that seize_task() has held back. A task may have such stops even if seizing failed:
	 * functrace traces it already if it is new, or if it has taken this tid by an exec. */
	for (size_t i = gone; i < WITHHELD; i++)
		if (withheld[i].reported)
			seize_put_off(t, withheld[i].tid, withheld[i].status);
	return gone ? -ESRCH : error;
}

static void forget_lost(struct tracer *t, pid_t pid)
{
	struct task *task;

	for (size_t i = 0; (task = tasks_next(t, &i));) {
		if (task->tgid != pid || !task->life->is_lost)
			continue;
		stops_forget(t, task->tid);
		task_forget(t, task, NULL);
		i = 0;
	}
}

bool seize_drop_replaced(struct tracer *t, pid_t pid)
{
	const struct task *leader = task_find(t, pid);
	struct task *task;

	if (leader ? !leader->life->is_lost && proc_tracer(pid) == gettid() : !proc_is_alive(pid))
		return false;
	/* Some of the new program's threads may already be traced, even if its leader is not. */
	for (size_t i = 0; (task = tasks_next(t, &i));) {
		if (task->tgid != pid || task->phase != PHASE_LIVE)
			continue;
		task->life->is_lost = proc_tracer(task->tid) != gettid();
		if (task->life->is_lost)
			continue;
		struct process *p = task_part(task);

		birth_unsettle(task);
		if (p)
			process_unref(p, NULL);
	}
	forget_lost(t, pid);
	births_adopt_without_maker(t, pid);
	return true;
}

/* ---- All threads ---- */

/* The results of one pass over the list of a process's tasks. */
struct seize_round {
	size_t fresh;   /* number of tasks seized in this pass */
	size_t missed;  /* number of tasks that have ended, or are just changing their tid by an exec */
	size_t awaited; /* number of tasks that are traced, but have not had a first stop yet */
	/* number of live tasks that the kernel did not let functrace seize, perhaps only at that moment */
	size_t refused;
	int error; /* errno of the last task that could not be seized; EBUSY if some task has another tracer */
};

static void seize_listed(struct tracer *t, pid_t tid, pid_t pid, struct seize_round *round)
{
	const int error = -seize_one(t, tid, pid);

	if (!error) {
		round->fresh++;
		return;
	}
	const pid_t tracer = error == EPERM ? proc_tracer(tid) : 0;

	if (round->error != EBUSY)
		round->error = tracer && tracer != gettid() ? EBUSY : error;
	if (task_find(t, tid) || proc_is_kernel_worker(tid) || round->error == EBUSY)
		return;
	/* The task is traced by functrace: it was created by a task that was seized just before, or is in an execve. */
	if (tracer)
		round->awaited++;
	else if (error != ESRCH && proc_is_alive(tid))
		round->refused++;
	else
		round->missed++;
}

struct seize_list {
	struct tracer *t;
	pid_t pid;
	bool *leader_was_asked;
	struct seize_round round;
};

static bool seize_unknown_tasks(void *context, pid_t tid)
{
	struct seize_list *list = context;
	struct seize_round *round = &list->round;

	if (task_find(list->t, tid))
		return true;
	if (tid == list->pid && *list->leader_was_asked && !proc_is_alive(tid)) {
		round->error = round->error ? round->error : EPERM; /* the first attempt has failed with EPERM, too */
		return true;
	}
	*list->leader_was_asked |= tid == list->pid;
	seize_listed(list->t, tid, list->pid, round);
	return true;
}

/* Seizes the tasks that are not in the table. A leader that has ended stays a zombie until a thread takes its tid by an
 * exec. functrace tries only once to seize such a leader. */
static struct seize_round seize_next_round(struct tracer *t, pid_t pid, bool *leader_was_asked)
{
	struct seize_list list = {.t = t, .pid = pid, .leader_was_asked = leader_was_asked};
	const int error = proc_each_thread(pid, seize_unknown_tasks, &list);

	if (error)
		list.round.error = error == -EACCES ? EACCES : ESRCH;
	return list.round;
}

#define MISSED_MAX  20 /* maximum number of passes in a row because tasks were missed: threads may end all the time */
#define REFUSED_MAX 3
/* maximum number of passes that follow a pass in which tasks were seized. The number is limited because threads may be
 * created all the time. It is hardly reached, because a thread that a traced thread creates is traced at once. */
#define ROUNDS_MAX 1000

size_t seize_tasks(struct tracer *t, pid_t pid, int *error)
{
	struct seize_round round = {.fresh = 1};
	size_t total = 0;
	unsigned rounds = 0, missed = 0, refused = 0, naps = 0;
	bool leader_was_asked = task_of_group(t, pid);

	while ((round.awaited && halt_nap(&naps, PATIENCE_BIRTH)) || (round.fresh && rounds++ < ROUNDS_MAX) ||
	       (round.missed && missed++ < MISSED_MAX) || (round.refused && refused++ < REFUSED_MAX)) {
		if (round.awaited || round.missed || round.refused)
			seize_take_stops(t);
		round = seize_next_round(t, pid, &leader_was_asked);
		total += round.fresh;
		missed = round.fresh ? 0 : missed;
	}
	*error = 0;
	/* A task that is not traced would die at its first breakpoint. */
	if (round.refused || round.error == EBUSY || !task_of_group(t, pid))
		*error = round.error ? round.error : ESRCH;
	return total;
}

/* ---- Processes that share the memory without being threads ----
 *
 * These are a child of vfork until it calls execve, and children created by clone(CLONE_VM). Parents in /proc do not
 * show which processes share memory (CLONE_PARENT, a parent that has ended), so all existing processes are compared. */

static bool seize_is_listed(const struct sharers *s, pid_t pid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->pids[i] == pid)
			return true;
	return false;
}

static void give_process(struct tracer *t, struct process *p, const struct sharers *s)
{
	struct task *task;

	for (size_t i = 0; (task = tasks_next(t, &i));)
		if (!task->process && task->phase == PHASE_LIVE && seize_is_listed(s, task->tgid)) {
			task_join(task, p);
			task->life->release_at_exec = task->tgid != s->pids[0] && !t->set->target.follow;
		}
}

static bool is_sharing(pid_t pid, pid_t one)
{
	bool known;
	struct proc_stat stat;

	if (proc_same_memory(pid, one, &known))
		return true;
	if (!known || !proc_stat(pid, &stat) || stat.state != 'Z')
		return false;
	const pid_t other = proc_live_thread(pid);

	return other && other != pid && proc_same_memory(other, one, &known);
}

static void list_sharer(struct sharers *s, pid_t pid)
{
	msg_info("process %d shares the memory of process %d: both are traced, in one trace", pid, s->pids[0]);
	ARRAY_GROW(s->pids, s->capacity, s->count);
	s->pids[s->count++] = pid;
}

/* Returns true if the struct process of `pid` is known, or will be known from the event of the parent of `pid`. */
static bool is_placed(struct tracer *t, pid_t pid)
{
	const struct task *task = task_find(t, pid);

	return task && (task->process || task->phase != PHASE_LIVE);
}

size_t seize_sharers(struct tracer *t, struct sharers *s, pid_t one)
{
	const struct dirent *entry;
	size_t total = 0;
	int error;
	DIR *folder = opendir("/proc");

	while (folder && (entry = readdir(folder))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || seize_is_listed(s, pid) || is_placed(t, pid) || !is_sharing(pid, one) ||
		    !proc_is_alive(one))
			continue;
		seize_tasks(t, pid, &error);
		/* If the process has called execve since the check above, it is seized now, but does not share the
		 * memory any more. */
		if (is_placed(t, pid) || !is_sharing(pid, one))
			continue;
		if (!error) {
			list_sharer(s, pid);
			total++;
		} else if (proc_live_thread(pid)) {
			s->refused = pid;
			s->error = error;
		}
	}
	if (folder)
		closedir(folder);
	return total;
}

static size_t seize_threads(struct tracer *t, struct sharers *s)
{
	size_t total = 0;
	int error;

	for (size_t i = 0; i < s->count; i++) {
		/* A process that has called execve does not share the memory any more. */
		while (i && i < s->count && seize_drop_replaced(t, s->pids[i]))
			s->pids[i] = s->pids[--s->count];
		if (i == s->count)
			break;
		total += seize_tasks(t, s->pids[i], &error);
		if (error && proc_live_thread(s->pids[i])) {
			s->refused = s->pids[i];
			s->error = error;
		}
	}
	return total;
}

void seize_rest(struct tracer *t, struct process *p, struct sharers *s)
{
	size_t fresh;
	unsigned rounds = 0;

	give_process(t, p, s);
	/* Tasks that were being created while their creators were seized are untraced. They are seized here. */
	do {
		births_wait(p, s->count > 1);
		fresh = seize_threads(t, s);
		fresh += seize_sharers(t, s, process_proc_task(p));
		give_process(t, p, s);
		births_unsettle(p);
	} while (fresh && !s->refused && rounds++ < ROUNDS_MAX);
	p->shared = s->count > 1;
	if (!p->shared || !process_find_anchor(p))
		return;
	/* Any of the processes may have called execve since the memory was opened, except the anchor's. */
	struct process *again = process_again(p);

	if (!again) {
		s->refused = p->pid;
		s->error = errno;
		return;
	}
	while (seize_sharers(t, s, again->anchor)) {
		give_process(t, again, s);
		births_wait(again, true);
	}
}
