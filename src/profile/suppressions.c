#include "config.h"
#include "profile/suppressions.h"
#include "base/glob.h"

#include <stdio.h>
#include <stdlib.h>

/* How one frame is matched; the innermost is the function that allocates, which has only a name. */
struct place {
	const char *function;              /* NULL unknown */
	const struct profile_frame *frame; /* NULL: that function */
};

struct named_stack {
	const char *function; /* that allocates */
	const struct profile_frame *const *frames;
	size_t frame_count;
};

static struct place place_of(const struct named_stack *stack, size_t i)
{
	if (!i)
		return (struct place){.function = stack->function};
	const struct profile_frame *frame = stack->frames[i - 1];

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

static bool matches_anywhere(const struct suppression_pattern *pattern, const struct named_stack *stack)
{
	for (size_t i = 0; i <= stack->frame_count; i++) {
		const struct place place = place_of(stack, i);

		if (matches_place(pattern, &place))
			return true;
	}
	return false;
}

/* Whether the patterns match the innermost frames; those further out may be any. */
static bool matches(const struct suppression *suppression, const struct named_stack *stack)
{
	const struct suppression_pattern *patterns = suppression->patterns;
	const size_t count = suppression->pattern_count;
	size_t pattern = 0, frame = 0, behind_any = SIZE_MAX, from = 0;

	if (count == 1 && patterns->kind == PATTERN_ANYWHERE)
		return matches_anywhere(patterns, stack);
	while (pattern < count) {
		if (patterns[pattern].kind == PATTERN_FRAMES) {
			behind_any = ++pattern;
			from = frame;
			continue;
		}
		if (frame > stack->frame_count)
			return false;
		const struct place place = place_of(stack, frame);

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

struct suppression *suppressions_find(struct suppressions *suppressions, const char *function,
				      const struct profile_frame *const *frames, size_t frame_count)
{
	const struct named_stack stack = {function, frames, frame_count};

	for (size_t i = 0; i < suppressions->count; i++)
		if (matches(&suppressions->items[i], &stack))
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

void suppressions_apply(struct suppressions *suppressions, struct profile *profile)
{
	for (size_t i = 0; i < profile->group_count; i++) {
		struct profile_group *group = profile->groups[i];
		struct profile_resource *resource = profile->resources[group->resource->number];
		struct suppression *suppression = NULL;

		if (group->picked.calls)
			suppression =
				suppressions_find(suppressions, group->function, group->frames, group->frame_count);
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
