#include "config.h"
#include "postproc-view-options.h"
#include "postproc-filter-options.h"
#include "base/msg.h"
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL_MIN 0.1

enum view_option {
	OPT_HTML = POSTPROC_OPT_REPORT + 1,
	OPT_EACH,
	OPT_TREE,
	OPT_TOP,
	OPT_DIFF,
	OPT_WEIGHT,
	OPT_SUPPRESSIONS,
	OPT_GEN_SUPPRESSIONS,
	OPT_NO_DEFAULT_SUPPRESSIONS,
	OPT_LIVE,
	OPT_INTERVAL,
	OPT_COUNT,
	OPT_TRACER,
	OPT_TRACES,
	OPT_AGAIN,
};

static const struct argp_option option_table[] = {
	{NULL, 0, NULL, 0, "What all of it comes to (several traces are taken together):", 0},
	{"report", POSTPROC_OPT_REPORT, "VIEW", OPTION_ARG_OPTIONAL,
	 "print a report of what is lost and what is still reachable (leaks, the default), or of another view: alive, "
	 "peak, allocated, temporary, size, thread, object",
	 0},
	{"html", OPT_HTML, "FILE", 0,
	 "write a page for a browser: flame graphs, what was alive when, all stacks; one file that needs no other", 0},
	{"each", OPT_EACH, NULL, 0, "of several traces each by itself, one behind the other or in a folder", 0},
	{"tree", OPT_TREE, "down|up", OPTION_ARG_OPTIONAL,
	 "in the report: as a tree, from main down to what allocates (default) or from there up", 0},
	{"top", OPT_TOP, "N", 0, "in the report: N groups (default: 10)", 0},
	{"diff", OPT_DIFF, "FILE|@T", 0,
	 "in the report, the page and other files: what grew since the trace FILE, or since second T of the trace", 0},
	{"suppressions", OPT_SUPPRESSIONS, "FILE", 0,
	 "with -l and in the report: without the leaks that FILE names, in the syntax of valgrind or LeakSanitizer; "
	 "again for more",
	 0},
	{"gen-suppressions", OPT_GEN_SUPPRESSIONS, NULL, 0, "in the report: an entry for such a file for each leak", 0},
	{"no-default-suppressions", OPT_NO_DEFAULT_SUPPRESSIONS, NULL, 0,
	 "in the report: also what the C and C++ libraries keep on purpose", 0},
	{"live", OPT_LIVE, NULL, 0,
	 "show what is alive and what grows while the trace is written: a table on a terminal, else lines", 0},
	{"interval", OPT_INTERVAL, "S", 0, "with --live: look every S seconds (default 1)", 0},
	{"count", OPT_COUNT, "N", 0, "with --live: end after N looks", 0},
	/* From functrace --live: whom to ask for a scan, and that its traces come over a socket. */
	{"tracer", OPT_TRACER, "PID", OPTION_HIDDEN, NULL, 0},
	{"traces", OPT_TRACES, NULL, OPTION_HIDDEN, NULL, 0},
	{"again", OPT_AGAIN, "WORDS", OPTION_HIDDEN, NULL, 0}, /* from functrace: its own, behind its options */
	{"weight", OPT_WEIGHT, "live|allocated|peak|count|lost", 0,
	 "with -f of a format that holds one figure (default: live)", 0},
	{0},
};

static uint64_t seconds(struct argp_state *state, const char *option, const char *text)
{
	uint64_t ns = 0;
	char *end;

	if (!postproc_parse_seconds(text, &ns, &end) || *end)
		argp_error(state, "%s needs seconds, like 2.5, not '%s'", option, text);
	return ns;
}

static void set_diff(struct argp_state *state, struct view_options *options, const char *text)
{
	if (*text != '@') {
		options->old = text;
		return;
	}
	options->wishes.mark = seconds(state, "--diff=@", text + 1);
	options->wishes.has_mark = true;
	options->mark = text;
}

static void set_tree(struct argp_state *state, struct view_options *options, const char *text)
{
	if (!text || !strcmp(text, "down"))
		options->report_options.tree = TREE_DOWN;
	else if (!strcmp(text, "up"))
		options->report_options.tree = TREE_UP;
	else
		argp_error(state, "--tree takes down or up, not '%s'", text);
}

/* What only says how the report looks. */
static bool wants_report_only(const struct view_options *options)
{
	return options->report_options.tree || options->report_options.top || options->report_options.gen_suppressions;
}

static void check_diff(struct argp_state *state, const struct view_options *options)
{
	if (!view_options_want(options) || options->live)
		argp_error(state, "--diff is about the report, the page and files for other tools; add --report, "
				  "--html or -f");
	if (options->export && options->has_weight && options->export_options.weight == WEIGHT_LOST)
		argp_error(state, "--weight=lost is of the end alone; --diff goes with the other weights");
	if (options->export && !options->export->compares)
		argp_error(state,
			   "-f %s has no place for what grew since then; --diff goes with -f %s, --report and --html",
			   options->export->name, export_names_that_compare());
}

static void check(struct argp_state *state, const struct view_options *options)
{
	if ((options->interval > 0 || options->count) && !options->live)
		argp_error(state, "--interval and --count are about the live view; add --live");
	if (options->live && (options->report || options->export))
		argp_error(state, "--live does not go with --report or -f; 'r' in the view writes a report");
	if (!options->report && !options->live && wants_report_only(options))
		argp_error(state, "--tree, --top and --gen-suppressions are about the report; add --report");
	if (options->report_options.tree && !report_view_has_stacks(options->report_options.view))
		argp_error(state, "--tree is made of stacks; it goes with the views leaks, alive, peak, allocated and "
				  "temporary");
	if (options->old || options->wishes.has_mark)
		check_diff(state, options);
	if (options->export && options->export->needs)
		argp_failure(state, EXIT_FAILURE, 0,
			     "this functrace-postproc was built without what -f %s needs: install %s (on Debian and "
			     "Ubuntu with apt-get), configure it and build it again",
			     options->export->name, options->export->needs);
	if (options->html && options->export && !options->export->write)
		argp_error(state, "-f %s is written as the records come, a page is made of all of them; run twice",
			   options->export->name);
	if (options->html && !page_may_replace(options->html))
		argp_error(state, "--html would replace %s, which is no page; give it another file", options->html);
	if (options->has_weight && (!options->export || !options->export->is_weighted))
		argp_error(state, "--weight is for a format that holds one figure, like -f collapsed");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct view_options *options = state->input;
	uint64_t number;

	switch (key) {
	case POSTPROC_OPT_REPORT:
		options->report = true;
		if (arg && !(options->report_options.view = report_view_find(arg)))
			argp_error(state, "--report takes one of the views %s, not '%s'", report_view_names(", "), arg);
		return 0;
	case OPT_HTML:
		options->html = arg;
		return 0;
	case OPT_EACH:
		options->each = true;
		return 0;
	case OPT_TREE:
		set_tree(state, options, arg);
		return 0;
	case OPT_TOP:
		if (!parse_number(arg, UINT32_MAX, &number) || !number)
			argp_error(state, "--top needs a number from 1 on, not '%s'", arg);
		options->report_options.top = (uint32_t)number;
		return 0;
	case OPT_DIFF:
		set_diff(state, options, arg);
		return 0;
	case OPT_SUPPRESSIONS:
		ARRAY_GROW(options->suppressions, options->suppression_capacity, options->suppression_count);
		options->suppressions[options->suppression_count++] = arg;
		return 0;
	case OPT_GEN_SUPPRESSIONS:
		options->report_options.gen_suppressions = true;
		return 0;
	case OPT_NO_DEFAULT_SUPPRESSIONS:
		options->no_own_suppressions = true;
		return 0;
	case OPT_LIVE:
		options->live = true;
		return 0;
	case OPT_INTERVAL:
		options->interval = (double)seconds(state, "--interval", arg) / 1e9;
		if (options->interval < INTERVAL_MIN)
			argp_error(state, "--interval needs seconds, 0.1 at least, not '%s'", arg);
		return 0;
	case OPT_TRACES:
		options->takes_traces = true;
		return 0;
	case OPT_TRACER:
		if (!parse_number(arg, INT32_MAX, &number) || !number)
			argp_error(state, "--tracer needs a process's number, not '%s'", arg);
		options->tracer = (pid_t)number;
		return 0;
	case OPT_AGAIN:
		options->again = arg;
		return 0;
	case OPT_COUNT:
		if (!parse_number(arg, UINT32_MAX, &number) || !number)
			argp_error(state, "--count needs a number from 1 on, not '%s'", arg);
		options->count = (uint32_t)number;
		return 0;
	case OPT_WEIGHT:
		options->has_weight = true;
		if (!export_weight_parse(arg, &options->export_options.weight))
			argp_error(state, "--weight takes live, allocated, peak, count or lost, not '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		check(state, options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp postproc_view_argp = {.options = option_table, .parser = parse};
