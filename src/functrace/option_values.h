/* The values of functrace's options. Each function checks a value and stores it in the settings. The functions return
 * 0, or EINVAL after a message that explains the error. */
#ifndef FT_FUNCTRACE_OPTION_VALUES_H
#define FT_FUNCTRACE_OPTION_VALUES_H

#include "cli/conflicts.h"
#include "cli/named_files.h"
#include "engine/settings.h"

#define STATUS_USAGE 2

struct parse {
	struct settings *settings;
	size_t module_capacity, described_capacity, pid_capacity, stack_size_capacity, library_capacity,
		symbol_capacity, target_capacity, attachment_capacity, report_capacity, why_capacity;
	const char **targets; /* words of -t, pointers into the command line; option_targets() finds their processes */
	size_t target_count;
	struct given given;       /* all options and facts, for the checks of conflicts (option_conflicts.h) */
	struct named_files files; /* the files that options name, so that -o replaces none of them */
	bool compat;              /* --compat is given: write the encoding's compatible dialect */
	bool compress;            /* -z is given */
	const char *packing;      /* value of -z; NULL: no value */
	int status;               /* result of settings_parse() if a parser function returns an error */
};

/* Prints the message and a hint to --help, and sets the exit status for wrong usage. Returns EINVAL. */
int usage_error(struct parse *parse, const char *fmt, ...) FT_PRINTF(2, 3);
/* Sets status 0, or status 1 after a message if standard output could not be written. Called after the text that an
 * option requests (help, a list) has been printed. Returns ECANCELED, which ends the parsing. */
int options_shown(struct parse *parse);

/* Calls add() for each item of a comma-separated list until one returns an error. Returns that error, or 0. */
int option_list(struct parse *parse, const char *list, int (*add)(struct parse *, const char *));

/* Each of these checks the value of one option and adds it to the settings. Returns 0, or what usage_error()
 * returns. */
int option_library(struct parse *parse, const char *name);
int option_stack_sizes(struct parse *parse, const char *text);
/* Only stores the word, because its check depends on --children, which may follow on the command line. */
int option_target(struct parse *parse, const char *text);
/* Finds the processes for the words that option_target() has stored. Called when all options are known. */
int option_targets(struct parse *parse);
/* Reads a time above 0: seconds with or without a fraction, or a number with a unit (s, m, h, d). *ns is in
 * nanoseconds. Returns false for any other text. */
bool parse_duration(const char *text, uint64_t *ns);
int option_duration(struct parse *parse, const char *text);
int option_symbol_address(struct parse *parse, const char *text);
int option_toggle_signal(struct parse *parse, const char *text);
int option_args_limit(struct parse *parse, const char *text);
int option_depth(struct parse *parse, const char *text);
int option_cycle_size(struct parse *parse, const char *text);
int option_format(struct parse *parse, const char *name);
int option_debug(struct parse *parse, const char *spec);
/* Reports a wrong value of -d. blank: text between "-d" and the value in the message, "" or " ". */
int debug_error(struct parse *parse, const char *blank, const char *spec);
int option_unwinder(struct parse *parse, const char *name);
/* --probes. */
int option_probes_ring(struct parse *parse, const char *text);
int option_probes(struct parse *parse, const char *name);
int option_cpu(struct parse *parse, const char *placement);
/* Checks the value of an option for which only one word is valid. */
int option_word(struct parse *parse, const char *option, const char *value, const char *known);

#endif
