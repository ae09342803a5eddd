/* Calls that release all live ids from one to another (close_range), and can fail. */
#ifndef FT_CALLS_RANGE_RELEASE_H
#define FT_CALLS_RANGE_RELEASE_H

#include "calls/calls.h"

/* Reserves the release of each id, at the call's entry. `e`: the event, whose id is not used; its frames are copied. */
void range_reserve(struct process *p, struct call *call, const struct event *e, const uint64_t *ids, size_t count);
/* Settles the reservations that are not written yet: they are released at *time_ns or, if that is NULL, withdrawn
 * because the call has failed. Frees call->range. */
void range_end(struct process *p, struct call *call, const uint64_t *time_ns);
/* Returns how many reservations are not written yet. */
size_t range_open(const struct call *call);

#endif
