/* -l: selects the allocations that were not released, in the order of the trace. */
#ifndef FT_ANALYSIS_LEAKS_LEAKS_H
#define FT_ANALYSIS_LEAKS_LEAKS_H

#include "analysis/leaks/leak_kinds.h"
#include "analysis/stage.h"
#include "base/buf.h"

/* How the stage works: it matches allocations and releases by (resource, id), and never passes on a release. If an
 * allocation's id is live already, the resource decides: a refcount resource gets one more reference; otherwise a
 * release was not seen, so the former allocation is not a leak, and leaks_unseen() counts it. Copies and the records of
 * RESOURCE_CALL resources are never leaks. Declarations go on at once; notes, comments, and objects that replace others
 * keep their place between the calls.
 *
 * If the last scan of a resource has found out what is lost, only blocks of these kinds (leak_kinds.h) are leaks.
 * Nothing is known of blocks that were allocated after the scan: they go on only if all kinds do. A block from before
 * the trace goes on only if a scan says that it is lost, and before what the scan says. */
/* Makes the stage pass on, before all calls, also the blocks from before the trace that are still alive. Without this,
 * it passes on only those that are lost. To be called before the first record. */
void leaks_keep_before(struct stage *stage);
/* Makes the stage. kinds: a set of those that are leaks. */
struct stage *leaks_new(struct stage *next, unsigned kinds);
/* Returns the kind of the leak that is being passed on, as a set of one. A leak about which no scan says anything
 * counts as definitely lost. */
unsigned leaks_kind(const struct stage *stage);
/* Returns how many releases were not seen: their ids were allocated again. */
uint64_t leaks_unseen(const struct stage *stage);
/* After the end: appends a line for each kind of blocks that are alive and no leaks, for each resource. */
void leaks_not_shown(const struct stage *stage, struct buf *out);

#endif
