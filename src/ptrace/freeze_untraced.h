/* Keeps all threads of an untraced process stopped for a moment, in which functrace reads it.
 *
 * These functions write nothing to the process's memory, and single-step no thread. A thread that has to leave some
 * code runs freely for a moment, until its pc is elsewhere; the threads that need not run are stopped meanwhile. So
 * these functions leave no change in the process, however functrace ends. If functrace is killed, the kernel detaches
 * all threads, and delivers to each the signal that was pending at its stop.
 *
 * One thread of functrace makes all these calls. When that thread ends, the kernel detaches the threads that
 * freeze_end() could not detach because they were deep in the kernel and had not stopped. */
#ifndef FT_PTRACE_FREEZE_UNTRACED_H
#define FT_PTRACE_FREEZE_UNTRACED_H

#include "ptrace/tasks.h"

/* The system calls with a timeout that earlier stops of the process have restarted. The caller zeroes it before the
 * first stop. */
struct freeze_waits {
	struct freeze_wait {
		pid_t tid;
		uint64_t sp;
		uint64_t began_ns; /* time of the first restart, by CLOCK_MONOTONIC */
	} * items;
	size_t count;
};

struct frozen_process {
	struct process process; /* has only pid, arch and tasks, for the functions of tasks.h */
	size_t stopped;         /* number of its stopped tasks */
	/* number of its tasks that could not be stopped, because they are deep in the kernel, like a parent in vfork */
	size_t moving;
	struct freeze_waits *waits; /* owned by a caller that stops the process repeatedly, or NULL */
};

/* Attaches to every thread of the process, without stopping it. Returns 0 or -errno. ESRCH: the process has ended;
 * EPERM, EBUSY: some threads have another tracer, or attaching to them is not permitted. The caller calls freeze_end()
 * in any case. */
int freeze_begin(struct frozen_process *frozen, pid_t pid, const struct arch *arch);
/* Stops the threads of the process, also new threads. Returns 0; -ESRCH: no thread is left; -EBUSY: no thread can be
 * stopped, because all are deep in the kernel. */
int freeze_stop(struct frozen_process *frozen);
/* Resumes all stopped tasks for which is_chosen() is true, at the same time, and stops each again as soon as it has run
 * on a CPU. Afterwards their registers may have changed, they may be in other system calls, and some may have ended.
 * Returns the number of tasks that were resumed. Tasks in a group-stop are not resumed. */
size_t freeze_run(struct frozen_process *frozen, bool (*is_chosen)(void *context, struct task *task), void *context);
/* Resumes stopped tasks one after the other, while all others are stopped. Calls begin_turn(task) just before; if it
 * returns false, the task is not resumed. Each task runs until the first entry or exit of a system call for which
 * is_over(task) is true, until it stops for another reason, or until its time is over. Returns the number of tasks that
 * were resumed. No task is resumed after the deadline (CLOCK_MONOTONIC). */
size_t freeze_run_to_calls(struct frozen_process *frozen, uint64_t deadline_ns,
			   bool (*begin_turn)(void *context, struct task *task),
			   bool (*is_over)(void *context, struct task *task), void *context);
/* Returns true if the stopped task is in a system call; *number (may be NULL) gets its number. */
bool freeze_in_syscall(struct task *task, long *number);
/* Returns true if freeze_run_to_calls() has stopped the task at the entry of a system call; *number gets the number of
 * the call. Returns false also if the kernel does not report the number (before Linux 5.3). */
bool freeze_begins_call(struct task *task, long *number);
/* Returns true if the process is in a group-stop. Its threads do not run before SIGCONT. */
bool freeze_is_grouped(struct frozen_process *frozen);
/* Detaches all stopped threads. Delivers to each the signal that was pending at its stop, and keeps group-stops.
 * Restarts a system call that would fail with EINTR only because functrace stopped it, if the processor's port can do
 * that. A restarted call has its whole timeout again. Therefore an epoll_wait() that was first restarted some time ago
 * (`waits`) is not restarted and fails with EINTR. Otherwise repeated scans would extend its timeout for ever. */
void freeze_end(struct frozen_process *frozen);
void freeze_waits_free(struct freeze_waits *waits);

#endif
