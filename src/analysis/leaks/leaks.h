/* -l: selects the allocations that were not released, in the order of the trace. */
#ifndef FT_ANALYSIS_LEAKS_LEAKS_H
#define FT_ANALYSIS_LEAKS_LEAKS_H

#include "analysis/leaks/leak_kinds.h"
#include "analysis/stage.h"
#include "base/buf.h"

/* How the stage works: it matches allocations and releases by (resource, id), and never passes on a release. If the id
 * of an allocation is live already, the result depends on whether the resource counts references. If it does, the id
 * gets one more reference. If it does not, a release is missing in the trace: the older allocation is not a leak, and
 * leaks_unseen() counts it. Copies (CALL_COPY) and calls of RESOURCE_CALL resources are never leaks. Declarations are
 * passed on at once. Notes, comments, and objects that replace others keep their place between the calls.
 *
 * If the last scan of a resource has a result, a block is a leak only if its kind (leak_kinds.h) is in the given set.
 * The kind of blocks that were allocated after the scan is unknown; they are leaks only if the set contains all kinds.
 * Without leaks_keep_before(), a block from before the trace is passed on only if the last scan has found it lost; its
 * baseline record precedes its lost record. */
/* Lets the stage also pass on all blocks from before the trace that are still live, before all calls. If this function
 * is not called, the stage passes on only lost ones. Must be called before the first record. */
void leaks_keep_before(struct stage *stage);
/* Makes the stage. kinds: the set of leak kinds that are passed on. */
struct stage *leaks_new(struct stage *next, unsigned kinds);
/* Returns the kind of the leak that is being passed on, as a set with one bit. If no scan has a result for the leak,
 * returns definitely lost. */
unsigned leaks_kind(const struct stage *stage);
/* Returns the number of releases that are missing in the trace: ids that were allocated again without a release. */
uint64_t leaks_unseen(const struct stage *stage);
/* Appends a line for each resource and each kind of its live blocks that are not leaks. Must be called at the end. */
void leaks_not_shown(const struct stage *stage, struct buf *out);

#endif
