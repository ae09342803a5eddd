/* What the ledger has decided to write, now and in this order: events, and what is live after them. */
#ifndef FT_RECORD_COMMIT_H
#define FT_RECORD_COMMIT_H

#include "record/trace.h"

/* Writes the event; its id is live then, or has one reference more. */
void commit_allocation(struct trace *trace, const struct event *e);
/* Writes the event; its id is not live then, or has one reference less. Of ranges, one event for each that it has any
 * part of, and one for each part that is left. */
void commit_release(struct trace *trace, const struct event *e);
/* What is live is going to change: whoever borrows it is told (forks.c). */
void commit_about_to_change(const struct trace *trace);
/* Whether the trace says which releases are of what has been released already: in doubt where an allocator of the
 * program's own may have given it out again. */
bool commit_suspects(const struct trace *trace);

#endif
