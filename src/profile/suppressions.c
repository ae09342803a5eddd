#include "config.h"
#include "profile/suppressions.h"
#include "base/glob.h"

#include <stdio.h>
#include <stdlib.h>

/* A frame that is compared with patterns. The innermost one is the function that allocates; only its name is known. */
struct suppressions_place {
	const char *function;              /* NULL: unknown */
	const struct profile_frame *frame; /* NULL for the function that allocates */
};

struct named_stack {
	const char *function; /* the function that allocates */
	const struct profile_frame *const *frames;
	size_t frame_count;
};

static struct suppressions_place suppressions_place_of(const struct named_stack *stack, size_t i)
{
	if (!i)
		return (struct suppressions_place){.function = stack->function};
	const struct profile_frame *frame = stack->frames[i - 1];

	return (struct suppressions_place){.function = frame->function, .frame = frame};
}

/* Returns true if a pattern matches the whole path or, as in valgrind, the file name without folders, either with or
 * without the line. */
static bool has_source(const char *pattern, const struct profile_frame *frame)
{
	if (!frame || !frame->file)
		return false;
	if (glob_matches(pattern, frame->file) || glob_matches(pattern, path_name(frame->file)))
		return true;
	char *place = xasprintf("%s:%u", frame->file, frame->line);
	const bool matches = glob_matches(pattern, place) || glob_matches(pattern, path_name(place));

	free(place);
	return matches;
}

static bool matches_place(const struct suppression_pattern *pattern, const struct suppressions_place *place)
{
	const struct profile_frame *frame = place->frame;

	switch (pattern->kind) {
	case PATTERN_FUNCTION:
		return place->function && glob_matches(pattern->text, place->function);
	case PATTERN_OBJECT:
		return frame && frame->module && glob_matches(pattern->text, frame->module);
	case PATTERN_SOURCE:
		return has_source(pattern->text, frame);
	default:
		return (place->function && glob_matches(pattern->text, place->function)) ||
		       (frame && frame->module && glob_matches(pattern->text, frame->module)) ||
		       (frame && frame->file && glob_matches(pattern->text, frame->file));
	}
}

static bool matches_anywhere(const struct suppression_pattern *pattern, const struct named_stack *stack)
{
	for (size_t i = 0; i <= stack->frame_count; i++) {
		const struct suppressions_place place = suppressions_place_of(stack, i);

		if (matches_place(pattern, &place))
			return true;
	}
	return false;
}

/* Returns true if the patterns match the innermost frames; further frames are not compared. For a PATTERN_ANYWHERE,
 * returns true if it matches at least one frame. */
static bool suppressions_matches(const struct suppression *suppression, const struct named_stack *stack)
{
	const struct suppression_pattern *patterns = suppression->patterns;
	const size_t count = suppression->pattern_count;
	size_t pattern = 0, frame = 0, after_any = SIZE_MAX, from = 0;

	if (count == 1 && patterns->kind == PATTERN_ANYWHERE)
		return matches_anywhere(patterns, stack);
	while (pattern < count) {
		if (patterns[pattern].kind == PATTERN_FRAMES) {
			after_any = ++pattern;
			from = frame;
			continue;
		}
		if (frame > stack->frame_count)
			return false;
		const struct suppressions_place place = suppressions_place_of(stack, frame);

		if (matches_place(&patterns[pattern], &place)) {
			pattern++;
			frame++;
		} else if (after_any != SIZE_MAX) {
			/* The patterns before the last "..." have matched the earliest possible frames. Try the
			 * patterns after it again, one frame further out. */
			pattern = after_any;
			frame = ++from;
		} else {
			return false;
		}
	}
	return true;
}

struct suppression *suppressions_find(struct suppressions *suppressions, unsigned kinds, const char *function,
				      const struct profile_frame *const *frames, size_t frame_count)
{
	const struct named_stack stack = {function, frames, frame_count};

	for (size_t i = 0; i < suppressions->count; i++)
		if (suppressions->items[i].kinds & kinds && suppressions_matches(&suppressions->items[i], &stack))
			return &suppressions->items[i];
	return NULL;
}

const char *suppression_used_text(const struct tally *used, char text[static SUPPRESSION_USED_MAX])
{
	char bytes[32], count[32];

	snprintf(text, SUPPRESSION_USED_MAX, "%s byte%s in %s block%s", number_grouped(used->bytes, bytes),
		 used->bytes == 1 ? "" : "s", number_grouped(used->calls, count), used->calls == 1 ? "" : "s");
	return text;
}

static struct suppression *find_of_group(struct suppressions *suppressions, const struct profile_group *group,
					 enum lost_kind kind)
{
	return suppressions_find(suppressions, LEAK_KIND(kind), group->function, group->frames, group->frame_count);
}

/* Suppresses the picked blocks of one class in the group if a suppression matches. Returns true if one does. part:
 * these blocks. earlier: those of them that were alive at earlier_since (account.h). `earlier` is subtracted from
 * earlier_picked. Otherwise, if -b joins the group with others (profile_trim.h), these blocks would hide the others'
 * growth. */
static bool apply_to(struct suppressions *suppressions, struct profile *profile, struct profile_group *group,
		     enum lost_kind kind, const struct tally *part, const struct tally *earlier)
{
	struct profile_resource *resource = profile->resources[group->resource->number];
	struct suppression *suppression = part->calls ? find_of_group(suppressions, group, kind) : NULL;

	if (!suppression)
		return false;
	tally_join(&suppression->used, part);
	tally_join(&resource->picked_suppressed, part);
	tally_subtract(&resource->picked, part);
	tally_subtract(&group->picked, part);
	tally_subtract(&group->earlier_picked, earlier);
	group->picked_is_suppressed = !group->picked.calls;
	return true;
}

/* Returns the set of kinds of the group's live blocks. */
static unsigned kinds_alive(const struct profile *profile, const struct profile_group *group)
{
	struct tally reachable = group->live;
	unsigned kinds = 0;

	for (size_t i = 0; i < group->member_count; i++) {
		const struct profile_member *member = &group->members[i];

		if (profile->processes[member->process].is_old || resource_account_has_scan(member->resource) ||
		    !member->site->live.calls)
			continue;
		kinds |= LEAK_KIND(LOST_DEFINITELY);
		tally_subtract(&reachable, &member->site->live);
	}
	for (unsigned kind = 0; kind < LOST_KINDS; kind++) {
		kinds |= group->lost[kind].calls ? LEAK_KIND(kind) : 0;
		tally_subtract(&reachable, &group->lost[kind]);
	}
	return reachable.calls ? kinds | LEAK_REACHABLE : kinds;
}

/* Returns true if suppressions match every class of the group's live blocks. All classes have to be matched, because
 * growth counts all live blocks, lost or not. */
static bool is_alive_suppressed(struct suppressions *suppressions, const struct profile *profile,
				const struct profile_group *group)
{
	const unsigned kinds = kinds_alive(profile, group);

	for (unsigned kind = 0; kind <= LOST_KINDS; kind++)
		if (kinds & LEAK_KIND(kind) && !find_of_group(suppressions, group, kind))
			return false;
	return kinds;
}

void suppressions_apply(struct suppressions *suppressions, struct profile *profile)
{
	for (size_t i = 0; i < profile->group_count; i++) {
		struct profile_group *group = profile->groups[i];
		const struct tally indirectly = group->picked_indirectly, earlier = group->earlier_indirectly;
		struct tally definitely = group->picked, earlier_definitely = group->earlier_picked;

		tally_subtract(&definitely, &indirectly);
		tally_subtract(&earlier_definitely, &earlier);
		apply_to(suppressions, profile, group, LOST_DEFINITELY, &definitely, &earlier_definitely);
		if (apply_to(suppressions, profile, group, LOST_INDIRECTLY, &indirectly, &earlier))
			group->picked_indirectly = (struct tally){0};
		group->growth_is_suppressed = profile->has_old && is_alive_suppressed(suppressions, profile, group);
	}
	profile->suppressions = suppressions;
}

void suppressions_free(struct suppressions *suppressions)
{
	for (size_t i = 0; i < suppressions->count; i++) {
		struct suppression *item = &suppressions->items[i];

		for (size_t k = 0; k < item->pattern_count; k++)
			free(item->patterns[k].text);
		free(item->patterns);
		free(item->name);
	}
	free(suppressions->items);
	intern_pool_free(&suppressions->files);
}
