#include "config.h"
#include "profile/profile_trim.h"
#include "profile/profile_fill.h"

#include <stdlib.h>

/* Returns how many frames of the group, with the inlined ones, belong to the first `depth` frames of its stack. Sets
 * *is_cut to true if the stack has `depth` frames or more, else to false. */
static size_t profile_trim_count(const struct profile_group *group, uint32_t depth, bool *is_cut)
{
	size_t count = 0;
	uint32_t frames = 0;

	while (count < group->frame_count && frames < depth)
		frames += !group->frames[count++]->inlined;
	*is_cut = frames == depth;
	return count;
}

static void join_members(struct profile_group *to, const struct profile_group *from)
{
	for (size_t i = 0; i < from->member_count; i++) {
		ARRAY_GROW(to->members, to->member_capacity, to->member_count);
		to->members[to->member_count++] = from->members[i];
	}
}

static void join_tallies(struct profile_group *to, const struct profile_group *from)
{
	tally_join(&to->allocated, &from->allocated);
	tally_join(&to->live, &from->live);
	tally_join(&to->temporary, &from->temporary);
	tally_join(&to->own_peak, &from->own_peak);
	tally_join(&to->at_peak, &from->at_peak);
	tally_join(&to->picked, &from->picked);
	tally_join(&to->picked_indirectly, &from->picked_indirectly);
	for (unsigned i = 0; i < LOST_KINDS; i++)
		tally_join(&to->lost[i], &from->lost[i]);
	tally_join(&to->reachable, &from->reachable);
	tally_join(&to->earlier, &from->earlier);
	tally_join(&to->earlier_picked, &from->earlier_picked);
	tally_join(&to->earlier_possibly, &from->earlier_possibly);
	tally_join(&to->earlier_reachable, &from->earlier_reachable);
	figures_join(&to->old, &from->old);
}

static void join_group(struct profile_group *to, const struct profile_group *from)
{
	join_members(to, from);
	join_tallies(to, from);
	to->is_before |= from->is_before;
	to->has_old |= from->has_old;
	to->is_uncompared |= from->is_uncompared;
	to->picked_is_suppressed = (to->picked_is_suppressed || from->picked_is_suppressed) && !to->picked.calls;
	to->lifetimes = add_saturated(to->lifetimes, from->lifetimes);
	to->ages = add_saturated(to->ages, from->ages);
	to->released += from->released;
	profile_group_join_times(to, from);
}

/* Frees the frames that are in no group, because exports list all frames of a profile. */
static void drop_frames(struct profile *profile)
{
	bool *const is_used = xcalloc(profile->frame_count + 1, sizeof(*is_used));
	size_t count = 0;

	for (size_t i = 0; i < profile->group_count; i++)
		for (uint32_t k = 0; k < profile->groups[i]->frame_count; k++)
			is_used[profile->groups[i]->frames[k]->number] = true;
	for (size_t i = 0; i < profile->frame_count; i++) {
		struct profile_frame *const frame = profile->frames[i];

		if (!is_used[i]) {
			free(frame);
			continue;
		}
		frame->number = count;
		profile->frames[count++] = frame;
	}
	profile->frame_count = count;
	hash_free(&profile->frame_of);
	free(is_used);
}

void profile_trim(struct profile *profile, uint32_t depth)
{
	struct profile_group **const groups = profile->groups;
	const size_t count = profile->group_count;

	profile->groups = NULL;
	profile->group_count = profile->group_capacity = 0;
	hash_free(&profile->group_of);
	for (size_t i = 0; i < count; i++) {
		struct profile_group *const group = groups[i];
		bool is_cut;
		const struct profile_group_key key = {
			.resource = group->resource,
			.function = group->function,
			.frames = group->frames,
			.frame_count = profile_trim_count(group, depth, &is_cut),
			.has_stack = group->has_stack,
			.growth_is_suppressed = group->growth_is_suppressed,
			.end = is_cut ? STACK_WHOLE : group->end,
		};

		join_group(profile_group_of(profile, &key), group);
		profile_group_free(group);
	}
	free(groups);
	drop_frames(profile);
}
