/* Conflicts between options. Each program has tables of rows, which are compared with what its command line gives. */
#ifndef FT_CLI_CONFLICTS_H
#define FT_CLI_CONFLICTS_H

#include "base/util.h"

#include <argp.h>

/* What a command line gives, in order: options by name ("-b", "--live"), and other facts about the command line. */
struct given {
	struct given_fact {
		char *name, *value; /* value: "" if there is none */
	} * facts;
	size_t count, capacity;
};

/* Adds the option with this key if the table has it, with a value of "" if `value` is NULL. */
void given_option(struct given *given, const struct argp_option *table, int key, const char *value);
/* Adds the fact, without a value, if it holds. */
void given_fact(struct given *given, const char *name, bool holds);
/* Adds a fact with its value; does nothing if `value` is NULL. */
void given_value(struct given *given, const char *name, const char *value);
/* Returns the last value of that name, or NULL if the name was not given. The value belongs to `given`. */
const char *given_find(const struct given *given, const char *name);
void given_free(struct given *given);

/* A row applies if one of `subjects` is given (names with blanks between; an empty list always counts as given).
 * NEEDS: the row is broken if none of `others` is given. EXCLUDES: it is broken if one of them is. */
struct conflict {
	const char *subjects;
	enum { NEEDS, EXCLUDES } how;
	const char *others;
	const char *words; /* the message; "{-o}" in it is replaced by the value of -o, and so for each name */
};

/* Returns the message of the first broken row, with values filled in; the caller frees it. NULL if no row is broken. */
char *conflict_find(const struct conflict *rows, size_t count, const struct given *given);

#endif
