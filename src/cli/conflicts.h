/* Which options do not go together: each program has tables of rows over what its command line gives. */
#ifndef FT_CLI_CONFLICTS_H
#define FT_CLI_CONFLICTS_H

#include "base/util.h"

#include <argp.h>

/* What a command line gives, in its order: options by name ("-b", "--live"), and what else is true of it. */
struct given {
	struct given_fact {
		char *name, *value; /* "" if it has none */
	} * facts;
	size_t count, capacity;
};

/* Adds the option with that key, if it is one of the table. */
void given_option(struct given *given, const struct argp_option *table, int key, const char *value);
/* Adds a fact that holds. */
void given_fact(struct given *given, const char *name, bool holds);
/* Adds one with a value; NULL: it does not hold. */
void given_value(struct given *given, const char *name, const char *value);
/* The last value of that name; NULL: it is not given. */
const char *given_find(const struct given *given, const char *name);
void given_free(struct given *given);

/* A row is about command lines that give one of `subjects`, names with blanks between. It is broken where none of
 * `others` is given that it needs, or one of those that it excludes. An empty list is always given. */
struct conflict {
	const char *subjects;
	enum { NEEDS, EXCLUDES } how;
	const char *others;
	const char *words; /* the message; functrace replaces "{-o}" in it by the value of -o, and so for each name */
};

/* The message of the first row that is broken, with its values; the caller frees it. NULL: none is. */
char *conflict_find(const struct conflict *rows, size_t count, const struct given *given);

#endif
