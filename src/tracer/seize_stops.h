/* Handles stops that come while tasks are being seized: an end or an interrupt is acted on, all others are put off. */
#ifndef FT_TRACER_SEIZE_STOPS_H
#define FT_TRACER_SEIZE_STOPS_H

#include "ptrace/tracee.h"

/* A task whose identity is not settled: its stops are held back, except its exit event. */
struct withheld {
	pid_t tid; /* 0: none */
	bool reported;
	int status;
	bool exit_event_seen; /* its exit was reported, and it was continued: its earlier stops are over */
};

#define WITHHELD 2

/* Called before the first seize_task(), and after the last one. In between, a signal handler takes stops while
 * PTRACE_SEIZE waits for an exec's lock. */
void seize_begin(void);
void seize_end(void);
/* Seizes a task of this group. Returns 0 or -errno. Stops that have come meanwhile are put off, except those of the
 * tasks in the list, which are held back. */
int seize_task(struct tracer *t, pid_t tid, pid_t group, struct withheld list[WITHHELD]);
/* Puts off a stop that was taken from a task. */
void seize_put_off(struct tracer *t, pid_t tid, int status);
/* Takes all stops that are there now, and puts them off. */
void seize_take_stops(struct tracer *t);

#endif
