/* What can happen in a sequence. */
#ifndef FT_TESTS_RACE_VERBS_H
#define FT_TESTS_RACE_VERBS_H

#include "tests/unit/fake_world.h"

/* Statements separated by "; ". */
void race_statements(const char *text);
/* The lines that describe the world before the tracer begins. */
void race_world(const char *text, struct world *world);
const char *fake_error_name(int error);

#endif
