/* What can happen in a sequence. */
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

/* The n-th word, "" behind the last; as a number. */
const char *word(const struct words *w, size_t n);
int number(const struct words *w, size_t n);

struct fake_task;

/* ---- race_verbs.c ---- */

/* Does it; false: there is no such verb. */
bool race_verb(struct fake_task *task, const struct words *w);
void race_verbs_reset(void);
const char *fake_error_name(int error);

/* ---- race_world.c ---- */

/* Statements separated by "; ". */
void race_statements(const char *text);
/* The lines that describe the world before the tracer begins. */
void race_world(const char *text, struct world *world);

#endif
