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
	bool exiting; /* its exit was reported, and it went on: what it had reported before is over */
};

#define WITHHELD 2

/* What a task has reported. */
void seize_put_off(struct tracer *t, pid_t tid, int status);
/* All stops there are now, but for those of WITHHELD tasks in `list` (NULL none), which are held back. A signal handler
 * calls this, too: see seize.c. */
void seize_take_stops(struct tracer *t, struct withheld *list);

#endif
