/* Stops that come while tasks are being seized: an end or an interruption is acted on, all else is put back for
 * later. */
#ifndef FT_TRACER_SEIZE_STOPS_H
#define FT_TRACER_SEIZE_STOPS_H

#include "ptrace/tracee.h"

/* A task whose identity is not settled: its stops are held back, except its exit event. */
struct withheld {
	pid_t tid; /* 0 none */
	bool reported;
	int status;
	bool exit_event_seen; /* its exit was reported, and it went on: what it had reported before is over */
};

#define WITHHELD 2

/* Before the first seize_task(), and after the last one: in between a signal handler takes stops while PTRACE_SEIZE
 * waits for an exec's lock. */
void seize_begin(void);
void seize_end(void);
/* PTRACE_SEIZE of a task of that group: 0 or -errno. What tasks have reported meanwhile is put off after that, but for
 * those in the list, whose stops are held back. */
int seize_task(struct tracer *t, pid_t tid, pid_t group, struct withheld list[WITHHELD]);
/* What a task has reported. */
void seize_put_off(struct tracer *t, pid_t tid, int status);
/* All stops there are now. */
void seize_take_stops(struct tracer *t);

#endif
