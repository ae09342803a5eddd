/* The statements of a sequence. */
#ifndef FT_TESTS_RACE_VERBS_H
#define FT_TESTS_RACE_VERBS_H

#include "tests/unit/fake_world.h"

#include <stddef.h>

#define WORDS_MAX 80

/* SUBJECT VERB [OBJECT...] */
struct words {
	char *word[WORDS_MAX];
	size_t count;
};

/* The n-th word, "" after the last one; as a number. */
const char *word(const struct words *w, size_t n);
int number(const struct words *w, size_t n);

struct fake_task;

/* ---- race_verbs.c ---- */

/* Plays it; returns false if there is no such verb. */
bool race_verb(struct fake_task *task, const struct words *w);
void race_verbs_reset(void);
const char *fake_error_name(int error);

/* ---- race_world.c ---- */

/* Statements separated by "; ". */
void race_statements(const char *text);
/* Lines that describe the world before the tracer begins. */
void race_world(const char *text, struct world *world);

#endif
