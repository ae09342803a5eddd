/* Holds all threads of a foreign process stopped for a moment, for reading it.
 *
 * Nothing is written to the process, and no thread is stepped: a thread that has to leave some code runs freely for a
 * moment, while the others are stopped, until its pc is elsewhere. So functrace leaves nothing in the process,
 * however this ends. If functrace is killed, the kernel detaches all threads, each with the signal that it was about
 * to get.
 *
 * One thread of functrace makes all these calls. When that thread ends, the kernel detaches the threads that
 * freeze_end() could not: those that are deep in the kernel and had not stopped. */
#ifndef FT_PTRACE_FREEZE_H
#define FT_PTRACE_FREEZE_H

#include "ptrace/tasks.h"

/* The waits with a timeout that were restarted when the process was held before. Zeroed if it was not held. */
struct freeze_waits {
	struct freeze_wait {
		pid_t tid;
		uint64_t sp;
		uint64_t began_ns; /* time of the first restart, by CLOCK_MONOTONIC */
	} * items;
	size_t count;
};

struct frozen_process {
	struct process process; /* has only a pid, arch and tasks, for the functions of tasks.h */
	size_t stopped;         /* number of its tasks that are stopped */
	size_t moving; /* number of its tasks that are not: they are deep in the kernel, as a parent in vfork is */
	struct freeze_waits *waits; /* the caller's if it holds the process repeatedly, or NULL */
};

/* Attaches to every thread of the process, without stopping it. Returns 0, or -errno: some threads cannot be attached
 * to (EPERM, EBUSY: they have another tracer), or the process has ended (ESRCH). The caller calls freeze_end() in any
 * case. */
int freeze_begin(struct frozen_process *hold, pid_t pid, const struct arch *arch);
/* Stops the threads of the process, also new threads. Returns 0; -ESRCH: no thread is left; -EBUSY: no thread can be
 * stopped, because all are deep in the kernel. */
int freeze_stop(struct frozen_process *hold);
/* Resumes all stopped tasks for which is_chosen() is true, at once, and stops each again as soon as it has been on a
 * processor. Then registers and system calls are those of the new places; some tasks may have ended. Returns how many
 * ran. Tasks that a signal has stopped do not run. */
size_t freeze_run(struct frozen_process *hold, bool (*is_chosen)(void *context, struct task *task), void *context);
/* Resumes stopped tasks one after the other, while all others are stopped. Each runs to the entry or exit of its
 * first system call for which is_over() is true, or until its turn is over. begin_turn() is called just before; if it
 * returns false, the task gets no turn. Returns the number of turns. None begins after the deadline
 * (CLOCK_MONOTONIC). */
size_t freeze_run_to_calls(struct frozen_process *hold, uint64_t deadline_ns,
			   bool (*begin_turn)(void *context, struct task *task),
			   bool (*is_over)(void *context, struct task *task), void *context);
/* True if the stopped task is in a system call; *number (may be NULL) is its number. */
bool freeze_in_syscall(struct task *task, long *number);
/* True if freeze_run_to_calls() has stopped the task at the entry of a system call; *number gets the number of the
 * call. False also if the kernel does not report that (before Linux 5.3). */
bool freeze_begins_call(struct task *task, long *number);
/* True if a signal has stopped the process: its threads do not run before SIGCONT. */
bool freeze_is_grouped(struct frozen_process *hold);
/* Detaches all threads. Each gets the signal that it was about to get, and a stopped process stays stopped. A system
 * call that would fail with EINTR only because functrace stopped it is restarted, if the processor's port can do
 * that. That restarts its timeout too: therefore a thread whose epoll_wait() was first restarted some time ago
 * (`waits`) sees EINTR. Otherwise repeated scans would extend its timeout for ever. */
void freeze_end(struct frozen_process *hold);
void freeze_waits_free(struct freeze_waits *waits);

#endif
