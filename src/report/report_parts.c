#include "config.h"
#include "report/report_parts.h"
#include "report/pretty.h"
#include "modules/known.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <string.h>

/* The outermost functions of stacks; they start a program or a thread. */
static const char *const starts[] = {
	"_start",
	"__libc_start_main",
	"__libc_start_main_impl",
	"__libc_start_call_main",
	"start_thread",
	"clone",
	"__clone",
	"clone3",
	"__clone3",
	"thread_start",
	"__libc_start_main@@GLIBC_2.34",
	"generic_start_main",
};

#define FIGURE(now, old, earlier, whole)                                                                               \
	{                                                                                                              \
		offsetof(struct profile_group, now), offsetof(struct profile_group, old),                              \
			offsetof(struct profile_group, earlier), offsetof(struct profile_resource, whole)              \
	}

/* The places of each figure: in a group, at the end of the trace, in the older trace, and at the beginning of the last
 * tenth of the trace; and in a kind of resource. */
static const struct {
	size_t now, old, earlier, whole;
} figures[] = {
	[FIGURE_LEAKED] = FIGURE(picked, old.live, earlier_picked, picked),
	[FIGURE_POSSIBLY] = FIGURE(lost[LOST_POSSIBLY], old.live, earlier_possibly, lost[LOST_POSSIBLY]),
	[FIGURE_REACHABLE] = FIGURE(reachable, old.live, earlier_reachable, reachable),
	[FIGURE_ALIVE] = FIGURE(live, old.live, earlier, live),
	[FIGURE_PEAK] = FIGURE(at_peak, old.at_peak, earlier, peak),
	[FIGURE_ALLOCATED] = FIGURE(allocated, old.allocated, earlier, allocated),
	[FIGURE_TEMPORARY] = FIGURE(temporary, old.temporary, earlier, temporary),
};

static struct tally figure_at(const void *owner, size_t place)
{
	return *(const struct tally *)(const void *)((const char *)owner + place);
}

struct tally report_figure_now(const struct report *report, const struct profile_group *group)
{
	/* A comparison (--diff) shows the growth of all live blocks, not only of leaks. */
	const bool is_live = report->section->figure == FIGURE_LEAKED && report->profile->has_old;

	return is_live ? group->live : figure_at(group, figures[report->section->figure].now);
}

struct tally report_figure_old(const struct report *report, const struct profile_group *group)
{
	return figure_at(group, figures[report->section->figure].old);
}

struct tally report_figure_earlier(const struct report *report, const struct profile_group *group)
{
	return figure_at(group, figures[report->section->figure].earlier);
}

static bool is_suppressed(const struct report *report, const struct profile_group *group)
{
	return group->growth_is_suppressed && report->section->has_births;
}

/* Returns the growth of a group's figure since the older trace or since the time of --diff=@T, even if --min-count or a
 * suppression leaves out the group. */
static struct tally group_growth(const struct report *report, const struct profile_group *group)
{
	const struct tally now = report_figure_now(report, group), old = report_figure_old(report, group);

	if (group->is_uncompared || report_key(group->resource, &now) <= report_key(group->resource, &old))
		return (struct tally){0};
	return (struct tally){now.calls > old.calls ? now.calls - old.calls : 1,
			      now.bytes > old.bytes ? now.bytes - old.bytes : 0};
}

struct tally report_figure(const struct report *report, const struct profile_group *group)
{
	const struct tally now = report_figure_now(report, group);

	if (now.calls < report->options.min_count || is_suppressed(report, group))
		return (struct tally){0};
	return report->profile->has_old ? group_growth(report, group) : now;
}

struct tally report_sum(const struct report *report, const struct profile_resource *resource)
{
	struct tally sum = {0};

	for (size_t i = 0; i < report->profile->group_count; i++) {
		const struct profile_group *group = report->profile->groups[i];
		const struct tally figure =
			group->resource == resource ? report_figure(report, group) : (struct tally){0};

		tally_join(&sum, &figure);
	}
	return sum;
}

/* Adds to `all` the figure of a group that a list leaves out, minus its older figure (report_figure_old()), which is 0
 * without a comparison. If the group has fewer calls than before, the number of calls in `all` becomes smaller. */
static void join_left_out(const struct report *report, const struct profile_group *group, struct tally *all)
{
	const struct tally now = report_figure_now(report, group), old = report_figure_old(report, group);

	tally_join(all, &(struct tally){now.calls - old.calls, now.bytes - old.bytes});
}

static void add_left_out(struct report *report, const struct profile_resource *resource, const struct tally *all)
{
	if (report->profile->has_old)
		report_add_growth(report, resource, all);
	else
		report_add_tally(report, resource, all);
	lines_end(&report->lines);
}

/* If suppressions leave out blocks, writes a line about them in the two cases in which report_suppressed() does not say
 * enough: it is not called in a comparison, and it does not name the kind of resource, which matters if the section of
 * leaks shows no group (has_any is false). Returns true if the line was written. */
static bool write_unsaid_suppressed(struct report *report, const struct profile_resource *resource, bool has_any)
{
	const bool has_old = report->profile->has_old;
	struct tally all = {0};
	bool is_unsaid = false;

	for (size_t i = 0; has_old && i < report->profile->group_count; i++) {
		const struct profile_group *group = report->profile->groups[i];

		if (group->resource != resource || !is_suppressed(report, group) || !group_growth(report, group).calls)
			continue;
		join_left_out(report, group, &all);
		is_unsaid = true;
	}
	if (!has_old && !has_any && report->section->figure == FIGURE_LEAKED) {
		all = resource->picked_suppressed;
		is_unsaid = all.calls;
	}
	if (!is_unsaid)
		return false;
	LINE(&report->lines, "%s", "");
	lines_add(&report->lines, "     without %s suppressions match: ", has_old ? "growth that" : "leaks that");
	add_left_out(report, resource, &all);
	return true;
}

bool report_left_out(struct report *report, const struct profile_resource *resource, bool has_any)
{
	const bool has_suppressed = write_unsaid_suppressed(report, resource, has_any);
	const struct profile *profile = report->profile;
	const uint32_t least = report->options.min_count;
	struct tally all = {0};
	size_t groups = 0;

	for (size_t i = 0; i < profile->group_count; i++) {
		const struct tally figure = report_figure_now(report, profile->groups[i]);

		if (profile->groups[i]->resource != resource || !figure.calls || figure.calls >= least ||
		    is_suppressed(report, profile->groups[i]) ||
		    (profile->has_old && !group_growth(report, profile->groups[i]).calls))
			continue;
		join_left_out(report, profile->groups[i], &all);
		groups++;
	}
	if (!groups)
		return has_suppressed;
	LINE(&report->lines, "%s", "");
	lines_add(&report->lines, "     without %zu group%s %sof fewer than %" PRIu32 " allocations: ", groups,
		  groups == 1 ? "" : "s", profile->has_old ? "that grew, " : "", least);
	add_left_out(report, resource, &all);
	return true;
}

struct tally report_whole(const struct report *report, const struct profile_resource *resource)
{
	if (report->profile->has_old)
		return report_sum(report, resource);
	if (report->section->figure == FIGURE_ALLOCATED && resource->flags & RESOURCE_CALL)
		return resource->others;
	return figure_at(resource, figures[report->section->figure].whole);
}

bool report_has_bytes(const struct profile_resource *resource)
{
	const struct resource *known = module_resource(resource->type);

	return known ? known->unit != NULL : is_heap_type(resource->type) || resource->allocated.bytes != 0;
}

uint64_t report_key(const struct profile_resource *resource, const struct tally *tally)
{
	return report_has_bytes(resource) ? tally->bytes : tally->calls;
}

double report_share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

const char *report_noun(const struct profile_resource *resource, uint64_t count, struct buf *room)
{
	const struct resource *known = module_resource(resource->type);
	const char *noun = resource->flags & RESOURCE_CALL ? "call" : known ? known->noun : "block";

	room->size = 0;
	buf_printf(room, "%s%s", noun, count == 1 ? "" : "s");
	return buf_str(room);
}

void report_add_tally(struct report *report, const struct profile_resource *resource, const struct tally *tally)
{
	char bytes[32], count[32];

	if (report_has_bytes(resource))
		lines_add(&report->lines, "%s byte%s in ", number_grouped(tally->bytes, bytes),
			  tally->bytes == 1 ? "" : "s");
	lines_add(&report->lines, "%s %s", number_grouped(tally->calls, count),
		  report_noun(resource, tally->calls, &report->name));
}

void report_add_growth(struct report *report, const struct profile_resource *resource, const struct tally *growth)
{
	const bool is_less = growth->calls > INT64_MAX;
	const uint64_t number = is_less ? -growth->calls : growth->calls;
	char bytes[32], count[32];

	if (report_has_bytes(resource))
		lines_add(&report->lines, "+%s byte%s, ", number_grouped(growth->bytes, bytes),
			  growth->bytes == 1 ? "" : "s");
	lines_add(&report->lines, "%c%s %s", is_less ? '-' : '+', number_grouped(number, count),
		  report_noun(resource, number, &report->name));
}

/* Limits a number to three digits before the point, because %.3g prints a longer one with an exponent. */
static double limit_to_999(double number)
{
	return number > 999 ? 999 : number;
}

const char *report_span_text(const struct report *report, uint64_t since, char text[static 32])
{
	const double ns = (double)since;

	if (!report->profile->has_times)
		snprintf(text, 32, "%" PRIu64 " call%s", since, since == 1 ? "" : "s");
	else if (!since)
		snprintf(text, 32, "0 s");
	else if (since < 1000)
		snprintf(text, 32, "%" PRIu64 " ns", since);
	else if (since < NS_PER_SECOND)
		snprintf(text, 32, "%.3g %s", limit_to_999(since < 1000000 ? ns / 1e3 : ns / 1e6),
			 since < 1000000 ? "us" : "ms");
	else if (ns < 600e9)
		snprintf(text, 32, "%.*f s", ns < 10e9 ? 3 : 1, ns / 1e9);
	else if (ns < 36000e9)
		snprintf(text, 32, "%.1f min", ns / 60e9);
	else
		snprintf(text, 32, "%.1f h", ns / 3600e9);
	return text;
}

void report_add_share(struct report *report, uint64_t value, uint64_t whole)
{
	lines_add(&report->lines, "%5.1f %%", whole ? 100.0 * (double)value / (double)whole : 0);
}

static bool is_start(const struct profile_frame *frame)
{
	return frame->function && word_find(starts, ARRAY_SIZE(starts), frame->function) < ARRAY_SIZE(starts);
}

uint32_t report_frame_count(const struct profile_group *group)
{
	uint32_t count = group->frame_count;

	/* In a stripped program, the function _start has no name. */
	if (count > 1 && !group->frames[count - 1]->function && is_start(group->frames[count - 2]))
		count--;
	while (count && is_start(group->frames[count - 1]))
		count--;
	/* If only functions that start a program or thread are in the stack, show them. */
	return count ? count : group->frame_count;
}

void report_add_frame(struct report *report, const struct profile_frame *frame)
{
	struct lines *lines = &report->lines;

	report->name.size = 0;
	pretty_frame_name(&report->name, frame);
	lines_colour(lines, COLOUR_FUNCTION);
	lines_add_name(lines, buf_str(&report->name));
	lines_colour(lines, COLOUR_PLACE);
	if (frame->file && frame->line)
		lines_add(lines, " at %s:%u", path_name(frame->file), frame->line);
	else if (frame->file)
		lines_add(lines, " at %s", path_name(frame->file));
	else if (frame->module)
		lines_add(lines, " from %s", path_name(frame->module));
	if (frame->inlined)
		lines_add(lines, " (inlined)");
}
