/* Rows that name functions by a pattern or an address: "NAME", "NAME@OBJECT", "OBJECT!0xADDRESS".
 *
 * NAME is matched with each function symbol of an object and of its separate debug file: as it is, without the
 * suffix of a compiler (.constprop.0), and demangled. If NAME has no '(', it is matched with the demangled name
 * without parameters, "Parser::parse"; if it has one, with the whole name as well, "Parser::parse(int)". */
#ifndef FT_CALLS_PROBES_PATTERNS_H
#define FT_CALLS_PROBES_PATTERNS_H

#include "calls/probes/probe_spec.h"
#include "ptrace/tracee.h"

/* A row by pattern or address. */
struct pattern {
	const struct probe_spec *wanted;
	char *name;       /* NULL: by address */
	char *object;     /* part of an object's path; NULL: any */
	bool of_program;  /* only in the main program; `object` is NULL then */
	uint64_t address; /* as in the object's file */
	bool is_glob;
	bool has_parameters; /* it is matched with the whole demangled name, too */
	size_t literal;      /* bytes of the name before the first wildcard */
	/* For the reports at the end of the run. */
	bool is_found;
	bool is_reported;            /* a message has said why it cannot be probed */
	char *seen;                  /* path of the first object that it may mean, or NULL */
	bool seen_stripped;          /* that object has no symbols of its local functions */
	const struct pattern *alike; /* the next one of the same name, without wildcards */
};

struct patterns {
	struct pattern *items;
	size_t count;
	struct hash names; /* hash of a name without wildcards -> the first struct pattern */
	size_t *globs;     /* indexes of the patterns with wildcards, with each of which every symbol is matched */
	size_t glob_count;
	struct hash shown;   /* hash -> struct shown_name */
	bool any_parameters; /* one of them has has_parameters */
	size_t failures;     /* functions that could not be probed */
};

/* The names of a symbol that patterns are matched with. */
struct symbol_names {
	const char *symbol;
	char *base;  /* without a compiler's suffix; NULL: it has none */
	char *plain; /* demangled, without parameters; NULL: it is not mangled */
	char *whole; /* demangled; NULL: it is not mangled, or no pattern needs this name */
};

/* Makes the patterns of all such rows of the list; NULL if there are none. */
struct patterns *patterns_new(const struct probe_spec_list *list);
void patterns_free(struct patterns *patterns); /* NULL is allowed */

/* Finds the names of a symbol, which must stay valid; `whole` only if wants_whole. symbol_names_free() frees them. */
void symbol_names_find(struct symbol_names *names, const char *symbol, bool wants_whole);
void symbol_names_free(struct symbol_names *names);
/* Returns whether the pattern matches any of the names. */
bool pattern_matches(const struct pattern *pattern, const struct symbol_names *names);
/* Returns the first pattern without wildcards of this name; `alike` leads to the others. NULL: there is none. */
const struct pattern *patterns_named(const struct patterns *patterns, const char *name);
/* Returns whether the pattern applies to an object of the process. */
bool pattern_chooses(const struct pattern *pattern, const struct process *p, const struct object *object);
/* Notes that the symbols of an object to which the pattern applies were read. */
void pattern_saw(struct pattern *pattern, const struct process *p, const struct object *object);
/* Returns the name that a trace shows for a function symbol, valid as long as the patterns. */
const char *patterns_shown(struct patterns *patterns, const char *symbol);
/* Returns a copy of a name, valid as long as the patterns. */
const char *patterns_keep(struct patterns *patterns, const char *name);

/* Returns whether a trace is to show `name` rather than `than` for a function for which one row matches both. The names
 * of frames are chosen in the same way. */
bool pattern_name_is_better(const char *name, const char *than);
/* Returns whether all rows are rows by pattern: a process in which nothing was found may then not be meant. */
bool patterns_are_all(const struct probe_spec_list *list);
/* Counts a function of such a row that cannot be probed. Returns whether a message is to name it: only the first
 * ones. */
bool patterns_name_failure(struct patterns *patterns);
/* Warns, at the end of the run, of rows that have matched nothing, and returns how many there are. */
size_t patterns_report(const struct probe_spec_list *list);

#endif
