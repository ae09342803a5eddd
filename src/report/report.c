#include "config.h"
#include "report/report.h"
#include "report/report_parts.h"

#include <inttypes.h>
#include <string.h>

/* Writes an indented line about a part of the resources that an earlier line is about. */
static void write_part(struct report *report, const struct profile_resource *resource, const struct tally *part,
		       const char *words)
{
	report_add_label(report, "");
	lines_add(&report->lines, "  ");
	report_add_tally(report, resource, part);
	lines_add(&report->lines, " %s", words);
	lines_end(&report->lines);
}

static void write_if_any(struct report *report, const struct profile_resource *resource, const struct tally *part,
			 const char *words)
{
	if (part->calls)
		write_part(report, resource, part, words);
}

/* Writes how many live blocks are lost or reachable according to scans. */
static void write_lost(struct report *report, const struct profile_resource *resource)
{
	static const char *const words[] = {
		[LOST_DEFINITELY] = "definitely lost: no pointer leads to them",
		[LOST_INDIRECTLY] = "indirectly lost: only lost blocks lead to them",
		[LOST_POSSIBLY] =
			"possibly lost: reached only through an interior pointer, or perhaps from memory not copied",
	};
	struct tally reachable = resource->live;

	tally_subtract(&reachable, &resource->not_scanned);
	tally_subtract(&reachable, &resource->since_scan);
	if (resource->unscanned_reason) {
		report_add_label(report, "");
		lines_add(&report->lines, "the lost blocks of ");
		lines_add_name(&report->lines, resource->unscanned_process);
		lines_add(&report->lines, " are unknown: ");
		lines_add_name(&report->lines, resource->unscanned_reason);
		lines_end(&report->lines);
	}
	for (unsigned i = 0; i < LOST_KINDS && resource->scanned; i++) {
		tally_subtract(&reachable, &resource->lost[i]);
		if (resource->lost[i].calls || i == LOST_DEFINITELY)
			write_part(report, resource, &resource->lost[i], words[i]);
	}
	if (!resource->scanned)
		return;
	write_part(report, resource, &reachable, "still reachable");
	write_if_any(report, resource, &resource->since_scan, "allocated after the scan");
	write_if_any(report, resource, &resource->not_scanned, "in processes that were not scanned");
}

static void report_write_totals(struct report *report, const struct profile_resource *resource)
{
	struct lines *lines = &report->lines;
	char number[32], when[32];

	if (profile_has_intervals(report->profile)) {
		report_estimated_totals(report, resource);
		return;
	}
	report_add_label(report, resource->type);
	if (resource->flags & RESOURCE_CALL) {
		report_add_tally(report, resource, &resource->others);
		lines_end(lines);
		return;
	}
	report_add_tally(report, resource, &resource->allocated);
	lines_add(lines, " allocated, %s released", number_grouped(resource->releases, number));
	lines_end(lines);
	write_if_any(report, resource, &resource->before, "of these from before the trace");
	report_add_label(report, "");
	lines_colour(lines, COLOUR_FIGURE);
	report_add_tally(report, resource, &resource->live);
	lines_colour(lines, COLOUR_NONE);
	lines_add(lines, " alive at the end");
	lines_end(lines);
	write_if_any(report, resource, &resource->before_live,
		     resource->scanned || !is_heap_type(resource->type)
			     ? "of these from before the trace began"
			     : "of these from before the trace began: unknown whether lost; trace with --scan");
	write_lost(report, resource);
	report_add_label(report, "");
	report_add_tally(report, resource, &resource->peak);
	if (!resource->peak.calls)
		lines_add(lines, " at the peak");
	else if (profile_new_count(report->profile) == 1)
		lines_add(lines, " at the peak, after %s", report_span_text(report, resource->peak_since, when));
	else
		lines_add(lines, " at the peaks of the processes, added up");
	lines_end(lines);
	if (!resource->temporary.calls)
		return;
	report_add_label(report, "");
	report_add_tally(report, resource, &resource->temporary);
	lines_add(lines, " temporary: %.1f %% of the %s",
		  100.0 * (double)resource->temporary.calls / (double)resource->allocated.calls,
		  report_noun(resource, resource->allocated.calls, &report->name));
	lines_end(lines);
}

static void write_title(struct report *report, const struct profile_resource *resource, const char *title)
{
	LINE(&report->lines, "%s", "");
	lines_colour(&report->lines, COLOUR_TITLE);
	lines_add(&report->lines, "%s: %s", resource->type, title);
	lines_end(&report->lines);
}

static void write_section(struct report *report, const struct profile_resource *resource)
{
	const struct report_section *section = report->section;
	const bool has_old = report->profile->has_old, is_call = resource->flags & RESOURCE_CALL;
	const bool has_any = report_sum(report, resource).calls;

	if (!has_any && !(has_old ? section->grown : section->nothing) && !report_whole(report, resource).calls)
		return;
	write_title(report, resource, has_old ? section->grown : is_call ? "calls, by stack" : section->title);
	if (report->options.tree && has_any)
		report_tree(report, resource);
	else
		report_groups(report, resource);
	/* If the section leaves out groups, it would be wrong to say that there is nothing. */
	if (!report_left_out(report, resource, has_any) && !has_any)
		LINE(&report->lines, "     %s", has_old ? "No group has grown." : section->nothing);
	if (has_old)
		report_uncompared(report, resource);
}

static void write_view(struct report *report, const struct profile_resource *resource)
{
	const struct report_view *view = report->options.view;
	/* Growth is shown for all live blocks, lost or not. */
	const struct report_section *const *sections =
		resource->scanned && !report->profile->has_old ? view->scanned : view->sections;

	if (view->is_of_blocks && resource->flags & RESOURCE_CALL)
		return;
	if (view->table) {
		write_title(report, resource, view->title);
		view->table(report, resource);
	}
	for (; sections && *sections; sections++) {
		report->section = *sections;
		write_section(report, resource);
	}
}

void report_write(const struct profile *profile, const struct report_options *options, FILE *out)
{
	struct report report = {
		.profile = profile,
		.options = *options,
		.lines = {.out = out, .columns = options->columns, .colours = options->colours},
		.sources = {.sysroot = options->sysroot},
	};

	if (!report.options.view)
		report.options.view = report_view_default();
	report_head(&report);
	for (size_t i = 0; i < profile->resource_count; i++)
		report_write_totals(&report, profile->resources[i]);
	for (size_t i = 0; i < profile->resource_count; i++)
		write_view(&report, profile->resources[i]);
	if (!profile->resource_count)
		LINE(&report.lines, "The trace has no events.");
	if (report.options.view->has_next && !profile->has_old) {
		report_suppressed(&report);
		if (options->gen_suppressions)
			report_gen_suppressions(&report);
		else
			report_next(&report);
	}
	sources_free(&report.sources);
	buf_free(&report.name);
	buf_free(&report.lines.line);
}
