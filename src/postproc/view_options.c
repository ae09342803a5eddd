#include "config.h"
#include "postproc/view_options.h"
#include "postproc/filter_options.h"
#include "base/msg.h"
#include "cli/conflicts.h"
#include "cli/named_files.h"
#include "cli/report_options.h"

#include <stdlib.h>
#include <string.h>

#define INTERVAL_MIN 0.1

enum view_option {
	OPT_BEFORE = POSTPROC_OPT_REPORT - 1,
	REPORT_OPTIONS(OPTION_KEY, ""),
	OPT_SEPARATE,
	OPT_WEIGHT,
	OPT_TRACER,
	OPT_TRACES,
	OPT_AGAIN,
};

static const struct argp_option option_table[] = {
	{NULL, 0, NULL, 0, "Reports (several traces are taken together):", 0},
	REPORT_OPTIONS(OPTION_OF_POSTPROC, "FILE"),
	{"separate", OPT_SEPARATE, NULL, 0,
	 "with several traces: write a report, page or export of each, one after the other or in a folder", 0},
	{"each", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0}, /* the name of --separate in older releases */
	{"weight", OPT_WEIGHT, "live|allocated|peak|count|lost", 0,
	 "the figure that is written for each stack, in formats that have only one (default: live)", 0},
	/* functrace --live passes these options: --tracer is the process that can be asked for a scan; with --traces
	 * the traces come over a socket. */
	{"tracer", OPT_TRACER, "PID", OPTION_HIDDEN, NULL, 0},
	{"traces", OPT_TRACES, NULL, OPTION_HIDDEN, NULL, 0},
	/* functrace passes its command line, for the commands that the report suggests */
	{"again", OPT_AGAIN, "WORDS", OPTION_HIDDEN, NULL, 0},
	{0},
};

static uint64_t view_options_seconds(struct argp_state *state, const char *option, const char *text)
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
	options->wishes.mark = view_options_seconds(state, "--diff=@", text + 1);
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

/* Parses options that choose which leaks are suppressed. Returns false for any other option. */
static bool parse_suppressing(int key, char *arg, struct view_options *options)
{
	switch (key) {
	case OPT_SUPPRESSIONS:
		ARRAY_GROW(options->suppressions, options->suppression_capacity, options->suppression_count);
		options->suppressions[options->suppression_count++] = arg;
		return true;
	case OPT_NO_DEFAULT_SUPPRESSIONS:
		options->no_own_suppressions = true;
		return true;
	default:
		return false;
	}
}

static const struct option_flag flags[] = {
	{OPT_SEPARATE, offsetof(struct view_options, separate), true},
	{OPT_GEN_SUPPRESSIONS, offsetof(struct view_options, report_options.gen_suppressions), true},
	{OPT_LIVE, offsetof(struct view_options, live), true},
	{OPT_TRACES, offsetof(struct view_options, takes_traces), true},
};

static error_t view_options_parse(int key, char *arg, struct argp_state *state)
{
	struct view_options *options = state->input;
	uint64_t number;

	given_option(options->given, option_table, key, arg);
	if (parse_suppressing(key, arg, options)) {
		option_words_add(&options->reading, option_table, key, arg);
		return 0;
	}
	if (option_flag_set(flags, ARRAY_SIZE(flags), key, options))
		return 0;
	switch (key) {
	case POSTPROC_OPT_REPORT:
		options->report = true;
		if (arg && !(options->report_options.view = report_view_find(arg)))
			argp_error(state, "--report takes one of the views %s, not '%s'", report_view_names(", "), arg);
		return 0;
	case OPT_HTML:
		options->html = named_files_output(arg);
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
	case OPT_INTERVAL:
		options->interval = (double)view_options_seconds(state, "--interval", arg) / 1e9;
		if (options->interval < INTERVAL_MIN)
			argp_error(state, "--interval needs seconds, 0.1 at least, not '%s'", arg);
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
		if (!export_weight_parse(arg, &options->export_options.weight))
			argp_error(state, "--weight takes live, allocated, peak, count or lost, not '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp postproc_view_argp = {.options = option_table, .parser = view_options_parse};
