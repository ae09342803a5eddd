#include "config.h"
#include "report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Of a deep stack the middle is left out; less than FOLD_MIN frames are not worth a line that says so. */
enum { FRAMES_INNER = 16, FRAMES_OUTER = 6, FOLD_MIN = 3, BAR = 20, TOP_DEFAULT = 10 };

struct ranked {
	const struct profile_group *group;
	struct tally figure;
	uint64_t key; /* what they are ordered by, then by calls, then as they came */
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	if (x->figure.calls != y->figure.calls)
		return x->figure.calls < y->figure.calls ? 1 : -1;
	return x->group->number < y->group->number ? -1 : 1;
}

/* The groups of the resource that have something to show, worst first; the caller frees them. */
static struct ranked *rank(const struct report *report, const struct profile_resource *resource,
			   struct tally (*figure_of)(const struct report *report, const struct profile_group *group),
			   size_t *count)
{
	const struct profile *profile = report->profile;
	struct ranked *ranked = NULL;
	size_t capacity = 0;

	*count = 0;
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];

		if (group->resource != resource)
			continue;
		const struct tally figure = figure_of(report, group);

		if (!figure.calls)
			continue;
		ARRAY_GROW(ranked, capacity, *count);
		ranked[(*count)++] = (struct ranked){
			.group = group,
			.figure = figure,
			.key = report_has_bytes(resource) ? figure.bytes : figure.calls,
		};
	}
	if (*count)
		qsort(ranked, *count, sizeof(*ranked), compare_ranked);
	return ranked;
}

/* How many outer frames two stacks have in common. */
static uint32_t common_frames(const struct profile_group *group, uint32_t count, const struct profile_group *before)
{
	const uint32_t before_count = before ? report_frame_count(before) : 0;
	uint32_t common = 0;

	while (common < count && common < before_count &&
	       group->frames[count - 1 - common] == before->frames[before_count - 1 - common])
		common++;
	return common;
}

/* The line itself, where the file is there: of the innermost frame that has one. */
static bool write_source(struct report *report, const struct profile_frame *frame)
{
	struct buf text = {0};
	const bool found = frame->file && source_line(&report->sources, frame->file, frame->line, &text);

	if (found) {
		lines_add(&report->lines, "          ");
		lines_colour(&report->lines, COLOUR_SOURCE);
		lines_add(&report->lines, "%s:%u: ", frame->file, frame->line);
		lines_add_name(&report->lines, buf_str(&text));
		lines_end(&report->lines);
	}
	buf_free(&text);
	return found;
}

static void write_frames(struct report *report, const struct profile_group *group, const struct profile_group *before)
{
	const uint32_t count = report_frame_count(group);
	const uint32_t common = common_frames(group, count, before);
	const uint32_t shown = common >= FOLD_MIN && common < count ? count - common : count;
	bool has_source = false;

	for (uint32_t i = 0; i < shown; i++) {
		if (shown > FRAMES_INNER + FRAMES_OUTER + FOLD_MIN && i == FRAMES_INNER) {
			const uint32_t left_out = shown - FRAMES_INNER - FRAMES_OUTER;

			LINE(&report->lines, "      ... %" PRIu32 " frames ...", left_out);
			i += left_out;
		}
		lines_add(&report->lines, "      ");
		report_add_frame(report, group->frames[i]);
		lines_end(&report->lines);
		has_source = has_source || write_source(report, group->frames[i]);
	}
	if (shown < count)
		LINE(&report->lines, "      ... and %" PRIu32 " frames as above, from %s on", common,
		     group->frames[shown]->function ? group->frames[shown]->function : "there");
	if (group->end == STACK_CUT)
		LINE(&report->lines, "      (cut here; -b takes more frames)");
	else if (group->end == STACK_LOST)
		LINE(&report->lines, "      (could not be followed further)");
	if (!group->has_stack && !group->is_before)
		LINE(&report->lines, "      (no stack was taken)");
}

/* "0.1 s to 3.1 s old". */
static void add_ages(struct report *report, const struct profile_group *group)
{
	const uint64_t end = report->profile->end_since;
	char youngest[32], oldest[32];

	report_span_text(report, end - group->newest_since, youngest);
	report_span_text(report, end - group->oldest_since, oldest);
	if (!report->profile->has_times)
		lines_add(&report->lines, ", allocated %s before the end", oldest);
	else if (!strcmp(youngest, oldest))
		lines_add(&report->lines, ", %s old", oldest);
	else
		lines_add(&report->lines, ", %s to %s old", youngest, oldest);
}

static void write_group_head(struct report *report, const struct ranked *ranked, size_t number, uint64_t whole)
{
	struct lines *lines = &report->lines;
	const struct profile_group *group = ranked->group;

	lines_add(lines, "%3zu. ", number);
	lines_colour(lines, COLOUR_FIGURE);
	report_add_tally(report, group->resource, &ranked->figure);
	lines_colour(lines, COLOUR_NONE);
	lines_add(lines, "  ");
	report_add_share(report, ranked->key, whole);
	lines_add(lines, "  ");
	lines_colour(lines, COLOUR_BAR);
	lines_add_bar(lines, ranked->key, whole, BAR);
	lines_end(lines);
	lines_add(lines, "      ");
	if (!group->is_before)
		lines_add(lines, "by ");
	lines_add_name(lines, group->is_before  ? "from before the trace began: no stack is known"
			      : group->function ? group->function
						: "?");
	if (report->options.view == REPORT_LEAKS && group->live.calls && !group->is_before)
		add_ages(report, group);
	if (report->options.view == REPORT_ALLOCATED && group->released && !group->is_before &&
	    report->profile->has_times) {
		char mean[32];

		lines_add(lines, ", alive for %s on average",
			  report_span_text(report, group->lifetimes / group->released, mean));
	}
	lines_end(lines);
}

static void write_rest(struct report *report, const struct ranked *ranked, size_t from, size_t count)
{
	struct tally rest = {0};

	for (size_t i = from; i < count; i++)
		tally_join(&rest, &ranked[i].figure);
	lines_add(&report->lines, "     and %zu more group%s with ", count - from, count - from == 1 ? "" : "s");
	report_add_tally(report, ranked[0].group->resource, &rest);
	lines_add(&report->lines, " (--top=%zu shows all)", count);
	lines_end(&report->lines);
}

void report_groups(struct report *report, const struct profile_resource *resource)
{
	const struct tally all = report_whole(report, resource);
	const uint64_t whole = report_has_bytes(resource) ? all.bytes : all.calls;
	const size_t top = report->options.top ? report->options.top : TOP_DEFAULT;
	const struct profile_group *before = NULL;
	size_t count;
	struct ranked *ranked = rank(report, resource, report_figure, &count);

	for (size_t i = 0; i < count && i < top; i++) {
		LINE(&report->lines, "%s", "");
		write_group_head(report, &ranked[i], i + 1, whole);
		write_frames(report, ranked[i].group, before);
		before = ranked[i].group;
	}
	if (count > top) {
		LINE(&report->lines, "%s", "");
		write_rest(report, ranked, top, count);
	}
	free(ranked);
}

/* A trace that has no census says nothing of what was alive before it began. */
static bool is_uncompared(const struct profile_group *group)
{
	return group->is_before && !group->has_old;
}

/* What is alive more than before. */
static struct tally growth(const struct report *report, const struct profile_group *group)
{
	const struct tally *now = &group->live, *old = &group->old;
	const bool bytes = report_has_bytes(group->resource);

	if (group->growth_is_suppressed || is_uncompared(group) || now->calls < report->options.min_count)
		return (struct tally){0};
	if (bytes ? now->bytes <= old->bytes : now->calls <= old->calls)
		return (struct tally){0};
	return (struct tally){now->calls > old->calls ? now->calls - old->calls : 1, now->bytes - old->bytes};
}

bool report_has_leaks(const struct profile *profile, const struct report_options *options)
{
	const struct report report = {.profile = profile, .options = {.min_count = options->min_count}};

	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];
		const struct tally leaks = profile->has_old ? growth(&report, group) : report_figure(&report, group);

		if (leaks.calls && !(group->resource->flags & RESOURCE_CALL))
			return true;
	}
	return false;
}

/* "+1,234 bytes, +5 blocks: 10 with 2,345 bytes, before 5 with 1,111" */
static void write_growth_head(struct report *report, const struct profile_group *group, size_t number)
{
	struct lines *lines = &report->lines;
	const int64_t blocks = (int64_t)(group->live.calls - group->old.calls);
	char bytes[32], count[32];

	lines_add(lines, "%3zu. ", number);
	lines_colour(lines, COLOUR_FIGURE);
	if (report_has_bytes(group->resource))
		lines_add(lines, "+%s bytes, ", number_grouped(group->live.bytes - group->old.bytes, bytes));
	lines_add(lines, "%c%s %s", blocks < 0 ? '-' : '+',
		  number_grouped((uint64_t)(blocks < 0 ? -blocks : blocks), count),
		  report_noun(group->resource, blocks == 1 || blocks == -1 ? 1 : 2, &report->name));
	lines_colour(lines, COLOUR_NONE);
	lines_add(lines, ": ");
	report_add_tally(report, group->resource, &group->live);
	lines_add(lines, ", before ");
	if (group->old.calls)
		report_add_tally(report, group->resource, &group->old);
	else
		lines_add(lines, "none");
	lines_end(lines);
}

static void write_uncompared(struct report *report, const struct profile_resource *resource)
{
	for (size_t i = 0; i < report->profile->group_count; i++) {
		const struct profile_group *const group = report->profile->groups[i];

		if (group->resource != resource || !is_uncompared(group) || !group->live.calls)
			continue;
		lines_add(&report->lines, "     ");
		report_add_tally(report, resource, &group->live);
		lines_add(&report->lines, " from before the trace began: no growth, for the older trace knows of none");
		lines_end(&report->lines);
	}
}

void report_growth(struct report *report, const struct profile_resource *resource)
{
	const size_t top = report->options.top ? report->options.top : TOP_DEFAULT;
	const struct profile_group *before = NULL;
	size_t count;
	struct ranked *ranked = rank(report, resource, growth, &count);

	if (!count)
		LINE(&report->lines, "     No stack has more than before.");
	for (size_t i = 0; i < count && i < top; i++) {
		LINE(&report->lines, "%s", "");
		write_growth_head(report, ranked[i].group, i + 1);
		write_frames(report, ranked[i].group, before);
		before = ranked[i].group;
	}
	if (count > top)
		LINE(&report->lines, "     and %zu more groups that grew (--top=%zu shows all)", count - top, count);
	write_uncompared(report, resource);
	free(ranked);
}
