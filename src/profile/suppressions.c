#include "config.h"
#include "profile/suppressions.h"
#include "base/glob.h"

#include <stdlib.h>

/* How one frame is matched; the innermost is the function that allocates, which has only a name. */
struct place {
	const char *function;              /* NULL unknown */
	const struct profile_frame *frame; /* NULL: that function */
};

static struct place place_of(const struct profile_group *group, size_t i)
{
	if (!i)
		return (struct place){.function = group->function};
	const struct profile_frame *frame = group->frames[i - 1];

	return (struct place){.function = frame->function, .frame = frame};
}

static bool has_source(const char *pattern, const struct profile_frame *frame)
{
	if (!frame || !frame->file)
		return false;
	if (glob_matches(pattern, frame->file))
		return true;
	char *place = xasprintf("%s:%u", frame->file, frame->line);
	const bool matches = glob_matches(pattern, place);

	free(place);
	return matches;
}

static bool matches_place(const struct suppression_pattern *pattern, const struct place *place)
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

static bool matches_anywhere(const struct suppression_pattern *pattern, const struct profile_group *group)
{
	for (size_t i = 0; i <= group->frame_count; i++) {
		const struct place place = place_of(group, i);

		if (matches_place(pattern, &place))
			return true;
	}
	return false;
}

/* Whether the patterns match the innermost frames; those further out may be any. */
static bool matches(const struct suppression *suppression, const struct profile_group *group)
{
	const struct suppression_pattern *patterns = suppression->patterns;
	const size_t count = suppression->pattern_count;
	size_t pattern = 0, frame = 0, behind_any = SIZE_MAX, from = 0;

	if (count == 1 && patterns->kind == PATTERN_ANYWHERE)
		return matches_anywhere(patterns, group);
	while (pattern < count) {
		if (patterns[pattern].kind == PATTERN_FRAMES) {
			behind_any = ++pattern;
			from = frame;
			continue;
		}
		if (frame > group->frame_count)
			return false;
		const struct place place = place_of(group, frame);

		if (matches_place(&patterns[pattern], &place)) {
			pattern++;
			frame++;
		} else if (behind_any != SIZE_MAX) {
			/* What precedes the last "..." has matched as early as it can. */
			pattern = behind_any;
			frame = ++from;
		} else {
			return false;
		}
	}
	return true;
}

static struct suppression *find(struct suppressions *suppressions, const struct profile_group *group)
{
	for (size_t i = 0; i < suppressions->count; i++)
		if (matches(&suppressions->items[i], group))
			return &suppressions->items[i];
	return NULL;
}

void suppressions_apply(struct suppressions *suppressions, struct profile *profile)
{
	for (size_t i = 0; i < profile->group_count; i++) {
		struct profile_group *group = profile->groups[i];
		struct profile_resource *resource = profile->resources[group->resource->number];
		struct suppression *suppression = group->picked.calls ? find(suppressions, group) : NULL;

		if (!suppression)
			continue;
		tally_join(&suppression->used, &group->picked);
		tally_join(&resource->suppressed, &group->picked);
		resource->picked.calls -= group->picked.calls;
		resource->picked.bytes -= group->picked.bytes;
		group->picked = (struct tally){0};
		group->is_suppressed = true;
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
