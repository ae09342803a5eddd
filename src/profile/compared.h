/* Distinguishes the new processes and figures of a profile from those of the older trace, with which it is compared. */
#ifndef FT_PROFILE_COMPARED_H
#define FT_PROFILE_COMPARED_H

#include "profile/profile.h"

/* Returns the number of processes that are not old. */
static inline size_t profile_new_count(const struct profile *profile)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->process_count; i++)
		count += !profile->processes[i].is_old;
	return count;
}

/* Returns the account of the first process that is not old. Output files are named after this process, and formats with
 * a place for one program name its program. Returns NULL if all processes are old. */
static inline const struct account *profile_first_account(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (!profile->processes[i].is_old)
			return profile->processes[i].account;
	return NULL;
}

/* Returns the live blocks with which the group's present ones are compared: those in the older trace, or those at the
 * account's mark (account.h). For a group that cannot be compared, returns its present live blocks, so that it has no
 * growth. */
static inline const struct tally *profile_group_old_live(const struct profile_group *group)
{
	return group->is_uncompared ? &group->live : &group->old.live;
}

#endif
