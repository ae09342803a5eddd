/* Calls that release all live ids of a range (close_range), and can fail. */
#ifndef FT_CALLS_RANGE_RELEASE_H
#define FT_CALLS_RANGE_RELEASE_H

#include "calls/calls.h"

/* Reserves the release of each id, at the call's entry. `e`: the event; its id is not used, and its frames are
 * copied. */
void range_reserve(struct process *p, struct call *call, const struct event *e, const uint64_t *ids, size_t count);
/* Ends the reservations that are not yet written: writes them as released at *time_ns, or, if time_ns is NULL because
 * the call has failed, withdraws them. Frees call->range. */
void range_end(struct process *p, struct call *call, const uint64_t *time_ns);
/* Returns the number of reservations that are not yet written. */
size_t range_open(const struct call *call);

#endif
