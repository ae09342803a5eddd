/* Decides which calls are parts of others. In all functions the task is at the entry of `probe`. */
#ifndef FT_CALLS_NESTING_H
#define FT_CALLS_NESTING_H

#include "calls/calls.h"

/* Folds the call that is being entered into a call in flight of the task, and returns true, if that one makes it. Drops
 * calls that turn out to be over. *own_allocator_call: the outer call, if it is an allocator's of the program's own,
 * which may have allocated another block than the one that it returns (nested_blocks.h); else NULL. */
bool call_fold(struct task *task, const struct probe *probe, uint64_t return_sp, struct call **own_allocator_call);
/* Returns whether a release is a part of the call in flight that has reserved it, whichever functions they are (a
 * realloc that frees its old block, or jumps to free). Drops the reserving call if it turns out to be over. */
bool release_fold_reserved(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* Folds a release into the task's last release (delete -> free), and returns true, if that one has only led to it.
 * Otherwise returns false, and remembers this release as the last, unless the last one has made it to release another
 * block. */
bool release_fold(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* Returns whether a library whose calls fold (folds_in_object) releases what it has opened for its own use. */
bool release_is_library_own(struct task *task, const struct probe *probe);
/* Returns whether the task's last release of this kind was by this probe, with this return_sp. */
bool release_was_last(struct task *task, const struct probe *probe, uint64_t return_sp);
/* Counts a release of what an allocator keeps for itself and the program never got, and returns true. If it only may be
 * such a release, sets e->may_be_bookkeeping and returns false. */
bool release_count_bookkeeping(struct task *task, const struct probe *probe, struct event *e);

#endif
