/* A stop: a wait status decoded into a plain struct. All functions here are pure, so that every race of the ptrace
 * protocol can be a unit test that passes recorded statuses. */
#ifndef FT_PTRACE_WAIT_STATUS_H
#define FT_PTRACE_WAIT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum task_phase {
	PHASE_UNKNOWN,  /* not in the table of tasks */
	PHASE_EXPECTED, /* its maker's fork or clone event was seen, but its own first stop was not */
	PHASE_HELD,     /* its first stop was seen, but its maker's event was not; the task stays stopped */
	PHASE_LIVE,
};

enum stop_kind {
	STOP_NONE,       /* no stop is present, or none will come */
	STOP_STRANGER,   /* the exit of a child that is no tracee (engine.c wakes the tracer by such an exit) */
	STOP_BORN_EARLY, /* first stop of a task whose maker's fork or clone event has not been seen */
	STOP_BORN,       /* first stop of an expected task */
	STOP_TRAP,       /* SIGTRAP: a breakpoint's, or the target's own */
	STOP_SIGNAL,     /* signal-delivery-stop: the kernel is about to deliver `signal` */
	STOP_GROUP,      /* group-stop caused by `signal` */
	STOP_INTERRUPT,  /* EVENT_STOP: interrupted by the tracer, or SIGCONT after a group-stop */
	STOP_NEW_TASK,   /* clone, fork or vfork: `event` says which call, but not which resources are shared */
	STOP_VFORK_DONE,
	STOP_EXEC, /* tid is the process's id; ptrace's event message is the task's former tid */
	STOP_EXIT, /* exit event: the task is about to end */
	STOP_GONE, /* the task has ended with `status` */
};

struct stop {
	enum stop_kind kind;
	pid_t tid;
	int signal;
	unsigned event; /* PTRACE_EVENT_* */
	int status;     /* wait status, as of waitpid */
	bool went_on;   /* for an exit event: the task was already resumed from it, so its memory and registers cannot
			 * be read any more */
};

/* Stops that were collected and are handled later: see pending_stops.c. */
struct stops {
	struct stop *items;
	size_t head, count, capacity;
};

/* Decodes a wait status for a task in that phase. */
struct stop stop_decode(pid_t tid, int status, enum task_phase phase);

/* Returns true for signals of job control. These signals end epoll_wait and similar calls with EINTR even without a
 * tracer (signal(7)). */
bool stops_or_continues(int sig);

#endif
