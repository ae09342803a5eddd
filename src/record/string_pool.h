/* Stores the strings that modules keep with an id. Each different string is stored once for all processes. */
#ifndef FT_RECORD_STRING_POOL_H
#define FT_RECORD_STRING_POOL_H

#include <stdint.h>

struct run;

/* Returns the number of a string; stores a copy of a new string. Returns 0 if there are too many strings. */
uint64_t interned_number(struct run *run, const char *text);
/* Returns the string with that number, which the run owns; NULL if there is none. */
const char *interned_text(const struct run *run, uint64_t number);
void interned_free(struct run *run);

#endif
