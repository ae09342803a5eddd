/* Which calls are parts of others. The task is at the entry of `probe`. */
#ifndef FT_CALLS_NESTING_H
#define FT_CALLS_NESTING_H

#include "calls/calls.h"

/* Makes the call that is being entered a part of one of the task's calls in flight, if it is an inner one of it: true.
 * Drops the calls that turn out to be over. *own: that outer call, if it is an allocator's of the program's own, which
 * may have made another block than the one that it returns (nested_blocks.h); else NULL. */
bool call_fold(struct task *task, const struct probe *probe, uint64_t return_sp, struct call **own);
/* Makes a release a part of the call in flight that has reserved it, whichever functions they are (a realloc that frees
 * its old block, or jumps to free): true. */
bool release_fold_reserved(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* Makes a release a part of the task's last release (delete -> free), if that one has only led to it: true. Else
 * remembers this one as the last. */
bool release_fold(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* Whether a library whose calls fold (folds_in_object) makes the call itself: of what it has opened for its own use. */
bool release_is_library_own(struct task *task, const struct probe *probe);
/* Whether the task's last release of that kind was by this probe, from that place on the stack. */
bool release_was_last(struct task *task, const struct probe *probe, uint64_t return_sp);
/* Counts a release of what an allocator keeps for itself and never gave away, if it is one: true. Where it may be one,
 * it is marked so: may_be_bookkeeping. */
bool release_count_bookkeeping(struct task *task, const struct probe *probe, struct event *e);

#endif
