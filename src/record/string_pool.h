/* Texts that modules keep with an id, each kept once for all processes. */
#ifndef FT_RECORD_STRING_POOL_H
#define FT_RECORD_STRING_POOL_H

#include <stdint.h>

struct run;

/* A number for the text; 0: there are too many. */
uint64_t interned_number(struct run *run, const char *text);
/* The text of a number, which the run has; NULL: there is none. */
const char *interned_text(const struct run *run, uint64_t number);
void interned_free(struct run *run);

#endif
