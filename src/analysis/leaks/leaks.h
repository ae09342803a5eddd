/* -l: only the allocations that were not released, in the order of the trace. */
#ifndef FT_ANALYSIS_LEAKS_LEAKS_H
#define FT_ANALYSIS_LEAKS_LEAKS_H

#include "analysis/leaks/leak_kinds.h"
#include "analysis/stage.h"
#include "base/buf.h"

/* Allocations and releases are matched by (resource, id).  A release never shows.  An allocation of
 * an id that is live already: with a refcount resource it counts; otherwise the former one was released, which was not
 * seen: it is no leak, and is counted.  Copies and the records of
 * RESOURCE_CALL resources are never leaks.  Declarations go on at once; notes, comments, and
 * objects that replace others keep their place between the calls. Where the last scan of a resource has found what is
 * lost, only these kinds (leak_kinds.h) of its blocks are leaks; of those that were allocated since, nothing is known,
 * and they go on only if all kinds do. What is from before the trace goes on only where a
 * scan says that it is lost, before what that says. */
/* Before the first record: what is from before the trace and still alive goes on, too, before all calls. Else only what
 * is lost of it does. */
void leaks_keep_before(struct stage *stage);
struct stage *leaks_new(struct stage *next, unsigned kinds);
/* While a leak goes on: its kind, as a set of one. What no scan has said anything of counts as definitely lost. */
unsigned leaks_kind(const struct stage *stage);
/* How many releases were not seen: their ids were given out again. */
uint64_t leaks_unseen(const struct stage *stage);
/* After the end: appends a line for each kind of what is alive and no leak, resource by resource. */
void leaks_not_shown(const struct stage *stage, struct buf *out);

#endif
