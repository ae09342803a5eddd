/* Sequences as text: tests/unit/races.c describes the form. */
#ifndef FT_TESTS_RACE_SCRIPT_H
#define FT_TESTS_RACE_SCRIPT_H

#include <stdbool.h>

struct race {
	char *name, *drawing; /* what races with what */
	char *world, *script; /* lines */
	const char *file;
	unsigned line;
};

/* Plays it with the tracer. True if all that is expected has been done, and nothing else; else *report, for the
 * caller to free, says what was done. */
bool race_play(const struct race *race, char **report);

#endif
