/* Plays sequences that are written as text. tests/unit/races.c describes their form. */
#ifndef FT_TESTS_RACE_SCRIPT_H
#define FT_TESTS_RACE_SCRIPT_H

#include <stdbool.h>

struct race {
	char *name, *drawing; /* which actions race */
	char *world, *script; /* lines */
	const char *file;
	unsigned line;
};

/* Plays the race with the real tracer. Returns true if exactly the expected actions happened; else *report is a text
 * about what happened, which the caller frees. */
bool race_play(const struct race *race, char **report);

#endif
