#include "config.h"
#include "postproc/postproc_views.h"
#include "analysis/stream.h"
#include "base/msg.h"
#include "base/shell_quote.h"
#include "profile/compared.h"
#include "profile/profile_stage.h"
#include "profile/profile_trim.h"
#include "report/terminal_lines.h"
#include "report/html/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool views_begin(struct views *views, const struct postproc_options *options)
{
	*views = (struct views){.options = options};
	if (view_options_want_all(&options->views))
		views->profile = profile_new();
	for (size_t i = 0; i < options->views.suppression_count; i++)
		if (!suppressions_read(&views->suppressions, options->views.suppressions[i]))
			return false;
	if (!options->views.no_own_suppressions)
		suppressions_add_own(&views->suppressions);
	return true;
}

struct stage *views_stage(struct views *views, struct names *names, const struct trace_clock *clock,
			  const struct output_target *target)
{
	const struct view_options *options = &views->options->views;

	if (!views->profile) {
		struct export_options export_options = options->export_options;

		export_options.names = names;
		export_options.clock = clock;
		return export_stage_new(options->export, &export_options, target);
	}
	const struct profile_stage_options stage = {
		.profile = views->profile,
		.names = names,
		.is_old = views->reads_old,
		.wishes = options->wishes,
		.clock = clock,
	};

	return profile_stage_new(&stage);
}

static bool has_scan(const struct profile *profile)
{
	for (size_t i = 0; i < profile->resource_count; i++)
		if (profile->resources[i]->scanned)
			return true;
	return false;
}

static int write_export(void *context, FILE *out)
{
	struct views *views = context;
	const struct view_options *options = &views->options->views;

	if (options->export->is_weighted && options->export_options.weight == WEIGHT_LOST && !has_scan(views->profile))
		msg_warn("--weight=lost: no trace has a scan, which finds the lost blocks; trace with --scan or "
			 "--report, which scan when the process ends");
	return options->export->write(views->profile, &options->export_options, out);
}

/* Appends the options that select calls, as words for a shell. is_of_groups: if true, also appends those that select
 * groups. */
static void add_selection(const struct views *views, bool is_of_groups, struct buf *out)
{
	const struct postproc_filters *filters = &views->options->filters;

	buf_add_str(out, out->size && filters->words.size ? " " : "");
	buf_add(out, filters->words.data, filters->words.size);
	if (is_of_groups && filters->min_count)
		buf_printf(out, "%s--min-count=%" PRIu32, out->size ? " " : "", filters->min_count);
}

/* Sets report->again and report->again_after to the words of a command that makes the same report. If --again gave
 * functrace's command line, the command is functrace with this line. Else it is functrace-postproc with the same
 * inputs, and with the options that choose how they are read and what is selected; but if an input is standard input,
 * sets nothing. options_text: memory for the text of again_after. */
static void words_again(const struct views *views, struct report_options *report, struct buf *options_text)
{
	const struct postproc_options *options = views->options;
	const char *const own = options->views.again, *const alone =
							      views->sequence ? views->sequence->input_name : NULL;

	if (!own) {
		buf_add(options_text, options->views.reading.data, options->views.reading.size);
		add_selection(views, true, options_text);
	}
	for (size_t i = 0; !own && i < options->reading.input_count; i++) {
		if (!strcmp(options->reading.inputs[i], "-"))
			return;
		if (alone && strcmp(options->reading.inputs[i], alone) != 0)
			continue;
		buf_add_str(options_text, options_text->size ? " " : "");
		shell_quote_add_path(options_text, options->reading.inputs[i]);
	}
	report->again = own ? "functrace" : "functrace-postproc";
	report->again_after = own ? own : buf_str(options_text);
}

/* Writes the report. lines_columns() and lines_want_colours() return 0 and false if `out` is no terminal. */
static int write_report(void *context, FILE *out)
{
	struct views *views = context;
	struct report_options options = views->options->views.report_options;
	struct buf options_text = {0}, selection = {0};

	add_selection(views, true, &selection);
	options.min_count = views->options->filters.min_count;
	options.selection = buf_str(&selection);
	options.sysroot = views->options->names.sysroot;
	options.columns = lines_columns(out);
	options.colours = lines_want_colours(out);
	options.again_after = "";
	options.is_kept = !views->options->views.again;
	words_again(views, &options, &options_text);
	report_write(views->profile, &options, out);
	buf_free(&selection);
	buf_free(&options_text);
	return 0;
}

static int write_page(void *context, FILE *out)
{
	struct views *views = context;
	struct buf selection = {0};

	add_selection(views, false, &selection);
	const struct page_options options = {.sysroot = views->options->names.sysroot,
					     .selection = buf_str(&selection)};
	const int error = page_write(views->profile, &options, out);

	buf_free(&selection);
	return error;
}

/* Returns false after a message if the time in --diff=@T is after the end of all traces, because then there is no
 * growth to show. */
static bool check_mark(const struct views *views)
{
	const struct account *longest = NULL;

	for (size_t i = 0; i < views->profile->process_count; i++) {
		const struct account *account = views->profile->processes[i].account;

		if (!account->wishes.has_mark || !account->events || account->wishes.mark <= account->last.since)
			return true;
		if (!longest || account->last.since > longest->last.since)
			longest = account;
	}
	if (!longest)
		return true;
	struct buf text = {0};

	clock_add_time(&text, longest->has_times, longest->last.since);
	msg_error("--diff=%s: the %s ends after %s", views->options->views.mark,
		  views->profile->process_count > 1 ? "longest trace" : "trace", buf_str(&text));
	buf_free(&text);
	return false;
}

bool views_write(struct views *views)
{
	const struct postproc_options *options = views->options;
	const struct output_target target = {.path = options->writing.output, .input = -1, .sequence = views->sequence};
	const struct output_target page = {
		.path = options->views.html, .input = -1, .sequence = views->sequence, .option = "--html"};
	const struct export *export = options->views.export;
	int error = 0;

	if (!views->profile)
		return true;
	profile_end(views->profile);
	suppressions_apply(&views->suppressions, views->profile);
	if (options->prepare.trim)
		profile_trim(views->profile, options->prepare.depth);
	const struct account *const first = profile_first_account(views->profile);

	if (!first)
		return true;
	if (!check_mark(views))
		return false;
	if (options->views.report)
		error = stream_to_target(&target, first->pid, ".report.txt", write_report, views);
	if (!error && options->views.html)
		error = stream_to_target(&page, first->pid, ".html", write_page, views);
	if (!error && export)
		error = stream_to_target(&target, first->pid, export->suffix, write_export, views);
	return !error;
}

bool views_found_leaks(const struct views *views)
{
	const struct report_options options = {.min_count = views->options->filters.min_count};

	return views->profile && report_has_leaks(views->profile, &options);
}

bool views_know_nothing(const struct views *views)
{
	for (size_t i = 0; views->profile && i < views->profile->resource_count; i++) {
		const struct profile_resource *resource = views->profile->resources[i];

		/* If allocations were traced, those without a release are the leaks, even if the heap could not be
		 * scanned. */
		if (!resource->unscanned_reason || resource->scanned || resource->allocated.calls)
			continue;
		msg_error("--error-exitcode cannot tell whether there are leaks: the lost blocks of %s are unknown: %s",
			  resource->unscanned_process, resource->unscanned_reason);
		return true;
	}
	return false;
}

void views_free(struct views *views)
{
	if (views->profile)
		profile_free(views->profile);
	suppressions_free(&views->suppressions);
}
