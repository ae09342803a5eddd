/* Sums up the blocks from before the traces, and the blocks whose thread is unknown. */
#ifndef FT_PROFILE_THREADLESS_H
#define FT_PROFILE_THREADLESS_H

#include "profile/profile.h"

/* Sets rest[0] to the sums of the blocks from before the traces, and rest[1] to the sums of the blocks whose thread is
 * unknown. `at_mark.live` counts the blocks that were live in the older trace or at the mark (account.h). Sums without
 * blocks are 0. */
void profile_threadless(const struct profile *profile, const struct profile_resource *resource,
			struct thread_account rest[2]);
/* Returns true if the sums count any block. */
static inline bool threadless_is_any(const struct thread_account *rest)
{
	return rest->tally.calls || rest->live.calls || rest->at_mark.live.calls;
}

#endif
