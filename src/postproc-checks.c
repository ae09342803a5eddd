#include "config.h"
#include "postproc-checks.h"

#include <string.h>
#include <unistd.h>

static bool is_folder_or_none(const char *path)
{
	return !path || path_is_folder(path);
}

/* What does not go with several inputs. */
static void check_several(struct argp_state *state, const struct postproc_options *options)
{
	if (view_options_want_all(&options->views) && !options->views.each)
		return;
	const bool has_folder = options->output && path_is_folder(options->output);
	const bool has_lines =
		!options->views.export && (options->stats || options->dump || postproc_wants_mpatrol(options) ||
					   encoding_can(options->output_encoding, ENCODING_COMMENT));
	const bool has_views = view_options_want_all(&options->views);
	size_t streams = 0;

	for (size_t i = 0; i < options->input_count; i++)
		streams += !strcmp(options->inputs[i], "-");
	if (streams > 1)
		argp_error(state, "standard input can be read once; give - once");
	if (options->follow)
		argp_error(state, "--follow waits at the end of one trace; give one");
	if (options->views.html && !path_is_folder(options->views.html))
		argp_error(state, "--each makes a page of each trace, and several cannot stand in one file; give "
				  "--html a folder");
	/* A report is lines, a page has its own place. */
	if (has_views && !options->views.export)
		return;
	if (!has_folder && (!has_lines || options->packing || options->expand_events))
		argp_error(state, "several traces cannot stand in one file of this format; give a folder with -o");
	if (!is_folder_or_none(options->hatf_path) || !is_folder_or_none(options->sim_path))
		argp_error(state, "--hatf-file and --sim-file have a place for one trace; give them a folder");
}

/* Tools go by the name: plain text in a file.gz they take for nothing, and say nothing. pprof's own kind is gzip. */
static void check_view_name(struct argp_state *state, const char *option, const char *path, bool is_gzip)
{
	const enum packing packing = path && !path_is_folder(path) ? packing_of_path(path) : PACKING_NONE;

	if (packing && !(is_gzip && packing == PACKING_GZIP))
		argp_error(state,
			   "only traces are compressed, and %s would not be: give %s a name without %s, and compress "
			   "the file",
			   path, option, packing_suffix(packing));
}

/* Only what a writer writes is compressed. */
static void check_packing(struct argp_state *state, struct postproc_options *options)
{
	const char *const output = options->output;
	const char *const path = output && !path_is_folder(output) ? output : NULL;
	const char *const kind = options->pack_kind;

	/* Those for other tools have names that their tools know. */
	if (view_options_want(&options->views) && options->pack)
		argp_error(state,
			   "only traces are compressed; --report and files for other tools are not: leave out -z");
	if (view_options_want(&options->views)) {
		const struct export *const export = options->views.export;

		check_view_name(state, "-o", output, export && export->is_binary);
		check_view_name(state, "--html", options->views.html, false);
		return;
	}
	if (!options->pack)
		options->packing = path ? packing_of_path(path) : PACKING_NONE;
	else if (!packing_choose(path, kind, &options->packing) && options->packing)
		argp_error(state, "-z%s: the name after -o, %s, says another kind", kind, path);
	else if (!options->packing)
		argp_error(state, "-z%s: the kinds are zst and gz", kind);
	if (options->packing &&
	    (options->stats || options->dump || options->expand_events || postproc_wants_mpatrol(options)))
		argp_error(state, "only traces are compressed; give -o a name without %s, and no -z",
			   packing_suffix(options->packing));
}

/* What shows leaks. functrace, which asks by --check-options, has no -l. */
static const char *leak_options(const struct postproc_options *options)
{
	return options->checks_only ? "--report" : "-l or --report";
}

static void check_filters(struct argp_state *state, struct postproc_options *options)
{
	const struct view_options *views = &options->views;
	const struct filter_options *filter = &options->filters.filter;

	if (filter_options_want_alive(filter) && !options->leaks && !view_options_want(views))
		argp_error(
			state,
			"--older and --between are about what is alive at the end; add %s, --html or -f of a file for "
			"other tools",
			leak_options(options));
	if (options->filters.min_count && !options->leaks && !views->report)
		argp_error(state, "--min-count counts what the groups of -l and --report have; add one of them");
	if (options->filters.min_count && !report_view_has_stacks(views->report_options.view))
		argp_error(state,
			   "--min-count is about stacks; it goes with the views leaks, alive, peak, allocated and "
			   "temporary");
	if (postproc_filters_want(&options->filters) && (views->live || options->dump || options->expand_events))
		argp_error(state, "filters of allocations do not go with --live, --dump and --expand-events");
}

void postproc_options_check(struct argp_state *state, struct postproc_options *options)
{
	const bool other_format = options->output_encoding;

	if (!other_format)
		options->output_encoding = encoding_find(POSTPROC_FORMAT);
	if (options->dialect == DIALECT_COMPAT && !encoding_can(options->output_encoding, ENCODING_COMPAT))
		argp_error(state, "the format %s has no sp-rtrace dialect; those that have are %s",
			   encoding_name(options->output_encoding), encoding_names(ENCODING_WRITE | ENCODING_COMPAT));
	if (options->cycle_size && !encoding_can(options->output_encoding, ENCODING_CYCLES))
		argp_error(state, "the format %s has no write cycles; give --cycle-size with -f %s",
			   encoding_name(options->output_encoding), encoding_names(ENCODING_WRITE | ENCODING_CYCLES));
	if (options->sorted && !options->compress)
		argp_error(state, "-s orders groups; add -c");
	if (options->chooses_leak_kinds && !options->leaks)
		argp_error(state, "--show-leak-kinds says what -l shows; add -l");
	if (options->error_exitcode && !options->leaks && !options->views.report)
		argp_error(state, "--error-exitcode is for leaks; add %s", leak_options(options));
	if (view_options_want(&options->views) && (options->stats || options->leaks || options->compress ||
						   other_format || options->dump || postproc_wants_mpatrol(options)))
		argp_error(
			state,
			"--report, --html and files for other tools are made of the whole trace; they do not go with "
			"-l, -c, --stats, --dump or another format");
	check_filters(state, options);
	if (options->views.each && !view_options_want_all(&options->views))
		argp_error(state,
			   "--each is about --report, --html and files for other tools; all else is of each trace "
			   "anyway");
	if (options->views.report && options->views.export)
		argp_error(state, "--report is text; it does not go with -f");
	if (options->stats && (options->leaks || options->compress || other_format))
		argp_error(state, "--stats is shown instead of a trace; it does not go with -l, -c or -f");
	if (postproc_wants_mpatrol(options) && (options->stats || options->leaks || options->compress || other_format))
		argp_error(state, "--mpatrol-table, --hatf-file and --sim-file are written instead of a trace; they do "
				  "not go with --stats, -l, -c or -f");
	if (options->dump && (options->stats || options->leaks || options->compress || other_format))
		argp_error(state, "--dump is shown instead of a trace; it does not go with --stats, -l, -c or -f");
	if ((options->dump_options.cpus || options->dump_options.devices) && !options->dump)
		argp_error(state, "--cpus and --devices say what a message has; add --dump");
	const char *output = options->output;

	check_packing(state, options);
	const struct export *const export = options->views.export;

	if ((options->packing || encoding_can(options->output_encoding, ENCODING_BINARY) ||
	     (export && export->is_binary)) &&
	    (output && strcmp(output, "-") ? path_is_terminal(output) : isatty(STDOUT_FILENO)))
		argp_error(state, "the output is a terminal, and %s%s is not for people; give a file with -o",
			   options->packing ? "a compressed trace" : "the format ",
			   options->packing ? ""
			   : export         ? export->name
					    : encoding_name(options->output_encoding));
	if ((options->expand.well_formed || options->expand.pad_right) && !options->expand_events)
		argp_error(state, "--well-formed and --compat=stacktrack-2005 are for the XML; add --expand-events");
	if (options->expand_events && (options->stats || options->leaks || options->compress || other_format))
		argp_error(state,
			   "--expand-events is shown instead of a trace; it does not go with --stats, -l, -c or -f");
	if (!options->input_count && !options->show_format && !options->checks_only && isatty(STDIN_FILENO))
		argp_error(state, "give the trace to read; - is standard input");
	if (options->input_count > 1)
		check_several(state, options);
}
