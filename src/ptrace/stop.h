/* A stop: what waitpid reports, as a plain struct. All functions here are pure, so that every race of the ptrace
 * protocol is a unit test fed with recorded statuses. */
#ifndef FT_PTRACE_STOP_H
#define FT_PTRACE_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum task_phase {
	PHASE_UNKNOWN,  /* no task */
	PHASE_EXPECTED, /* its parent's event was seen, its own first stop not yet */
	PHASE_HELD,     /* its first stop was seen, its parent's event not yet: stays stopped */
	PHASE_LIVE,
};

enum stop_kind {
	STOP_NONE,       /* nothing more to wait for */
	STOP_STRANGER,   /* the end of a child that is no tracee (a wake-up) */
	STOP_BORN_EARLY, /* first stop of a task whose parent's event has not been seen */
	STOP_BORN,       /* first stop of an expected task */
	STOP_TRAP,       /* SIGTRAP: a breakpoint, or the target's own */
	STOP_SIGNAL,     /* about to deliver `signal` */
	STOP_GROUP,      /* group-stop by `signal` */
	STOP_INTERRUPT,  /* EVENT_STOP: interrupted by the tracer, or SIGCONT after a group-stop */
	STOP_NEW_TASK,   /* clone, fork or vfork: `event` says by which call, not what is shared */
	STOP_VFORK_DONE,
	STOP_EXEC, /* tid is the process's; the event message is its former tid */
	STOP_EXIT, /* about to end */
	STOP_GONE, /* has ended with `status` */
};

struct stop {
	enum stop_kind kind;
	pid_t tid;
	int signal;
	unsigned event; /* PTRACE_EVENT_* */
	int status;     /* as waitpid gave it */
	bool went_on;   /* its exit event: the task has been let go on from it, so that it cannot be asked any more */
};

/* Stops that were taken while something else was waited for: stops.c. */
struct stops {
	struct stop *items;
	size_t head, count, capacity;
};

/* What a wait status means for a task in that phase. */
struct stop stop_decode(pid_t tid, int status, enum task_phase phase);

/* Job control: those signals do end epoll_wait and its like with EINTR, traced or not (signal(7)). */
bool stops_or_continues(int sig);

#endif
