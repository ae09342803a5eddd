/* Watches for function calls by which a program can see its CPUs: see pin_watch.c. */
#ifndef FT_CALLS_AFFINITY_PIN_WATCH_H
#define FT_CALLS_AFFINITY_PIN_WATCH_H

#include "calls/calls.h"

#define PIN_WATCHED_MAX 64

struct pin_watch {
	uint64_t addresses[PIN_WATCHED_MAX];
	size_t count;
	bool answers; /* some of the functions return the CPUs as their result (is_answer) */
};

/* Inserts breakpoints at the functions by which the process can see its CPUs. Returns false, and leaves none of these
 * breakpoints inserted, if one of the functions cannot be watched, or if none of them returns the CPUs or their
 * number. */
bool pin_watch(struct process *p, struct pin_watch *w);
/* Removes these breakpoints, except those that are an entry or a return site as well. */
void pin_unwatch(struct process *p, struct pin_watch *w);
/* Returns true if pin_watch() watches a function at this breakpoint. */
static inline bool pin_watches(const struct breakpoint *b)
{
	return b->calls && b->calls->watched;
}
/* Called at a hit of a watched breakpoint. Returns the name of the function by which the task is about to see its CPUs;
 * NULL if the call does not show them. */
const char *pin_watch_asks(struct task *task, const struct breakpoint *b);

#endif
