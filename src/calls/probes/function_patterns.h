/* Table rows that name functions by a pattern or an address: "NAME", "NAME@OBJECT", "OBJECT!0xADDRESS".
 *
 * NAME is matched with each function symbol of an object and of its separate debug file: with the symbol itself, with
 * the symbol without a compiler's suffix (.constprop.0), and with the demangled name. If NAME has no '(', it is matched
 * with the demangled name without parameters, "Parser::parse"; if NAME has a '(', also with the whole demangled name,
 * "Parser::parse(int)". */
#ifndef FT_CALLS_PROBES_FUNCTION_PATTERNS_H
#define FT_CALLS_PROBES_FUNCTION_PATTERNS_H

#include "calls/probes/probe_spec.h"
#include "ptrace/tracee.h"

/* A table row by pattern or address. */
struct pattern {
	const struct probe_spec *wanted;
	char *name;       /* NULL: the row gives an address */
	char *object;     /* text that the object's path must contain; NULL: any object */
	bool of_program;  /* applies only to the main program; `object` is NULL then */
	uint64_t address; /* file address, as in the object's symbols */
	bool is_glob;
	bool has_parameters; /* also matched with the whole demangled name */
	size_t literal;      /* number of bytes of the name before the first wildcard */
	/* For the messages at the end of the run. */
	bool is_found;
	bool is_reported;            /* a message has said why the function cannot be probed */
	char *seen;                  /* path of the first object with `object`, or else of the program; NULL: none */
	bool seen_stripped;          /* the object `seen` has no symbols of local functions */
	const struct pattern *alike; /* the next pattern of the same name, without wildcards */
};

struct patterns {
	struct pattern *items;
	size_t count;
	struct hash names; /* hash of a name without wildcards -> first struct pattern of that name */
	size_t *globs;     /* indexes of the patterns with wildcards; every symbol is matched with each of them */
	size_t glob_count;
	struct hash shown;   /* hash of a shown name -> struct shown_name */
	bool any_parameters; /* some pattern has has_parameters */
	size_t failures;     /* number of functions that could not be probed */
};

/* The names of a symbol that are compared with patterns. */
struct symbol_names {
	const char *symbol;
	char *base;  /* without a compiler's suffix; NULL: it has no such suffix */
	char *plain; /* demangled, without parameters; NULL: the symbol is not mangled */
	char *whole; /* demangled; NULL: the symbol is not mangled, or no pattern needs this name */
};

/* Returns the patterns of all rows by pattern in the list; NULL if there are none. */
struct patterns *patterns_new(const struct probe_spec_list *list);
void patterns_free(struct patterns *patterns); /* NULL is allowed */

/* Finds the names of a symbol, which must stay valid; `whole` only if wants_whole is set. symbol_names_free() frees
 * them. */
void symbol_names_find(struct symbol_names *names, const char *symbol, bool wants_whole);
void symbol_names_free(struct symbol_names *names);
/* Returns true if the pattern matches any of the names. */
bool pattern_matches(const struct pattern *pattern, const struct symbol_names *names);
/* Returns the first pattern without wildcards whose name has the same hash as `name`; `alike` points to the next one.
 * NULL: there is none. The caller compares the names. */
const struct pattern *patterns_named(const struct patterns *patterns, const char *name);
/* Returns true if the pattern applies to an object of the process. */
bool pattern_chooses(const struct pattern *pattern, const struct process *p, const struct object *object);
/* Notes that the pattern applies to an object, whose symbols were read. */
void pattern_saw(struct pattern *pattern, const struct process *p, const struct object *object);
/* Returns the name that a trace shows for a function symbol. The name is valid as long as the patterns. */
const char *patterns_shown(struct patterns *patterns, const char *symbol);
/* Returns a copy of a name. The copy is valid as long as the patterns. */
const char *patterns_keep(struct patterns *patterns, const char *name);

/* Called if one row matches two names of a function. Returns true if a trace is to show `name` rather than `than`. The
 * names of stack frames are chosen in the same way. */
bool pattern_name_is_better(const char *name, const char *than);
/* Returns true if all rows are rows by pattern. Then the user may not expect a matching function in every process. */
bool patterns_are_all(const struct probe_spec_list *list);
/* Counts a function of a row by pattern that cannot be probed. Returns true if a message is to name the function; only
 * the first few are named. */
bool patterns_name_failure(struct patterns *patterns);
/* Warns, at the end of the run, of rows that have matched no function, and returns the number of these rows. */
size_t patterns_report(const struct probe_spec_list *list);

#endif
