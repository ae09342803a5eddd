/* Whether to poll for the next stop for a while before sleeping until it.
 *
 * A tracer that sleeps is woken by an interrupt to an idle processor, which in a virtual machine can take ten times
 * as long as the stop itself; one that polls is not, but keeps the target from running if both have the same
 * processor. Neither can be known, and it changes with the load; so now and then both ways are timed for a few stops,
 * and the faster one is taken until the next time. Nothing here asks the system: a unit test gives
 * the times. */
#ifndef FT_PTRACE_SPIN_H
#define FT_PTRACE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

struct spin {
	bool polls;        /* the way that is taken between trials */
	unsigned waits;    /* until the next trial */
	unsigned pause;    /* from the last trial to it */
	unsigned in_trial; /* waits of the running trial that are done */
	uint64_t spent[2]; /* by them: ns by sleeping, ns by polling */
};

/* For the wait that begins now: whether to poll, and whether spin_done() is to get how long it took. */
bool spin_begin(struct spin *spin, bool *timed);
/* A wait is over. ns: how long it took, if it was timed; in_vain: it polled to the end and slept then. */
void spin_done(struct spin *spin, bool timed, uint64_t ns, bool in_vain);

#endif
