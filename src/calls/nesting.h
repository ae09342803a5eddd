/* Decides which calls are parts of other calls. In all functions the task is stopped at the entry of `probe`. */
#ifndef FT_CALLS_NESTING_H
#define FT_CALLS_NESTING_H

#include "calls/calls.h"

/* Largest number of frames from an inner function to its outer one, including both: nothrow new[] -> new[] -> new ->
 * malloc, each called by a preloaded function. */
#define FOLD_FRAMES 8

/* Called when a call is entered. If a call in flight of the same task makes the new call, folds the new call into that
 * one and returns true. Drops calls in flight that turn out to have ended without a return. *own_allocator_call (if not
 * NULL) gets the outer call if that is a call of an allocator inside the program, which may allocate more blocks than
 * the one that it returns (nested_blocks.h); else NULL. */
bool call_fold(struct task *task, const struct probe *probe, uint64_t return_sp, struct call **own_allocator_call);
/* Returns true if a release is a part of a call in flight that has reserved the release of the same id (a realloc that
 * frees its old block, or jumps to free). Drops the reserving call if it turns out to have ended without a return. */
bool release_fold_reserved(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* If the task's last release has called this one (delete calls free) or has jumped to it, folds this release into the
 * last one and returns true. Otherwise returns false. This release then becomes the last one, unless the last release
 * has called it to release another block. */
bool release_fold(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* Returns true if a library whose calls are folded (folds_in_object) releases a resource that it has opened for its own
 * use. */
bool release_is_library_own(struct task *task, const struct probe *probe);
/* Returns true if the task's last release of this kind was a call of the probe's function, with this return_sp. */
bool release_was_last(struct task *task, const struct probe *probe, uint64_t return_sp);
/* If the allocator releases its own data, which the program never got, counts the release and returns true. If that is
 * possible but uncertain, sets e->may_be_bookkeeping and returns false. */
bool release_count_bookkeeping(struct task *task, const struct probe *probe, struct event *e);

#endif
