/* Which calls are parts of others. The task is at the entry of `probe`. */
#ifndef FT_CALLS_NESTING_H
#define FT_CALLS_NESTING_H

#include "calls/calls.h"

/* Makes the call that is being entered a part of one of the task's calls in flight, if it is an inner one of it: true.
 * Drops the calls that turn out to be over. */
bool call_fold(struct task *task, const struct probe *probe, uint64_t return_sp);
/* The same for a release, by whichever functions, of what a call in flight has reserved (a realloc that frees its old
 * block, or jumps to free). */
bool release_fold_reserved(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* The same for a release, of the task's last release (delete -> free), if it has come here only to be done. Remembers
 * this one as the last if it is none. */
bool release_fold(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* Counts a release of what an allocator keeps for itself and never gave away, if it is one: true. */
bool release_count_bookkeeping(struct task *task, const struct probe *probe, uint64_t id);

#endif
