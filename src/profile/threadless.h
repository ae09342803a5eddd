/* Sums up the blocks that no thread of the traces has allocated. */
#ifndef FT_PROFILE_THREADLESS_H
#define FT_PROFILE_THREADLESS_H

#include "profile/profile.h"

/* Sets rest[0] to the sums of the blocks from before the traces, and rest[1] to those of the blocks of which a trace
 * does not say the thread. `at_mark.live` has the older live blocks, of the older trace or at the mark. Sums without
 * blocks are 0. */
void profile_threadless(const struct profile *profile, const struct profile_resource *resource,
			struct thread_account rest[2]);
/* Returns true if there are such blocks. */
static inline bool threadless_is_any(const struct thread_account *rest)
{
	return rest->tally.calls || rest->live.calls || rest->at_mark.live.calls;
}

#endif
