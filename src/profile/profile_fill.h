/* Declarations for filling a profile and regrouping it. Private to profile/. */
#ifndef FT_PROFILE_PROFILE_FILL_H
#define FT_PROFILE_PROFILE_FILL_H

#include "profile/profile.h"

/* Returns the profile's frame that equals `frame`; adds a copy if there is none. */
const struct profile_frame *profile_frame_intern(struct profile *profile, const struct profile_frame *frame);
/* Returns the profile's kind of resource with the same type name; adds it if there is none. */
struct profile_resource *profile_resource_of(struct profile *profile, const struct resource_state *which);

/* The key of a group. All strings are interned; the profile owns all frames. */
struct profile_group_key {
	const struct profile_resource *resource;
	const char *function;
	const struct profile_frame *const *frames;
	size_t frame_count;
	bool has_stack;
	bool growth_is_suppressed;
	enum stack_end end;
};

/* Returns the group with this key; adds it if there is none. The caller adds the members. */
struct profile_group *profile_group_of(struct profile *profile, const struct profile_group_key *key);
/* Merges the time of the first call, the ages of live blocks and the newest block of `from` into `to`. If both newest
 * blocks have the same time, keeps that of `from`. */
void profile_group_join_times(struct profile_group *to, const struct profile_group *from);
/* Frees the group, which must no longer be in the profile. */
void profile_group_free(struct profile_group *group);

#endif
