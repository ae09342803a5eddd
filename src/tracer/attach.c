#include "config.h"
#include "tracer/stop.h"
#include "base/msg.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const unsigned long seize_options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
				    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE |
				    PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
				    PTRACE_O_TRACESYSGOOD;

#define PF_KTHREAD 0x00200000ul

/* ---- Why it cannot be attached ---- */

static char *status_line(pid_t pid, const char *key)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	char *text = read_file(path, 1 << 16, NULL);
	char *line = text ? strstr(text, key) : NULL;
	char *value = NULL;

	if (line) {
		line += strlen(key);
		line += strspn(line, "\t ");
		value = xstrndup(line, strcspn(line, "\n"));
	}
	free(text);
	return value;
}

static void explain_tracer(pid_t pid, const char *tracer)
{
	const pid_t tracer_pid = (pid_t)strtol(tracer, NULL, 10);
	char *name = status_line(tracer_pid, "Name:");

	msg_error("cannot attach to process %d: process %d (%s) traces it already, and a process has "
		  "only one tracer. End that one first.",
		  pid, tracer_pid, name ? name : "?");
	free(name);
}

static void explain_denied(pid_t pid)
{
	char *scope = read_file("/proc/sys/kernel/yama/ptrace_scope", 16, NULL);
	char *uid = status_line(pid, "Uid:");
	const long owner = uid ? strtol(uid, NULL, 10) : -1;

	if (owner >= 0 && (uid_t)owner != geteuid())
		msg_error("cannot attach to process %d: it belongs to user %ld. Run functrace as that user, "
			  "or as root.", pid, owner);
	else if (scope && scope[0] >= '1' && scope[0] <= '2')
		msg_error("cannot attach to process %d: kernel.yama.ptrace_scope is %c. Start the program under "
			  "functrace, run functrace as root, or (as root) 'sysctl kernel.yama.ptrace_scope=0'.",
			  pid, scope[0]);
	else if (scope && scope[0] == '3')
		msg_error("cannot attach to process %d: kernel.yama.ptrace_scope is 3, which forbids tracing "
			  "until the next boot.", pid);
	else
		msg_error("cannot attach to process %d: not permitted. It may be privileged or not dumpable; "
			  "run functrace as root, in a container with the capability SYS_PTRACE.", pid);
	free(scope);
	free(uid);
}

static int explain(pid_t pid, int error)
{
	char *tracer = status_line(pid, "\nTracerPid:");
	char state = 0;
	unsigned long flags = 0;
	const bool exists = task_stat(pid, &state, &flags);

	if (!exists || error == ESRCH)
		msg_error("cannot attach to process %d: there is no such process (any more).", pid);
	else if (flags & PF_KTHREAD)
		msg_error("cannot attach to process %d: it is a kernel thread, which has no program.", pid);
	else if (state == 'Z' || state == 'X')
		msg_error("cannot attach to process %d: it has ended and waits for its parent.", pid);
	else if (tracer && strcmp(tracer, "0"))
		explain_tracer(pid, tracer);
	else if (error == EPERM || error == EACCES)
		explain_denied(pid);
	else
		msg_error("cannot attach to process %d: %s.", pid, strerror(error));
	free(tracer);
	return 1;
}

/* ---- Attaching ---- */

/* Seizes the tasks that are not known yet. The number of new ones, or -errno of the first
 * that could not be seized if none could. */
static long seize_round(struct tracer *t, pid_t pid, size_t *refused)
{
	char path[32];
	long fresh = 0, error = 0;
	const struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *folder = opendir(path);

	if (!folder)
		return -ESRCH;
	*refused = 0;
	while ((entry = readdir(folder))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || task_find(t, tid))
			continue;
		if (ptrace(PTRACE_SEIZE, tid, NULL, seize_options) < 0) {
			/* It has ended, or is a kernel worker of the process: no new one. A task whose
			 * parent was attached just before it cloned is attached already: its first
			 * stop will say so. */
			if (errno != ESRCH)
				(*refused)++;
			error = errno;
			continue;
		}
		struct task *task = task_new(t, tid, pid, NULL, PHASE_LIVE);
		unsigned long flags;
		char state = 0;

		task->exiting = tid == pid && task_stat(tid, &state, &flags) && state == 'Z';
		fresh++;
	}
	closedir(folder);
	return fresh || !error ? fresh : -error;
}

static size_t seize_all(struct tracer *t, pid_t pid, int *error)
{
	size_t total = 0, refused = 0;

	*error = 0;
	for (unsigned round = 0; round < 1000; round++) {
		const long fresh = seize_round(t, pid, &refused);

		if (fresh < 0 && !total)
			*error = (int)-fresh;
		if (fresh <= 0)
			break;
		total += (size_t)fresh;
	}
	return total;
}

/* ---- What was being born while it was attached ----
 *
 * Whether a fork's or a clone's child is traced is decided when the call begins (kernel_clone() in kernel/fork.c), long
 * before the memory is copied or the thread can be seen. A task that was in such a call when it was seized makes a
 * child that is not traced; what is planted meanwhile kills that. Its next stop proves that the call is over.
 * Only those that run can be in one: asleep in it is nobody, for what it waits for are locks (state D). */

#define SETTLE_NAP_NS  50000
#define SETTLE_NAPS    100000 /* a processor may be long in coming */
#define SETTLE_LOCKED  4000   /* a parent in vfork waits in state D, as long as its child likes */

static bool may_be_forking(const struct task *task, bool *locked)
{
	unsigned long flags;
	char state;

	if (!task_stat(task->tid, &state, &flags))
		return false;
	*locked = state == 'D';
	return state == 'R' || state == 'D';
}

static size_t interrupt_forking(struct tracer *t, pid_t pid)
{
	const struct hash_entry *entry;
	size_t count = 0;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;
		bool locked;

		if (task->tgid != pid || task->settled)
			continue;
		task->settled = task->phase != PHASE_LIVE || task->stopped || task->exiting ||
				!may_be_forking(task, &locked) ||
				ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL) < 0;
		task->interrupted = !task->settled;
		count += !task->settled;
	}
	return count;
}

/* What it reported: the interruption is over at once; all else is for later, when it has its breakpoints. */
static void take_settled(struct tracer *t, struct task *task, int status)
{
	const struct stop stop = stop_decode(task->tid, status, task->phase);

	task->settled = true;
	if (stop.kind != STOP_INTERRUPT) {
		task_keep_stop(task, status);
		return;
	}
	task->regs_known = false;
	task->stopped = true;
	act(t, &stop);
}

/* How many have still to stop. */
static size_t take_stops(struct tracer *t, pid_t pid, bool give_up_locked)
{
	const struct hash_entry *entry;
	size_t left = 0;
	int status;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;
		bool locked = false;

		if (task->tgid != pid || task->settled)
			continue;
		const pid_t tid = wait4(task->tid, &status, __WALL | WNOHANG, NULL);

		if (tid == task->tid)
			take_settled(t, task, status);
		else if (tid < 0 || (give_up_locked && may_be_forking(task, &locked) && locked))
			task->settled = true;
		else
			left++;
	}
	return left;
}

/* Waits until no task of the process can be in a fork or clone that began before it was seized. */
static void settle_births(struct tracer *t, pid_t pid)
{
	if (!interrupt_forking(t, pid))
		return;
	for (unsigned n = 0; n < SETTLE_NAPS && take_stops(t, pid, n >= SETTLE_LOCKED); n++)
		nanosleep(&(struct timespec){.tv_nsec = SETTLE_NAP_NS}, NULL);
}

static void give_process(struct tracer *t, struct process *p, pid_t pid)
{
	const struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;

		if (task->tgid == pid && !task->process && task->phase == PHASE_LIVE) {
			task->process = p;
			process_ref(p);
		}
	}
}

static int refuse(pid_t pid, int error)
{
	char *tracer = status_line(pid, "\nTracerPid:");
	char state = 0;
	unsigned long flags = 0;
	int result = 0;

	if (!task_stat(pid, &state, &flags))
		result = explain(pid, ESRCH);
	else if ((flags & PF_KTHREAD) || (tracer && strcmp(tracer, "0")))
		result = explain(pid, error);
	free(tracer);
	return result;
}

/* The leader, or if that has ended while others live on, one of them. */
static pid_t live_task(struct tracer *t, pid_t pid)
{
	const struct hash_entry *entry;
	unsigned long flags;
	char state = 'Z';

	if (task_stat(pid, &state, &flags) && state != 'Z')
		return pid;
	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		const struct task *task = (const struct task *)(uintptr_t)entry->value;

		if (task->tgid == pid && task_stat(task->tid, &state, &flags) && state != 'Z')
			return task->tid;
	}
	return pid;
}

static int attach_one(struct tracer *t, pid_t pid)
{
	int error = 0;

	if (refuse(pid, EPERM))
		return 1;
	if (!seize_all(t, pid, &error))
		return explain(pid, error ? error : ESRCH);
	struct process *p = process_new(t, live_task(t, pid), pid);

	if (!p) {
		if (errno == ENOEXEC)
			msg_error("cannot trace process %d: its program is made for a processor that this "
				  "functrace does not know.", pid);
		else
			return explain(pid, errno);
		return 1;
	}
	p->attached = p->attached_to = true;
	/* Threads that were being made by then are untraced, and attached now. */
	do {
		give_process(t, p, pid);
		settle_births(t, pid);
	} while (seize_all(t, pid, &error));
	/* Breakpoints only when all tasks are attached: an unattached one would die of SIGTRAP. */
	if (t->paused)
		return 0;
	process_update_objects(p);
	sigtrap_begin(p);
	error = process_start(p);
	if (error == -ESRCH)
		return explain(pid, ESRCH);
	return error < 0 ? 1 : 0;
}

int attach_all(struct tracer *t)
{
	for (size_t i = 0; i < t->set->pid_count; i++)
		if (attach_one(t, t->set->pids[i]))
			return 1;
	engine_started(t->engine);
	return 0;
}

/* ---- Launching ---- */

/* From the gate to exec: the only stops are signals. */
static int wait_for_exec(struct tracer *t)
{
	for (;;) {
		const struct stop stop = collect(t);

		if (stop.kind == STOP_EXEC) {
			act(t, &stop);
			return t->exit_status;
		}
		if (stop.kind == STOP_GONE || stop.kind == STOP_NONE) {
			const int failure = launch_failure(t->launch, t->set->argv[0]);

			if (failure)
				return failure;
			if (stop.kind == STOP_GONE && WIFSIGNALED(stop.status)) {
				act(t, &stop);
				return 128 + WTERMSIG(stop.status);
			}
			msg_error("%s could not be started.", t->set->argv[0]);
			return 1;
		}
		act(t, &stop);
	}
}

int launch_begin(struct tracer *t)
{
	const pid_t pid = t->launch->pid;

	if (ptrace(PTRACE_SEIZE, pid, NULL, seize_options) < 0) {
		msg_error("cannot trace %s: %s.%s", t->set->argv[0], strerror(errno),
			  errno == EPERM ? " In a container, functrace needs the capability SYS_PTRACE." : "");
		kill(pid, SIGKILL);
		return 1;
	}
	task_new(t, pid, pid, NULL, PHASE_LIVE);
	launch_open_gate(t->launch); /* if it has been killed meanwhile, its end is reported */
	return wait_for_exec(t);
}
