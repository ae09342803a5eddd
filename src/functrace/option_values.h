/* The values of functrace's options: each function checks a value and puts it into the settings. The functions
 * return 0, or EINVAL after a message that says what is wrong. */
#ifndef FT_FUNCTRACE_OPTION_VALUES_H
#define FT_FUNCTRACE_OPTION_VALUES_H

#include "cli/conflicts.h"
#include "engine/settings.h"

#define STATUS_USAGE 2

struct parse {
	struct settings *settings;
	size_t module_capacity, described_capacity, pid_capacity, monitor_capacity, library_capacity, symbol_capacity,
		target_capacity, attachment_capacity, report_capacity, why_capacity;
	const char **targets; /* the words of -t, in the command line's memory; option_targets() resolves them */
	size_t target_count;
	struct given given;  /* all options and facts, for option_conflicts.h */
	bool compat;         /* --compat: write the encoding's second dialect */
	bool compress;       /* -z */
	const char *packing; /* the value of -z; NULL: no value was given */
	int status;          /* what settings_parse() returns after a parser function has returned an error */
};

/* Prints the message and a hint at --help, and sets the status of wrong usage. Returns EINVAL. */
int usage_error(struct parse *parse, const char *fmt, ...) FT_PRINTF(2, 3);
/* To be called after printing what an option asked for (help, a list), when nothing else is to be done. Sets status
 * 0, or 1 after a message if stdout could not be written. Returns ECANCELED, which the parser hands on. */
int options_shown(struct parse *parse);

/* Calls add() for each item of a comma-separated list, until one returns an error. Returns that error, or 0. */
int option_list(struct parse *parse, const char *list, int (*add)(struct parse *, const char *));

/* Each of these checks one option's value and adds it to the settings. Returns 0, or what usage_error() returns. */
int option_library(struct parse *parse, const char *name);
int option_monitor(struct parse *parse, const char *text);
/* Only keeps the word, because --children may still follow. */
int option_target(struct parse *parse, const char *text);
/* Finds the processes of the words that option_target() kept. To be called when all options are known. */
int option_targets(struct parse *parse);
/* Reads a time above 0: seconds with or without a fraction, or with a unit (s, m, h, d). *ns is in nanoseconds.
 * Returns false on anything else. */
bool parse_duration(const char *text, uint64_t *ns);
int option_duration(struct parse *parse, const char *text);
int option_symbol(struct parse *parse, const char *text);
int option_toggle_signal(struct parse *parse, const char *text);
int option_args_limit(struct parse *parse, const char *text);
int option_depth(struct parse *parse, const char *text);
int option_cycle_size(struct parse *parse, const char *text);
int option_format(struct parse *parse, const char *name);
int option_debug(struct parse *parse, const char *spec);
/* Reports a wrong value of -d. blank: the text between "-d" and the value in the message, "" or " ". */
int debug_error(struct parse *parse, const char *blank, const char *spec);
int option_unwinder(struct parse *parse, const char *name);
int option_cpu(struct parse *parse, const char *placement);
/* Checks the value of an option that accepts only one word. */
int option_word(struct parse *parse, const char *option, const char *value, const char *known);

#endif
