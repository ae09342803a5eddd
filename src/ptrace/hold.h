/* Holding all threads of a foreign process still for a moment, to look at it.
 *
 * Nothing is written to the process, and no thread is stepped: a thread that is to come out of some code runs freely
 * for a moment, while the others stand, until it is found elsewhere. So nothing of ours is left in the process however
 * this ends. If functrace is killed, the kernel lets go of all threads, each with the signal that it was about to
 * get.
 *
 * One thread of functrace calls all of it. When that thread ends the kernel lets go of what hold_end() could not: a
 * thread that is deep in the kernel, and had not stopped. */
#ifndef FT_PTRACE_HOLD_H
#define FT_PTRACE_HOLD_H

#include "ptrace/tasks.h"

/* The waits with a timeout that were begun anew when the process was held before. Zero: it was not held. */
struct hold_waits {
	struct hold_wait {
		pid_t tid;
		uint64_t sp;
		uint64_t began_ns; /* anew, for the first time; by CLOCK_MONOTONIC */
	} * items;
	size_t count;
};

struct hold {
	struct process process;   /* its pid, arch and tasks, and nothing else; for the functions of tasks.h */
	size_t stopped;           /* how many of its tasks stand */
	size_t moving;            /* how many do not: they are deep in the kernel, as a parent in vfork is */
	struct hold_waits *waits; /* the caller's, if it holds the process again and again; NULL */
};

/* Attaches to every thread of the process, which go on. 0, or -errno: some cannot be attached to (EPERM, EBUSY: it has
 * another tracer), or the process has gone (ESRCH). Afterwards hold_end() in any case. */
int hold_begin(struct hold *hold, pid_t pid, const struct arch *arch);
/* Stops them, and those that have been made since. 0, -ESRCH: none is left, or -EBUSY: none can be stopped, for all are
 * deep in the kernel. */
int hold_stop(struct hold *hold);
/* Lets those stopped tasks run, all at once, for which is_chosen() holds, and stops them again as soon as each has been
 * on a processor. Registers and calls are those of their new places then; some may have ended. How many ran: none that
 * a signal has stopped does. */
size_t hold_run(struct hold *hold, bool (*is_chosen)(void *context, struct task *task), void *context);
/* Lets stopped tasks run one after the other, while all others stand, each to the first of its system calls at whose
 * begin or end is_over() holds, or for the time of its turn. begin_turn() is asked just before: false, it has none. How
 * many had one. None begins after the deadline, by CLOCK_MONOTONIC. */
size_t hold_run_to_calls(struct hold *hold, uint64_t deadline_ns, bool (*begin_turn)(void *context, struct task *task),
			 bool (*is_over)(void *context, struct task *task), void *context);
/* Whether the stopped task is in a system call, and its number (may be NULL). */
bool hold_in_syscall(struct task *task, long *number);
/* Whether it stands at the begin of a system call, which it was made to run to (or the kernel does not say so: before
 * 5.3); *number: of which. */
bool hold_begins_call(struct task *task, long *number);
/* Whether a signal has stopped the process: its threads do not run on before SIGCONT. */
bool hold_is_grouped(struct hold *hold);
/* Lets go of all threads: each gets the signal it was about to get, a stopped process stays stopped, and a system call
 * that would fail with EINTR only because it was stopped here is made again where the processor's port can. A timeout
 * starts anew by that: a thread whose epoll_wait() was begun anew some time ago (`waits`) sees EINTR, or it would wait
 * for as long as somebody looks. */
void hold_end(struct hold *hold);
void hold_waits_free(struct hold_waits *waits);

#endif
