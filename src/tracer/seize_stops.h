/* Handles stops that come while tasks are being seized: acts on exit events, on interrupts, and on stops of tasks that
 * are not in the table (except execs), and puts all other stops off. */
#ifndef FT_TRACER_SEIZE_STOPS_H
#define FT_TRACER_SEIZE_STOPS_H

#include "ptrace/tracee.h"

/* A task that may be replaced by an exec: its stops are held back, except its exit event. */
struct withheld {
	pid_t tid; /* 0: none */
	bool reported;
	int status;
	bool exit_event_seen; /* its exit event was reported, and the task was continued: earlier stops are invalid */
};

#define WITHHELD 2

/* seize_begin() is called before the first seize_task(), seize_end() after the last one. In between, a signal handler
 * collects stops while PTRACE_SEIZE waits for an exec's lock. */
void seize_begin(void);
void seize_end(void);
/* Seizes a task of this group. Returns 0 or -errno. Puts off the stops that have come meanwhile, but stores stops of
 * the tasks that `list` names in `list`. */
int seize_task(struct tracer *t, pid_t tid, pid_t group, struct withheld list[WITHHELD]);
/* Puts off a stop that was collected from a task. */
void seize_put_off(struct tracer *t, pid_t tid, int status);
/* Collects all stops that are present, and puts them off. */
void seize_take_stops(struct tracer *t);

#endif
