/* Rows that are named by a pattern, or by an address: "NAME", "NAME@OBJECT", "OBJECT!0xADDRESS".
 *
 * NAME is matched with each function symbol of an object and of its separate debug file: as it is, without what a
 * compiler has appended (.constprop.0), and demangled. Without a '(' it is matched with the name without its
 * parameters, "Parser::parse"; with one, with the whole name as well, "Parser::parse(int)". */
#ifndef FT_CALLS_PROBES_PATTERNS_H
#define FT_CALLS_PROBES_PATTERNS_H

#include "calls/probes/probe_spec.h"
#include "ptrace/tracee.h"

/* One row. */
struct pattern {
	const struct probe_spec *wanted;
	char *name;       /* NULL: an address */
	char *object;     /* part of an object's path; NULL: any */
	bool of_program;  /* only of the main program; `object` is NULL then */
	uint64_t address; /* as in the object's file */
	bool is_glob;
	bool has_parameters; /* the whole name counts, too */
	size_t literal;      /* bytes of the name before the first wildcard */
	/* For the end. */
	bool is_found;
	bool is_reported;            /* why it cannot be */
	char *seen;                  /* the first object that it may mean, NULL none */
	bool seen_stripped;          /* ... without the names of its own functions */
	const struct pattern *alike; /* the next one of the same name, which is no glob */
};

struct patterns {
	struct pattern *items;
	size_t count;
	struct hash names; /* hash of a name that is no glob -> the first struct pattern */
	size_t *globs;     /* which of the items are globs: each symbol is matched with each of those */
	size_t glob_count;
	struct hash shown;   /* hash -> struct shown_name */
	bool any_parameters; /* a whole name counts for one of them */
	size_t failures;     /* functions that could not be probed */
};

/* The names of a symbol. */
struct symbol_names {
	const char *symbol;
	char *base;  /* without what a compiler has appended; NULL: nothing is */
	char *plain; /* demangled, without parameters; NULL: it is not mangled */
	char *whole; /* demangled; NULL: it is not mangled, or nobody asks for it */
};

/* Of all rows by pattern of the list; NULL: there are none. */
struct patterns *patterns_new(const struct probe_spec_list *list);
void patterns_free(struct patterns *patterns); /* NULL is allowed */

void symbol_names_find(struct symbol_names *names, const char *symbol, bool asks_whole);
void symbol_names_free(struct symbol_names *names);
/* Whether the pattern matches any of the names. */
bool pattern_matches(const struct pattern *pattern, const struct symbol_names *names);
/* The patterns without wildcards of that name, chained by `alike`; NULL none. */
const struct pattern *patterns_named(const struct patterns *patterns, const char *name);
/* Whether the pattern is about an object of the process. */
bool pattern_chooses(const struct pattern *pattern, const struct process *p, const struct object *object);
/* Notes that there was an object that it is about, whose symbols have been read. */
void pattern_saw(struct pattern *pattern, const struct process *p, const struct object *object);
/* The name that a trace shows of a function symbol; it lives as long as the patterns. */
const char *patterns_shown(struct patterns *patterns, const char *symbol);
/* A copy of a name that lives as long. */
const char *patterns_keep(struct patterns *patterns, const char *name);

/* Whether, of two names of a function that one row has matched, a trace is to show the first: the names of frames are
 * chosen in the same way. */
bool pattern_name_is_better(const char *name, const char *than);
/* Whether nothing but such rows is wanted: a process in which none was found may not be meant. */
bool patterns_are_all(const struct probe_spec_list *list);
/* Counts a function of such a row that cannot be probed; whether a message is to name it: only the first ones. */
bool patterns_name_failure(struct patterns *patterns);
/* Reports, at the end of the run, what has matched nothing, and returns how many. */
size_t patterns_report(const struct probe_spec_list *list);

#endif
