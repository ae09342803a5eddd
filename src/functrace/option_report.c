#include "config.h"
#include "functrace/option_report.h"
#include "base/shell_quote.h"
#include "cli/report_options.h"

#include <stdlib.h>
#include <string.h>

enum report_option {
	OPT_BEFORE = 0x7ff,
	REPORT_OPTIONS(OPTION_KEY, ""),
	ALIVE_OPTIONS(OPTION_KEY),
	EXITCODE_OPTION(OPTION_KEY),
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Report:", 0},
	REPORT_OPTIONS(OPTION_OF_FUNCTRACE, "OLD"),
	ALIVE_OPTIONS(OPTION_OF_FUNCTRACE),
	EXITCODE_OPTION(OPTION_OF_FUNCTRACE),
	{0},
};

/* Stores an option for functrace-postproc, which checks its value. */
static void option_report_keep(struct parse *parse, const char *name, const char *arg)
{
	struct report_settings *report = &parse->settings->report;

	report->is_wanted |= !strcmp(name, "report") || !strcmp(name, "html");
	report->is_live |= !strcmp(name, "live");
	if (!strcmp(name, "html")) {
		named_files_forget(&parse->files, "--html");
		named_files_add(&parse->files, "--html", named_files_output(arg), true);
	} else if (!strcmp(name, "diff")) {
		named_files_forget(&parse->files, "--diff");
		/* --diff=@T names a time, no file. */
		named_files_add(&parse->files, "--diff", *arg == '@' ? NULL : arg, false);
	} else if (!strcmp(name, "suppressions")) {
		named_files_add(&parse->files, "--suppressions", arg, false);
	}
	ARRAY_GROW(report->options, parse->report_capacity, report->option_count);
	report->options[report->option_count++] = arg ? xasprintf("--%s=%s", name, arg) : xasprintf("--%s", name);
}

static error_t option_report_parse(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	uint64_t number;

	given_option(&parse->given, options, key, arg);
	if (key == OPT_ERROR_EXITCODE) {
		if (!parse_number(arg, 255, &number))
			return usage_error(parse, "--error-exitcode needs a number of at most 255, not '%s'", arg);
		parse->settings->report.error_exitcode = (int)number;
	}
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].name && options[i].key == key) {
			option_report_keep(parse, options[i].name, arg);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

const struct argp option_report_argp = {.options = options, .parser = option_report_parse};

#define REPORT_WORD "--repo" /* the shortest form of --report that argp accepts: "--rep" can also be --repair */

void option_report_keep_words(struct settings *settings, int argc, char **argv)
{
	struct buf words = {0};

	for (int i = 1; i < argc; i++) {
		const bool is_program = settings->target.argv && &argv[i] >= settings->target.argv;

		if (!is_program && !strncmp(argv[i], REPORT_WORD, strlen(REPORT_WORD)))
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
