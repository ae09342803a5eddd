#include "config.h"
#include "postproc/postproc_checks.h"
#include "base/msg.h"
#include "cli/conflicts.h"
#include "cli/named_files.h"
#include "report/html/page.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool postproc_checks_is_file(const char *path)
{
	return path && !path_is_folder(path);
}

/* Returns the suffix of `path` if it means compression, but the file will not be compressed; else NULL. Some tools
 * silently treat plain text in a file.gz as an empty file. A binary export (pprof) is gzip data itself, so .gz is right
 * for it. */
static const char *wrong_suffix(const struct postproc_options *options, const char *path)
{
	const struct export *const export = options->views.export;
	const enum packing packing = postproc_checks_is_file(path) ? packing_of_path(path) : PACKING_NONE;
	const bool is_gzip = path == options->writing.output && export && export->is_binary;

	return !packing || (packing == PACKING_GZIP && is_gzip) ? NULL : packing_suffix(packing);
}

static bool is_terminal(const char *output)
{
	return output && strcmp(output, "-") ? path_is_terminal(output) : isatty(STDOUT_FILENO);
}

static size_t streams(const struct postproc_options *options)
{
	size_t count = 0;

	for (size_t i = 0; i < options->reading.input_count; i++)
		count += !strcmp(options->reading.inputs[i], "-");
	return count;
}

/* Returns true if the outputs of several traces can be written to one file, one after the other. */
static bool is_in_lines(const struct postproc_options *options)
{
	return !options->views.export && !options->writing.packing && !options->expand_events &&
	       (options->stats || options->dump || postproc_wants_mpatrol(options) ||
		encoding_can(options->writing.output_encoding, ENCODING_COMMENT));
}

static const struct conflict view_conflicts[] = {
	{"--interval --count", NEEDS, "--live", "--interval and --count apply only to the live view; add --live"},
	{"--live", EXCLUDES, "--report export",
	 "--live does not go with --report or -f; 'r' in the view writes a report"},
	{"not-live", EXCLUDES, "",
	 "{not-live} has no effect on --live, which shows all live resources of a process; leave it out"},
	{"--tree --top --gen-suppressions", NEEDS, "--report --live",
	 "--tree, --top and --gen-suppressions apply only to the report; add --report"},
	{"--tree", NEEDS, "stacks",
	 "--tree needs stacks, which the views leaks, alive, peak, allocated and temporary show"},
	{"--top", NEEDS, "top-view", "--top has no effect on the view size, which shows all sizes; leave it out"},
	{"--gen-suppressions", NEEDS, "leaks-view",
	 "--gen-suppressions is for the view of leaks, which --report shows without another view's name"},
	{"--gen-suppressions", EXCLUDES, "--diff",
	 "--gen-suppressions writes entries for leaks, and --diff shows growth; leave one of them out"},
	{"--suppressions --no-default-suppressions", NEEDS, "-l --report export-of-leaks",
	 "--suppressions and --no-default-suppressions apply only to leaks; add {shows-leaks}"},
	{"--diff", NEEDS, "view-at-end",
	 "--diff applies only to the report, the page and files for other tools; add --report, --html or -f"},
	{"--diff", EXCLUDES, "weight-lost",
	 "--diff cannot compare lost blocks, which are known only for the end of a trace; give another weight than "
	 "--weight=lost"},
	{"--diff", EXCLUDES, "compares-not",
	 "-f "
	 "{export}"
	 " has no place for growth; --diff goes with -f "
	 "{comparing}"
	 ", --report and --html"},
};

static const struct conflict conflicts[] = {
	{"--html", EXCLUDES, "export-streams",
	 "-f "
	 "{export}"
	 " is written while the trace is read, a page (--html) after that; run functrace-postproc "
	 "twice"},
	{"html-taken", EXCLUDES, "", "--html would replace {--html}, which is no page; give --html another file"},
	{"--weight", NEEDS, "weighted",
	 "--weight is for a format that holds one figure of each stack, like -f collapsed"},
	{"compat", NEEDS, "has-compat",
	 "the format {format} has no sp-rtrace dialect; the formats that have one are {compat-formats}"},
	{"--cycle-size", NEEDS, "has-cycles",
	 "the format {format} has no write cycles; give --cycle-size with -f {cycle-formats}"},
	{"-s", NEEDS, "-c", "-s orders groups; add -c"},
	{"--show-leak-kinds", NEEDS, "-l", "--show-leak-kinds chooses the blocks that -l shows; add -l"},
	{"exitcode", NEEDS, "-l --report", "--error-exitcode is for leaks; add {leaks}"},
	{"view", EXCLUDES, "--stats -l -c format-chosen --dump --mpatrol-table --hatf-file --sim-file",
	 "--report, --html and files for other tools are made of the whole trace; they do not go with -l, -c, --stats, "
	 "--dump or another format"},
	{"--older --between", NEEDS, "-l view",
	 "--older and --between select resources that are alive at the end; add {leaks}, --html or -f of a file for "
	 "other tools"},
	{"--min-count", NEEDS, "-l --report",
	 "--min-count counts the allocations of groups, which -l and --report make; add one of them"},
	{"--min-count", NEEDS, "stacks",
	 "--min-count needs stacks, which the views leaks, alive, peak, allocated and temporary show"},
	{"filters", EXCLUDES, "--live --dump --expand-events",
	 "filters of allocations do not go with --live, --dump and --expand-events"},
	{"--separate", NEEDS, "view-of-all",
	 "--separate applies only to --report, --html and files for other tools; other output is per trace anyway"},
	{"--report", EXCLUDES, "export", "--report is text; it does not go with -f"},
	{"--stats", EXCLUDES, "-l -c format-chosen",
	 "--stats is shown instead of a trace; it does not go with -l, -c or -f"},
	{"--mpatrol-table --hatf-file --sim-file", EXCLUDES, "--stats -l -c format-chosen",
	 "--mpatrol-table, --hatf-file and --sim-file are written instead of a trace; they do not go with --stats, -l, "
	 "-c or -f"},
	{"--dump", EXCLUDES, "--stats -l -c format-chosen",
	 "--dump is shown instead of a trace; it does not go with --stats, -l, -c or -f"},
	{"dump-look", NEEDS, "--dump", "--cpus and --devices apply only to --dump; add --dump"},
	{"view", EXCLUDES, "-z",
	 "only traces are compressed; --report and files for other tools are not: leave out -z"},
	{"output-suffix", EXCLUDES, "",
	 "only traces are compressed, and {-o} is no trace: give -o a name without {output-suffix}, and compress "
	 "the file afterwards"},
	{"html-suffix", EXCLUDES, "",
	 "only traces are compressed, and {--html} is no trace: give --html a name without {html-suffix}, and "
	 "compress the file afterwards"},
	{"packed-otherwise", EXCLUDES, "",
	 "-z{-z}: the name after -o, {-o}, has the ending of another kind of compression"},
	{"packing-unknown", EXCLUDES, "", "-z{-z}: the kinds are zst and gz"},
	{"packed", EXCLUDES, "--stats --dump --expand-events --mpatrol-table --hatf-file --sim-file",
	 "only traces are compressed; give -o a name without {packed}, and no -z"},
	{"packed", EXCLUDES, "terminal",
	 "the output is a terminal, and a compressed trace is not text; give a file with -o"},
	{"binary", EXCLUDES, "terminal",
	 "the output is a terminal, and the format {binary} is not text; give a file with -o"},
	{"expand-look", NEEDS, "--expand-events",
	 "--well-formed and --compat=stacktrack-2005 apply only to the XML; add --expand-events"},
	{"--expand-events", EXCLUDES, "--stats -l -c format-chosen",
	 "--expand-events is shown instead of a trace; it does not go with --stats, -l, -c or -f"},
	{"no-input", EXCLUDES, "", "give the trace to read; - is standard input"},
	{"each-stream", EXCLUDES, "", "standard input can be read once; give - once"},
	{"each-input", EXCLUDES, "--follow", "--follow waits at the end of a trace, so only one can be given"},
	{"each-input", EXCLUDES, "html-file",
	 "--separate writes one page per trace, and a file holds one page; give --html a folder"},
	{"each-in-file", NEEDS, "folder lines", "a file of this format holds one trace; give a folder with -o"},
	{"each-in-file", EXCLUDES, "mpatrol-file",
	 "a file of --hatf-file or --sim-file holds one trace; give them a folder"},
	{"file-twice", EXCLUDES, "", "{file-twice}"},
};

/* With --live, adds as the fact "not-live" the first given option that has no effect on the live view. */
static void add_not_live(struct given *given, const struct postproc_options *o)
{
	static const char *const allowed[] = {
		"--live",    "--interval",   "--count",      "--top",    "--pid",          "-r",
		"--sysroot", "--debug-path", "--debuginfod", "-i",       "--input-format", "--raw-format",
		"--follow",  "-q",           "-d",           "--tracer", "--traces",       "--check-options"};

	for (size_t i = 0; o->views.live && i < given->count; i++) {
		const char *const name = given->facts[i].name;

		if (*name == '-' && word_find(allowed, ARRAY_SIZE(allowed), name) == ARRAY_SIZE(allowed)) {
			given_value(given, "not-live", name);
			return;
		}
	}
}

/* Adds facts about reports, the page and exports. */
static void add_views(struct given *given, const struct postproc_options *o)
{
	const struct view_options *const views = &o->views;
	const struct export *const export = views->export;
	const bool is_view = view_options_want(views);

	add_not_live(given, o);
	given_value(given, "export", export ? export->name : NULL);
	given_value(given, "comparing", export_names_that_compare());
	given_fact(given, "export-streams", export && !export->write);
	given_fact(given, "compares-not", export && !export->compares);
	given_fact(given, "weighted", export && export->is_weighted);
	given_fact(given, "weight-lost", export && views->export_options.weight == WEIGHT_LOST);
	given_fact(given, "stacks", report_view_has_stacks(views->report_options.view));
	given_fact(given, "top-view", report_view_has_top(views->report_options.view));
	given_fact(given, "leaks-view", report_view_has_leaks(views->report_options.view));
	given_fact(given, "export-of-leaks", export && export->has_leaks);
	given_fact(given, "view", is_view);
	given_fact(given, "view-at-end", is_view && !views->live);
	given_fact(given, "view-of-all", view_options_want_all(views));
	given_fact(given, "html-file", postproc_checks_is_file(views->html));
	given_fact(given, "html-taken", views->html && !page_may_replace(views->html));
	given_value(given, "html-suffix", wrong_suffix(o, views->html));
	given_value(given, "output-suffix", is_view ? wrong_suffix(o, o->writing.output) : NULL);
}

/* Adds facts about the output: a trace, or another output instead of a trace. */
static void add_output(struct given *given, const struct postproc_options *o)
{
	const struct encoding *const encoding = o->writing.output_encoding;
	const struct export *const export = o->views.export;
	const bool is_binary = encoding_can(encoding, ENCODING_BINARY) || (export && export->is_binary);

	given_value(given, "format", encoding_name(encoding));
	given_value(given, "binary", !is_binary ? NULL : export ? export->name : encoding_name(encoding));
	given_fact(given, "compat", o->writing.dialect == DIALECT_COMPAT);
	given_fact(given, "has-compat", encoding_can(encoding, ENCODING_COMPAT));
	given_fact(given, "has-cycles", encoding_can(encoding, ENCODING_CYCLES));
	given_value(given, "compat-formats", encoding_names(ENCODING_WRITE | ENCODING_COMPAT));
	given_value(given, "cycle-formats", encoding_names(ENCODING_WRITE | ENCODING_CYCLES));
	given_value(given, "packed", o->writing.packing ? packing_suffix(o->writing.packing) : NULL);
	given_fact(given, "terminal", is_terminal(o->writing.output));
	given_fact(given, "folder", o->writing.output && path_is_folder(o->writing.output));
	given_fact(given, "lines", is_in_lines(o));
	given_fact(given, "mpatrol-file",
		   postproc_checks_is_file(o->writing.hatf_path) || postproc_checks_is_file(o->writing.sim_path));
	given_fact(given, "expand-look", o->reading.expand.well_formed || o->reading.expand.pad_right);
}

static void postproc_checks_add_input(struct given *given, const struct postproc_options *o)
{
	const bool is_each = o->reading.input_count > 1 && (!view_options_want_all(&o->views) || o->views.separate);

	/* functrace runs this check with --check-options, and has no option -l. */
	given_value(given, "leaks", o->checks_only ? "--report" : "-l or --report");
	char *const shows_leaks = o->checks_only
					  ? xstrdup("--report")
					  : xasprintf("-l, --report, or -f with one of %s", export_names_with_leaks());

	given_value(given, "shows-leaks", shows_leaks);
	free(shows_leaks);
	given_fact(given, "exitcode", o->error_exitcode);
	given_fact(given, "dump-look", o->dump_options.cpus || o->dump_options.devices);
	given_fact(given, "filters", postproc_filters_want(&o->filters));
	given_fact(given, "no-input",
		   !o->reading.input_count && !o->show_format && !o->checks_only && isatty(STDIN_FILENO));
	given_fact(given, "each-input", is_each);
	given_fact(given, "each-stream", is_each && streams(o) > 1);
	/* Reports are text, so several of them can be in one file. Pages are not written to -o. */
	given_fact(given, "each-in-file", is_each && (!view_options_want_all(&o->views) || o->views.export));
}

/* Returns true if the options ask for an output that is written to -o (without -o: to standard output). Other outputs
 * have options with file names of their own. */
static bool postproc_checks_has_output(const struct postproc_options *o)
{
	if (view_options_want(&o->views))
		return o->views.report || o->views.export;
	return !postproc_wants_mpatrol(o) || o->mpatrol_table;
}

/* If an output is a file that is also read, or the file of another output, adds a message about this as the fact
 * "file-twice". */
static void postproc_checks_add_files(struct given *given, const struct postproc_options *o)
{
	struct named_files files = {0};

	for (size_t i = 0; i < o->reading.input_count; i++)
		named_files_add(&files, NULL, o->reading.inputs[i], false);
	if (!o->reading.input_count && !o->show_format && !o->checks_only)
		named_files_add(&files, NULL, "-", false);
	named_files_add(&files, "--diff", o->views.old, false);
	for (size_t i = 0; i < o->views.suppression_count; i++)
		named_files_add(&files, "--suppressions", o->views.suppressions[i], false);
	named_files_add(&files, "--include", o->reading.include_path, false);
	named_files_add(&files, "--exclude", o->reading.exclude_path, false);
	named_files_add(&files, "--raw-format", o->reading.layout_path, false);
	if (o->writing.output || postproc_checks_has_output(o))
		named_files_add(&files, "-o", o->writing.output ? o->writing.output : "-", true);
	named_files_add(&files, "--html", o->views.html, true);
	named_files_add(&files, "--hatf-file", o->writing.hatf_path, true);
	named_files_add(&files, "--sim-file", o->writing.sim_path, true);
	char *const words = named_files_clash(&files);

	given_value(given, "file-twice", words);
	free(words);
	named_files_free(&files);
}

static void postproc_checks_check(struct argp_state *state, const struct given *given, const struct conflict *rows,
				  size_t count)
{
	char *const text = conflict_find(rows, count, given);

	if (text)
		argp_error(state, "%s", text);
}

/* Sets options->packing; if -z is wrong, adds a fact about the error instead. Only traces are compressed, not views. */
static void set_packing(struct given *given, struct postproc_options *options)
{
	const char *const path = postproc_checks_is_file(options->writing.output) ? options->writing.output : NULL;

	if (view_options_want(&options->views))
		return;
	if (!options->writing.pack)
		options->writing.packing = path ? packing_of_path(path) : PACKING_NONE;
	else if (!packing_choose(path, options->writing.pack_kind, &options->writing.packing))
		given_fact(given, options->writing.packing ? "packed-otherwise" : "packing-unknown", true);
}

bool postproc_options_fit(const struct postproc_options *options, const struct encoding *encoding, const char *name)
{
	const struct view_options *const views = &options->views;
	const bool is_view = views->live || view_options_want_all(views);

	if (!encoding_can(encoding, ENCODING_ESTIMATES))
		return true;
	if (views->export && !strcmp(views->export->name, encoding_name(encoding)))
		msg_error("%s: these are rows already", name);
	else if (!is_view && views->export)
		msg_error("%s: -f %s needs calls, and rows are sums of stacks", name, views->export->name);
	else if (!is_view)
		msg_error("%s: rows are sums of stacks, not calls: show them with --report, --html, --live, or -f and "
			  "the format of another tool",
			  name);
	else if (options->filters.chooses_calls)
		msg_error("%s: rows are sums of stacks, not calls, so they cannot be filtered by %.*s", name,
			  (int)options->filters.words.size, (const char *)options->filters.words.data);
	else if (views->report && report_view_needs_calls(views->report_options.view))
		msg_error("%s: this view needs calls, and rows are sums of stacks; other views of --report are leaks, "
			  "alive, peak, allocated and object",
			  name);
	else
		return true;
	return false;
}

void postproc_options_check(struct argp_state *state, struct postproc_options *options)
{
	const struct export *const export = options->views.export;
	struct given *const given = &options->given;

	given_fact(given, "format-chosen", options->writing.output_encoding);
	if (!options->writing.output_encoding)
		options->writing.output_encoding = encoding_find(POSTPROC_FORMAT);
	set_packing(given, options);
	add_views(given, options);
	add_output(given, options);
	postproc_checks_add_input(given, options);
	postproc_checks_add_files(given, options);
	postproc_checks_check(state, given, view_conflicts, ARRAY_SIZE(view_conflicts));
	if (export && export->needs)
		argp_failure(state, EXIT_FAILURE, 0,
			     "this functrace-postproc was built without what -f %s needs: install %s (on Debian and "
			     "Ubuntu with apt-get), then configure and build functrace again",
			     export->name, export->needs);
	postproc_checks_check(state, given, conflicts, ARRAY_SIZE(conflicts));
	if (options->reading.input_encoding &&
	    !postproc_options_fit(options, options->reading.input_encoding,
				  options->checks_only ? "--watch" : "--input-format"))
		exit(EXIT_USAGE);
}
