#include "config.h"
#include "report/report_parts.h"
#include "profile/frame_origin.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The middle frames of a deep stack are replaced by a line with their number, unless they are only a few (FOLD_MIN). */
enum { FRAMES_INNER = 16, FRAMES_OUTER = 6, FOLD_MIN = 3, BAR = 20 };

struct report_groups_ranked {
	const struct profile_group *group;
	struct tally figure;
	/* key: the figure's bytes or, for kinds without sizes, its number of resources; grown: the growth of `key` in
	 * the last tenth of the trace */
	uint64_t key, grown;
	double rank; /* order of the groups; equal ranks are ordered by key, calls and number */
};

static int report_groups_compare_ranked(const void *a, const void *b)
{
	const struct report_groups_ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return compare_u64(y->key, x->key) ?: compare_u64(y->figure.calls, x->figure.calls)
		       ?: compare_u64(x->group->number, y->group->number);
}

/* Returns how much the section's figure of a group has grown in the last tenth of the trace. figure: the present
 * value. */
static uint64_t grown_of(const struct report *report, const struct profile_group *group, const struct tally *figure)
{
	const struct tally then = report_figure_earlier(report, group);

	if (group->is_estimated && group->estimate.verdict != ESTIMATE_GROWING)
		return 0;
	const uint64_t now = report_key(group->resource, figure);
	const uint64_t earlier = report_key(group->resource, &then);

	return now > earlier ? now - earlier : 0;
}

static void set_ranks(const struct report *report, struct report_groups_ranked *ranked, size_t count)
{
	uint64_t whole = 0, grown = 0;

	for (size_t i = 0; i < count; i++) {
		whole = add_saturated(whole, ranked[i].key);
		grown = add_saturated(grown, ranked[i].grown);
	}
	for (size_t i = 0; i < count; i++) {
		const double size = report_share_of(ranked[i].key, whole),
			     growth = report_share_of(ranked[i].grown, grown);
		const bool grows = report->section->ranks_growth && !report->profile->has_old && growth > size;

		ranked[i].rank = grows ? growth : size;
	}
}

/* Of the groups of a kind of resource, returns those whose figure in the section is not 0, sorted by rank, the highest
 * rank first. The caller frees the array. */
static struct report_groups_ranked *rank_groups(const struct report *report, const struct profile_resource *resource,
						size_t *count)
{
	const struct profile *profile = report->profile;
	struct report_groups_ranked *ranked = NULL;
	size_t capacity = 0;

	*count = 0;
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];

		if (group->resource != resource)
			continue;
		const struct tally figure = report_figure(report, group);

		if (!figure.calls)
			continue;
		ARRAY_GROW(ranked, capacity, *count);
		ranked[(*count)++] = (struct report_groups_ranked){
			.group = group,
			.figure = figure,
			.key = report_key(resource, &figure),
			.grown = grown_of(report, group, &figure),
		};
	}
	set_ranks(report, ranked, *count);
	if (*count)
		qsort(ranked, *count, sizeof(*ranked), report_groups_compare_ranked);
	return ranked;
}

/* Returns how many of the outermost frames are equal in two stacks. */
static uint32_t common_frames(const struct profile_group *group, uint32_t count, const struct profile_group *before)
{
	const uint32_t before_count = before ? report_frame_count(before) : 0;
	uint32_t common = 0;

	while (common < count && common < before_count &&
	       group->frames[count - 1 - common] == before->frames[before_count - 1 - common])
		common++;
	return common;
}

/* Returns true for code of the standard libraries; the source lines of its callers are of more interest. */
static bool is_plumbing(const struct profile_frame *frame)
{
	return profile_function_is_standard(frame->function) ||
	       (frame->file && !strncmp(frame->file, "/usr/include/c++/", strlen("/usr/include/c++/")));
}

/* Writes the frame's line of source code if the source file can be read. Returns true if it was written. */
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
		if (!has_source && !is_plumbing(group->frames[i]))
			has_source = write_source(report, group->frames[i]);
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

/* Adds the ages of live blocks: "0.1 s to 3.1 s old". */
static void add_ages(struct report *report, const struct profile_group *group)
{
	char youngest[32], oldest[32];

	report_span_text(report, group->least_age, youngest);
	report_span_text(report, group->greatest_age, oldest);
	if (!report->profile->has_times)
		lines_add(&report->lines, ", allocated %s before the end", oldest);
	else if (!strcmp(youngest, oldest))
		lines_add(&report->lines, ", %s old", oldest);
	else
		lines_add(&report->lines, ", %s to %s old", youngest, oldest);
}

static bool is_of_one_process(const struct profile_group *group)
{
	for (size_t i = 1; i < group->member_count; i++)
		if (group->members[i].process != group->members[0].process)
			return false;
	return true;
}

/* Writes the growth: "grew by 1,234 bytes in the last 1.2 s, 61,700 a minute". grown: the growth in the last tenth of
 * the traced time; if the group is in several processes, the sum of their growths. */
static void write_group_growth(struct report *report, const struct profile_group *group, uint64_t grown)
{
	const struct account *account = report->profile->processes[group->members[0].process].account;
	const uint64_t tenth = account->last.since - account->earlier_since;
	const bool is_of_one = is_of_one_process(group);
	char number[32], span[32], rate[32];

	if (!grown)
		return;
	lines_add(&report->lines, "      grew by %s %s in ", number_grouped(grown, number),
		  report_has_bytes(group->resource) ? grown == 1 ? "byte" : "bytes"
						    : report_noun(group->resource, grown, &report->name));
	if (is_of_one)
		lines_add(&report->lines, "the last %s", report_span_text(report, tenth, span));
	else
		lines_add(&report->lines, "the last tenth of the time");
	/* Writes no rate if the last tenth is shorter than a second, nor for several processes, whose last tenths have
	 * different lengths. */
	const double minute = tenth ? (double)grown * 60e9 / (double)tenth : 0;

	if (report->profile->has_times && is_of_one && tenth >= NS_PER_SECOND && minute < 1e18)
		lines_add(&report->lines, ", %s a minute", number_grouped((uint64_t)(minute + 0.5), rate));
	lines_end(&report->lines);
}

static void write_group_head(struct report *report, const struct report_groups_ranked *ranked, size_t number,
			     uint64_t whole)
{
	struct lines *lines = &report->lines;
	const struct profile_group *group = ranked->group;
	const bool has_intervals = profile_has_intervals(report->profile);

	lines_add(lines, "%3zu. ", number);
	lines_colour(lines, COLOUR_FIGURE);
	if (has_intervals && group->is_before)
		report_add_bytes(report, ranked->figure.bytes); /* the number of these blocks is not known */
	else
		report_add_tally(report, group->resource, &ranked->figure);
	lines_colour(lines, COLOUR_NONE);
	lines_add(lines, "  ");
	report_add_share(report, ranked->key, whole);
	lines_add(lines, "  ");
	lines_colour(lines, COLOUR_BAR);
	lines_add_bar(lines, ranked->key, whole, BAR);
	lines_end(lines);
	if (has_intervals && !group->is_before) {
		report_group_estimate(report, group);
		return;
	}
	lines_add(lines, "      ");
	if (!group->is_before)
		lines_add(lines, "by ");
	lines_add_name(lines, group->is_before && has_intervals ? "older than the watch, or of no stack that was seen"
			      : group->is_before                ? "from before the trace began: no stack is known"
			      : group->function                 ? group->function
								: "?");
	if (report->section->has_births && group->live.calls && !group->is_before)
		add_ages(report, group);
	if (report->section->figure == FIGURE_ALLOCATED && group->released && !group->is_before &&
	    report->profile->has_times) {
		char mean[32];

		lines_add(lines, ", alive for %s on average",
			  report_span_text(report, group->lifetimes / group->released, mean));
	}
	lines_end(lines);
	if (report->section->has_births && !has_intervals)
		write_group_growth(report, group, ranked->grown);
}

static void report_groups_write_rest(struct report *report, const struct report_groups_ranked *ranked, size_t from,
				     size_t count)
{
	struct tally rest = {0};

	for (size_t i = from; i < count; i++)
		tally_join(&rest, &ranked[i].figure);
	lines_add(&report->lines, "     and %zu more group%s with ", count - from, count - from == 1 ? "" : "s");
	report_add_tally(report, ranked[0].group->resource, &rest);
	lines_add(&report->lines, " (--top=%zu shows all)", count);
	lines_end(&report->lines);
}

/* Writes the growth of a group: "+1,234 bytes, +5 blocks: 2,345 bytes in 10 blocks, before 1,111 bytes in 5 blocks". */
static void write_growth_head(struct report *report, const struct profile_group *group, size_t number)
{
	struct lines *lines = &report->lines;
	const struct tally now = report_figure_now(report, group), old = report_figure_old(report, group);
	const struct tally growth = {now.calls - old.calls, now.bytes - old.bytes};

	lines_add(lines, "%3zu. ", number);
	lines_colour(lines, COLOUR_FIGURE);
	report_add_growth(report, group->resource, &growth);
	lines_colour(lines, COLOUR_NONE);
	lines_add(lines, ": ");
	report_add_tally(report, group->resource, &now);
	lines_add(lines, ", before ");
	if (old.calls)
		report_add_tally(report, group->resource, &old);
	else
		lines_add(lines, "none");
	lines_end(lines);
	if (profile_has_intervals(report->profile)) {
		report_group_estimate(report, group);
		return;
	}
	lines_add(lines, "      by ");
	lines_add_name(lines, group->function ? group->function : "?");
	lines_end(lines);
}

void report_groups(struct report *report, const struct profile_resource *resource)
{
	const bool has_old = report->profile->has_old;
	const struct tally all = report_whole(report, resource);
	const uint64_t whole = report_key(resource, &all);
	const size_t top = report->options.top ? report->options.top : report->section->top;
	const struct profile_group *before = NULL;
	size_t count;
	struct report_groups_ranked *ranked = rank_groups(report, resource, &count);

	for (size_t i = 0; i < count && i < top; i++) {
		LINE(&report->lines, "%s", "");
		if (has_old)
			write_growth_head(report, ranked[i].group, i + 1);
		else
			write_group_head(report, &ranked[i], i + 1, whole);
		write_frames(report, ranked[i].group, before);
		before = ranked[i].group;
	}
	if (count > top && has_old) {
		LINE(&report->lines, "     and %zu more group%s that grew (--top=%zu shows all)", count - top,
		     count - top == 1 ? "" : "s", count);
	} else if (count > top) {
		LINE(&report->lines, "%s", "");
		report_groups_write_rest(report, ranked, top, count);
	}
	free(ranked);
}

bool report_has_leaks(const struct profile *profile, const struct report_options *options)
{
	const struct report report = {
		.profile = profile, .section = &report_section_leaks, .options = {.min_count = options->min_count}};

	for (size_t i = 0; i < profile->group_count; i++)
		if (!(profile->groups[i]->resource->flags & RESOURCE_CALL) &&
		    report_figure(&report, profile->groups[i]).calls)
			return true;
	return false;
}

void report_uncompared(struct report *report, const struct profile_resource *resource)
{
	for (size_t i = 0; i < report->profile->group_count; i++) {
		const struct profile_group *const group = report->profile->groups[i];

		if (group->resource != resource || !group->is_uncompared || !group->live.calls)
			continue;
		lines_add(&report->lines, "     ");
		report_add_tally(report, resource, &group->live);
		lines_add(&report->lines, " from before the trace began: not counted as growth, because the older "
					  "trace does not have these");
		lines_end(&report->lines);
	}
}
