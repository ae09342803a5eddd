/* Matches names with patterns as in shells. */
#ifndef FT_BASE_GLOB_H
#define FT_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the pattern matches the whole text. `*` matches any bytes, `?` one byte, [a-z] a byte of the set,
 * [!a-z] and [^a-z] a byte outside of it; a backslash makes the next character ordinary. An unclosed bracket is
 * ordinary too, and so are the brackets of names: [] and [abi:...]. Compares bytes; the locale has no effect. The time
 * is at most proportional to the product of both lengths. */
bool glob_matches(const char *pattern, const char *text);
/* Returns the number of bytes before the pattern's first wildcard or backslash. Every matching text begins with these
 * bytes. If the result is the length of the whole pattern, the pattern matches only itself. */
size_t glob_literal(const char *pattern);

/* Returns true if the pattern has a bracket that is not closed; no function name has such a bracket. */
bool glob_is_open(const char *pattern);

/* Returns a pattern that matches this text only; the caller frees it. */
char *glob_quote(const char *text);

#endif
