/* The values of functrace's options: each function checks one and puts it into the settings. 0, or EINVAL after a
 * message that says what is wrong with it. */
#ifndef FT_FUNCTRACE_OPTION_VALUES_H
#define FT_FUNCTRACE_OPTION_VALUES_H

#include "cli/conflicts.h"
#include "engine/settings.h"

#define STATUS_USAGE 2

struct parse {
	struct settings *settings;
	size_t module_capacity, described_capacity, pid_capacity, monitor_capacity, library_capacity, symbol_capacity,
		target_capacity, attachment_capacity, report_capacity, why_capacity;
	const char **targets; /* what -t names, of the command line's memory: settled when all options are known */
	size_t target_count;
	struct given given;  /* all options, for the conflicts between them */
	bool compat;         /* the encoding's second dialect is wanted */
	bool compress;       /* -z */
	const char *packing; /* its value; NULL: none was given */
	int status;          /* what settings_parse returns when a parser function has returned an error */
};

/* Prints the message and where to find help; the status is then that of wrong usage. Returns EINVAL. */
int usage_error(struct parse *parse, const char *fmt, ...) FT_PRINTF(2, 3);
/* What was asked for (help, a list) was printed, and nothing else is to be done; or, after a message, it could not be.
 * ECANCELED, for the parser to return. */
int options_shown(struct parse *parse);

/* Calls add() for each item of a comma-separated list. */
int option_list(struct parse *parse, const char *list, int (*add)(struct parse *, const char *));

/* One option's value each: checks it and adds it to the settings. 0, or what usage_error() returns. */
int option_library(struct parse *parse, const char *name);
int option_monitor(struct parse *parse, const char *text);
/* Only kept for option_targets(), which finds the processes. */
int option_target(struct parse *parse, const char *text);
int option_targets(struct parse *parse);
/* A time above 0 in seconds, with a fraction or not, or with its unit (s, m, h, d), as ns. */
bool parse_duration(const char *text, uint64_t *ns);
int option_duration(struct parse *parse, const char *text);
int option_symbol(struct parse *parse, const char *text);
int option_toggle_signal(struct parse *parse, const char *text);
int option_args_limit(struct parse *parse, const char *text);
int option_depth(struct parse *parse, const char *text);
int option_cycle_size(struct parse *parse, const char *text);
int option_format(struct parse *parse, const char *name);
int option_debug(struct parse *parse, const char *spec);
/* blank: what stands between -d and what was meant for it. */
int debug_error(struct parse *parse, const char *blank, const char *spec);
int option_unwinder(struct parse *parse, const char *name);
int option_cpu(struct parse *parse, const char *placement);
/* For an option that takes one word only. */
int option_word(struct parse *parse, const char *option, const char *value, const char *known);

#endif
