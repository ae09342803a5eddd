/* The statements of a sequence. */
#ifndef FT_TESTS_RACE_VERBS_H
#define FT_TESTS_RACE_VERBS_H

#include "tests/unit/fake_world.h"

#include <stddef.h>

#define WORDS_MAX 80

/* The words of one statement: SUBJECT VERB [OBJECT...] */
struct words {
	char *word[WORDS_MAX];
	size_t count;
};

/* word() returns the n-th word, or "" after the last one; number() returns it as a number. */
const char *word(const struct words *w, size_t n);
int number(const struct words *w, size_t n);

struct fake_task;

/* ---- race_verbs.c ---- */

/* Executes the statement for the task. Returns false if no verb has the name of its second word. */
bool race_verb(struct fake_task *task, const struct words *w);
void race_verbs_reset(void);
const char *fake_error_name(int error);

/* ---- race_world.c ---- */

/* Executes statements that are separated by "; ". */
void race_statements(const char *text);
/* Prepares *world as the lines of the text describe it, before the tracer begins. */
void race_world(const char *text, struct world *world);

#endif
