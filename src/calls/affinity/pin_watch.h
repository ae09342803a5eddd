/* Where breakpoints are that show that a program is about to see its CPUs: see pin_watch.c. */
#ifndef FT_CALLS_AFFINITY_PIN_WATCH_H
#define FT_CALLS_AFFINITY_PIN_WATCH_H

#include "calls/calls.h"

#define PIN_WATCHED_MAX 64

struct pin_watch {
	uint64_t addresses[PIN_WATCHED_MAX];
	size_t count;
	bool answers; /* functions that tell a number are among them */
};

/* Plants what shows that the process is about to see its CPUs. False, and nothing is planted: that cannot be shown. */
bool pin_watch(struct process *p, struct pin_watch *w);
/* Takes that out again, but for what is a probe or a return site as well. */
void pin_unwatch(struct process *p, struct pin_watch *w);
/* Whether the breakpoint is one of these. */
static inline bool pin_watches(const struct breakpoint *b)
{
	return b->calls && b->calls->watched;
}
/* At a hit of one of these: the function by which the task is about to see them, NULL if it asks for something else. */
const char *pin_watch_asks(struct task *task, const struct breakpoint *b);

#endif
