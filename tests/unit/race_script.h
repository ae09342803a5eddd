/* Sequences as text: tests/unit/races.c describes the form. */
#ifndef FT_TESTS_RACE_SCRIPT_H
#define FT_TESTS_RACE_SCRIPT_H

#include <stdbool.h>

struct race {
	char *name, *drawing; /* which actions race */
	char *world, *script; /* lines */
	const char *file;
	unsigned line;
};

/* Plays it with the tracer. Returns true if exactly the expected actions happened; else *report has what happened, and
 * the caller frees it. */
bool race_play(const struct race *race, char **report);

#endif
