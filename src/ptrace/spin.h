/* Decides whether to poll for the next stop for a while before sleeping.
 *
 * A sleeping tracer is woken by an interrupt to an idle processor. In a virtual machine this can take ten times as long
 * as the stop itself. A polling tracer needs no wake-up, but keeps the target from running if both use one CPU. Neither
 * cost can be known beforehand, and both change with the load. So now and then both methods are timed for a few stops,
 * and the faster one is used until the next trial. Nothing here makes a system call: a unit test supplies the times. */
#ifndef FT_PTRACE_SPIN_H
#define FT_PTRACE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

struct spin {
	bool polls;        /* between trials the caller polls (true) or sleeps (false) */
	unsigned waits;    /* number of waits until the next trial */
	unsigned pause;    /* number of waits between the last trial and the next */
	unsigned in_trial; /* number of finished waits of the current trial */
	uint64_t spent[2]; /* ns spent in the trial by sleeping, and by polling */
};

/* Called before a wait. Returns true if the caller is to poll. Sets *timed if spin_done() needs the duration of the
 * wait. */
bool spin_begin(struct spin *spin, bool *timed);
/* Called after a wait. ns: its duration, if it was timed; in_vain: the caller polled without success and then slept. */
void spin_done(struct spin *spin, bool timed, uint64_t ns, bool in_vain);

#endif
