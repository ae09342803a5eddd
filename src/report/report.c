#include "config.h"
#include "report/report.h"
#include "report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* So many processes and notes are named. */
enum { PROCESSES_SHOWN = 5, NOTES_SHOWN = 5 };

static const char *const view_names[] = {
	[REPORT_LEAKS] = "leaks",         [REPORT_PEAK] = "peak", [REPORT_ALLOCATED] = "allocated",
	[REPORT_TEMPORARY] = "temporary", [REPORT_SIZE] = "size", [REPORT_THREAD] = "thread",
	[REPORT_OBJECT] = "object",
};

static const char *const view_titles[] = {
	[REPORT_LEAKS] = "alive at the end, by stack",
	[REPORT_PEAK] = "alive at the peak, by stack",
	[REPORT_ALLOCATED] = "all that was allocated, by stack",
	[REPORT_TEMPORARY] = "released before anything else was allocated, by stack",
	[REPORT_SIZE] = "by size",
	[REPORT_THREAD] = "by thread",
	[REPORT_OBJECT] = "by object",
};

bool report_view_parse(const char *text, enum report_view *view)
{
	for (size_t i = 0; i < ARRAY_SIZE(view_names); i++)
		if (!strcmp(text, view_names[i])) {
			*view = (enum report_view)i;
			return true;
		}
	return false;
}

static void add_label(struct report *report, const char *label)
{
	lines_colour(&report->lines, COLOUR_TITLE);
	lines_add(&report->lines, "%-12s", label);
	lines_colour(&report->lines, COLOUR_NONE);
}

static void write_process(struct report *report, const struct profile_process *process)
{
	const struct account *account = process->account;

	add_label(report, process->is_old ? "compared to" : "program");
	lines_add_name(&report->lines, account->command ? account->command : account->name);
	if (account->has_pid)
		lines_add(&report->lines, ", process %" PRIu32, account->pid);
	if (account->is_attached)
		lines_add(&report->lines, ", attached to while it ran");
	lines_end(&report->lines);
}

static void write_processes(struct report *report)
{
	const struct profile *profile = report->profile;
	size_t shown = 0;

	for (size_t i = 0; i < profile->process_count && shown < PROCESSES_SHOWN; i++, shown++)
		write_process(report, &profile->processes[i]);
	if (profile->process_count > shown) {
		add_label(report, "");
		LINE(&report->lines, "and %zu more processes", profile->process_count - shown);
	}
}

static void write_times(struct report *report)
{
	const struct profile *profile = report->profile;
	const time_t begin = (time_t)profile->begin_sec;
	char span[32], clock[64], events[32];
	struct tm tm;

	add_label(report, "traced");
	if (begin > 0 && gmtime_r(&begin, &tm) && strftime(clock, sizeof(clock), "%Y-%m-%d %H:%M:%S", &tm))
		lines_add(&report->lines, "from %s UTC on, ", clock);
	lines_add(&report->lines, "%s event%s", number_grouped(profile->events, events),
		  profile->events == 1 ? "" : "s");
	/* How long was traced no trace says, only when its first and its last event were. */
	if (profile->has_times && profile->end_since)
		lines_add(&report->lines, " within %s",
			  profile->end_since < 500000 ? "1 ms" : report_span_text(report, profile->end_since, span));
	lines_end(&report->lines);
}

static void write_filters(struct report *report)
{
	if (!report->options.filters)
		return;
	add_label(report, "only");
	lines_add_name(&report->lines, report->options.filters);
	lines_end(&report->lines);
}

static void write_count(struct report *report, uint64_t part, const char *what)
{
	char count[32];

	add_label(report, "not seen");
	lines_add(&report->lines, "%s %s", number_grouped(part, count), what);
	lines_end(&report->lines);
}

static void write_unseen(struct report *report)
{
	const struct profile *profile = report->profile;
	uint64_t unknown = 0, reused = 0;
	size_t notes = 0;

	for (size_t i = 0; i < profile->resource_count; i++) {
		unknown += profile->resources[i]->unknown_releases;
		reused += profile->resources[i]->reused;
	}
	if (unknown)
		write_count(report, unknown, "allocation(s) of what was released: older than the trace");
	if (reused)
		write_count(report, reused, "release(s): the same address was allocated again");
	if (profile->cut)
		write_count(report, profile->cut, "stack(s) to the end: they are deeper than -b");
	if (profile->lost)
		write_count(report, profile->lost, "stack(s) to the end: they could not be followed");
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *account = profile->processes[p].account;

		for (size_t i = 0; i < account->note_count && notes < NOTES_SHOWN; i++, notes++) {
			add_label(report, "note");
			lines_add_name(&report->lines, account->notes[i]);
			lines_end(&report->lines);
		}
	}
}

/* What a scan at the end has found of what is alive. */
static void write_lost(struct report *report, const struct profile_resource *resource)
{
	static const char *const words[] = {
		[LOST_DEFINITELY] = "definitely lost: no pointer leads to them",
		[LOST_INDIRECTLY] = "indirectly lost: only what is lost leads to them",
		[LOST_POSSIBLY] = "possibly lost: pointers into the midst of them",
	};
	struct tally reachable = {resource->live.calls - resource->not_scanned.calls,
				  resource->live.bytes - resource->not_scanned.bytes};

	if (resource->unknown) {
		add_label(report, "");
		lines_add(&report->lines, "of ");
		lines_add_name(&report->lines, resource->unscanned);
		lines_add(&report->lines, " it is not known what is lost: ");
		lines_add_name(&report->lines, resource->unknown);
		lines_end(&report->lines);
	}
	for (unsigned i = 0; i < LOST_KINDS && resource->scanned; i++) {
		reachable.calls -= resource->lost[i].calls;
		reachable.bytes -= resource->lost[i].bytes;
		if (!resource->lost[i].calls && i != LOST_DEFINITELY)
			continue;
		add_label(report, "");
		lines_add(&report->lines, "  ");
		report_add_tally(report, resource, &resource->lost[i]);
		lines_add(&report->lines, " %s", words[i]);
		lines_end(&report->lines);
	}
	if (!resource->scanned)
		return;
	add_label(report, "");
	lines_add(&report->lines, "  ");
	report_add_tally(report, resource, &reachable);
	lines_add(&report->lines, " still reachable");
	lines_end(&report->lines);
	if (!resource->not_scanned.calls)
		return;
	add_label(report, "");
	lines_add(&report->lines, "  ");
	report_add_tally(report, resource, &resource->not_scanned);
	lines_add(&report->lines, " in processes that were not looked through");
	lines_end(&report->lines);
}

/* What a census has found, of what the line before counts. */
static void write_before(struct report *report, const struct profile_resource *resource, const struct tally *before,
			 const char *words)
{
	if (!before->calls)
		return;
	add_label(report, "");
	lines_add(&report->lines, "  ");
	report_add_tally(report, resource, before);
	lines_add(&report->lines, " %s", words);
	lines_end(&report->lines);
}

static void write_totals(struct report *report, const struct profile_resource *resource)
{
	struct lines *lines = &report->lines;
	char number[32], when[32];

	add_label(report, resource->type);
	if (resource->flags & RESOURCE_CALL) {
		report_add_tally(report, resource, &resource->others);
		lines_end(lines);
		return;
	}
	report_add_tally(report, resource, &resource->allocated);
	lines_add(lines, " allocated, %s released", number_grouped(resource->releases, number));
	lines_end(lines);
	write_before(report, resource, &resource->before, "of these before the trace began");
	add_label(report, "");
	lines_colour(lines, COLOUR_FIGURE);
	report_add_tally(report, resource, &resource->live);
	lines_colour(lines, COLOUR_NONE);
	lines_add(lines, " alive at the end");
	lines_end(lines);
	write_before(report, resource, &resource->before_live,
		     resource->scanned ? "of these from before the trace began"
				       : "of these from before the trace began: no leaks");
	write_lost(report, resource);
	add_label(report, "");
	report_add_tally(report, resource, &resource->peak);
	if (!resource->peak.calls)
		lines_add(lines, " at the peak");
	else if (report->profile->process_count == 1)
		lines_add(lines, " at the peak, after %s", report_span_text(report, resource->peak_since, when));
	else
		lines_add(lines, " at the peaks of all processes together");
	lines_end(lines);
	if (!resource->temporary.calls)
		return;
	add_label(report, "");
	report_add_tally(report, resource, &resource->temporary);
	lines_add(lines, " temporary: %.1f %% of the %s",
		  100.0 * (double)resource->temporary.calls / (double)resource->allocated.calls,
		  report_noun(resource, resource->allocated.calls, &report->name));
	lines_end(lines);
}

static void write_view_title(struct report *report, const struct profile_resource *resource)
{
	LINE(&report->lines, "%s", "");
	lines_colour(&report->lines, COLOUR_TITLE);
	lines_add(&report->lines, "%s: %s", resource->type,
		  report->profile->has_old          ? "what grew, by stack"
		  : report->options.picks           ? "alive at the end and chosen by time, by stack"
		  : resource->flags & RESOURCE_CALL ? "calls, by stack"
		  : resource->scanned && report->options.view == REPORT_LEAKS ? "lost, by stack"
									      : view_titles[report->options.view]);
	lines_end(&report->lines);
}

static void write_view(struct report *report, const struct profile_resource *resource)
{
	const struct tally whole = report_whole(report, resource);

	if (report->options.view == REPORT_LEAKS && resource->flags & RESOURCE_CALL)
		return;
	write_view_title(report, resource);
	if (report->profile->has_old)
		report_growth(report, resource);
	else if (report->options.view == REPORT_SIZE)
		report_sizes(report, resource);
	else if (report->options.view == REPORT_THREAD)
		report_threads(report, resource);
	else if (report->options.view == REPORT_OBJECT)
		report_objects(report, resource);
	else if (!whole.calls)
		LINE(&report->lines, resource->scanned && report->options.view == REPORT_LEAKS ? "     Nothing is lost."
											       : "     Nothing.");
	else if (report->options.tree)
		report_tree(report, resource);
	else
		report_groups(report, resource);
	if (!report->profile->has_old)
		report_left_out(report, resource);
}

void report_write(const struct profile *profile, const struct report_options *options, FILE *out)
{
	struct report report = {
		.profile = profile,
		.options = *options,
		.lines = {.out = out, .columns = options->columns, .colours = options->colours},
		.sources = {.sysroot = options->sysroot},
	};

	write_processes(&report);
	write_times(&report);
	write_filters(&report);
	write_unseen(&report);
	for (size_t i = 0; i < profile->resource_count; i++)
		write_totals(&report, profile->resources[i]);
	for (size_t i = 0; i < profile->resource_count; i++)
		write_view(&report, profile->resources[i]);
	if (!profile->resource_count)
		LINE(&report.lines, "The trace has no events.");
	if (options->view == REPORT_LEAKS && !profile->has_old) {
		report_suppressed(&report);
		if (options->gen_suppressions)
			report_gen_suppressions(&report);
	}
	sources_free(&report.sources);
	buf_free(&report.name);
	buf_free(&report.lines.line);
}
