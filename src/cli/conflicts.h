/* Conflicts between options. Each program has tables of conflicts, which are checked against its command line. */
#ifndef FT_CLI_CONFLICTS_H
#define FT_CLI_CONFLICTS_H

#include "base/util.h"

#include <argp.h>

/* A list of facts about a command line, in the order in which they were added: the given options by name ("-b",
 * "--live"), and other facts. */
struct given {
	struct given_fact {
		char *name, *value; /* value: "" if the fact has no value */
	} * facts;
	size_t count, capacity;
};

/* An option without a value that sets a flag. */
struct option_flag {
	int key;
	size_t place; /* offset of the flag in the program's options */
	bool value;
};

/* Sets the flag of the option with this key. Returns false if the table does not contain the key. */
bool option_flag_set(const struct option_flag *flags, size_t count, int key, void *options);

/* Returns the name of the option with this key, "-b" or "--live"; NULL if the table does not contain it. The caller
 * frees the name. */
char *option_name(const struct argp_option *table, int key);
/* Adds the option with this key, if the table contains it. value: the option's value, or NULL. */
void given_option(struct given *given, const struct argp_option *table, int key, const char *value);
/* Adds the fact without a value, if `holds` is true. */
void given_fact(struct given *given, const char *name, bool holds);
/* Adds a fact with a value. Does nothing if `value` is NULL. */
void given_value(struct given *given, const char *name, const char *value);
/* Returns the value of the last fact with that name; NULL if there is none. The value belongs to `given`. */
const char *given_find(const struct given *given, const char *name);
void given_free(struct given *given);

/* A possible conflict. `subjects` and `others` are lists of names of facts, separated by blanks. A list holds if it is
 * empty, or if one of its facts was given. NEEDS: a conflict if `subjects` holds and `others` does not. EXCLUDES: a
 * conflict if both lists hold. */
struct conflict {
	const char *subjects;
	enum { NEEDS, EXCLUDES } how;
	const char *others;
	/* the message; a fact's name in braces, as in "{-o}", is replaced by the fact's value */
	const char *words;
};

/* Returns the message of the first conflict, with the values filled in, which the caller frees; NULL if there is no
 * conflict. */
char *conflict_find(const struct conflict *rows, size_t count, const struct given *given);

#endif
