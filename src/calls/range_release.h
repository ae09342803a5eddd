/* A call that releases all that is live from one id to another (close_range), and may fail. */
#ifndef FT_CALLS_RANGE_RELEASE_H
#define FT_CALLS_RANGE_RELEASE_H

#include "calls/calls.h"

/* Reserves each of the ids, at the call's entry. `e`: the event of any of them; its frames are copied. */
void range_reserve(struct process *p, struct call *call, const struct event *e, const uint64_t *ids, size_t count);
/* Those that are not written yet have been released at that time; or, NULL, the call has failed. Frees all. */
void range_end(struct process *p, struct call *call, const uint64_t *time_ns);
/* How many are not written yet. */
size_t range_open(const struct call *call);

#endif
