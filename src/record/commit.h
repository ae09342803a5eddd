/* Writes events in the order in which the ledger passes them, and updates the live set. */
#ifndef FT_RECORD_COMMIT_H
#define FT_RECORD_COMMIT_H

#include "record/trace.h"

/* Writes the event. Its id becomes live, or gets one more reference. */
void commit_allocation(struct trace *trace, const struct event *e);
/* Writes the event. Its id is no longer live, or has one reference less. For ranges, writes one event for each live
 * range that is released in whole or in part, and one allocation for each part that remains. */
void commit_release(struct trace *trace, const struct event *e);
/* To be called before the live set changes. A fork's child that borrows it gets its copy first (forks.c). */
void commit_about_to_change(const struct trace *trace);
/* Returns whether the trace reports double releases. A report expresses doubt where an unseen call may have allocated
 * the id again, for example a call of the program's own allocator. */
bool commit_suspects(const struct trace *trace);

#endif
