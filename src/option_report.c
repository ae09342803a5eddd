#include "config.h"
#include "option_report.h"
#include "base/shell_quote.h"

#include <stdlib.h>
#include <string.h>

enum report_option {
	OPT_REPORT = 0x800,
	OPT_TREE,
	OPT_TOP,
	OPT_BETWEEN,
	OPT_OLDER,
	OPT_DIFF,
	OPT_ERROR_EXITCODE,
	OPT_SUPPRESSIONS,
	OPT_GEN_SUPPRESSIONS,
	OPT_NO_DEFAULT_SUPPRESSIONS,
	OPT_LIVE,
	OPT_INTERVAL,
	OPT_COUNT,
	OPT_HTML,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Report:", 0},
	{"report", OPT_REPORT, "VIEW", OPTION_ARG_OPTIONAL,
	 "print what it comes to when tracing has ended, as functrace-postproc --report does; without -o the trace is "
	 "not kept",
	 0},
	{"tree", OPT_TREE, "down|up", OPTION_ARG_OPTIONAL, "with --report: as a tree", 0},
	{"top", OPT_TOP, "N", 0, "with --report or --scan: N groups", 0},
	{"between", OPT_BETWEEN, "A,B", 0, "with --report: what was allocated from second A to B", 0},
	{"older", OPT_OLDER, "T", 0, "with --report: what is at least T seconds old", 0},
	{"diff", OPT_DIFF, "OLD|@T", 0, "with --report: what grew since the trace OLD or second T", 0},
	{"suppressions", OPT_SUPPRESSIONS, "FILE", 0, "with --report: without the leaks that FILE names", 0},
	{"gen-suppressions", OPT_GEN_SUPPRESSIONS, NULL, 0, "with --report: an entry for such a file for each leak", 0},
	{"no-default-suppressions", OPT_NO_DEFAULT_SUPPRESSIONS, NULL, 0,
	 "with --report: also what the C and C++ libraries keep on purpose", 0},
	{"html", OPT_HTML, "FILE", 0, "write a page for a browser when tracing has ended, with or without --report", 0},
	{"live", OPT_LIVE, NULL, 0, "with -t: show what is alive and what grows while the process runs", 0},
	{"interval", OPT_INTERVAL, "S", 0, "with --live or --scan: look every S seconds (default 1)", 0},
	{"count", OPT_COUNT, "N", 0, "with --live or --scan: end after N looks", 0},
	{"error-exitcode", OPT_ERROR_EXITCODE, "N", 0, "with --report or --scan: end with status N if there are leaks",
	 0},
	{0},
};

/* Keeps an option for functrace-postproc, which knows its values. */
static void keep(struct parse *parse, const char *name, const char *arg)
{
	struct report_wish *wish = &parse->settings->report;

	wish->is_wanted |= !strcmp(name, "report") || !strcmp(name, "html");
	wish->is_live |= !strcmp(name, "live");
	ARRAY_GROW(wish->options, parse->report_capacity, wish->option_count);
	wish->options[wish->option_count++] = arg ? xasprintf("--%s=%s", name, arg) : xasprintf("--%s", name);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	uint64_t number;

	if (key == OPT_ERROR_EXITCODE) {
		if (!parse_number(arg, 255, &number))
			return usage_error(parse, "--error-exitcode needs a number of at most 255, not '%s'", arg);
		parse->settings->report.error_exitcode = (int)number;
	}
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].name && options[i].key == key) {
			keep(parse, options[i].name, arg);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

const struct argp option_report_argp = {.options = options, .parser = parse_option};

static bool is_of_live(const char *option)
{
	return !strncmp(option, "--interval", 10) || !strncmp(option, "--count", 7);
}

int option_report_check(struct parse *parse)
{
	struct settings *s = parse->settings;

	if (s->report.is_live && s->report.is_wanted)
		return usage_error(parse, "--live and --report do not go together; 'r' in the view writes a report");
	if (s->report.is_live && !s->pid_count)
		return usage_error(parse, "--live shows processes that run: give them with -t");
	if (s->report.is_live && s->output)
		return usage_error(parse, "--live keeps no trace; leave -o out");
	if (s->report.option_count && !s->report.is_wanted && !s->report.is_live)
		return usage_error(parse, "%s is about the %s", s->report.options[0],
				   is_of_live(s->report.options[0]) ? "live view; add --live, or --scan"
								    : "report; add --report");
	if (s->report.is_wanted && (s->output_fd >= 0 || (s->output && !strcmp(s->output, "-"))))
		return usage_error(parse, "--report reads the traces when they are whole; give -o a folder or a file, "
					  "or leave it out");
	/* Nobody sees those that are not kept: they take a thirtieth of the room. */
	if (s->report.is_wanted && !s->output)
		s->packing = PACKING_ZSTD;
	return 0;
}

void option_report_keep_words(struct settings *settings, int argc, char **argv)
{
	struct buf words = {0};

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--report", strlen("--report")))
			continue;
		buf_add_str(&words, words.size ? " " : "");
		shell_quote_add(&words, argv[i]);
	}
	settings->report.again = xstrdup(buf_str(&words));
	buf_free(&words);
}

void option_report_free(struct settings *settings)
{
	free(settings->report.again);
	for (size_t i = 0; i < settings->report.option_count; i++)
		free(settings->report.options[i]);
	free(settings->report.options);
	free(settings->report.list);
	free(settings->report.folder);
}
