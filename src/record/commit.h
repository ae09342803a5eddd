/* Writes events to the trace and updates the live set, in the order in which the ledger commits them. */
#ifndef FT_RECORD_COMMIT_H
#define FT_RECORD_COMMIT_H

#include "record/trace.h"

/* Writes an allocation. Its id becomes live; if the id is live already and references are counted, it gets one more
 * reference. */
void commit_allocation(struct trace *trace, const struct event *e);
/* Writes a release. Its id is no longer live; but if references are counted, the id loses one reference, and stays live
 * while it has others. For ranges, writes one release for each live range that is wholly or partly released, and one
 * allocation for each remaining part. */
void commit_release(struct trace *trace, const struct event *e);
/* To be called before the live set changes. If a fork's child still shares the live set, the child gets its own copy
 * first (forks.c). */
void commit_about_to_change(const struct trace *trace);
/* Returns true if double releases are reported in the trace. If trace->may_miss is set, a missed call may have
 * allocated the id again. The note in the trace then says that the allocation may not have been seen. */
bool commit_suspects(const struct trace *trace);

#endif
