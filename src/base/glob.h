/* Patterns for names, as shells have them. */
#ifndef FT_BASE_GLOB_H
#define FT_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the pattern stands for the whole text. `*` is any bytes, `?` one, [a-z] one of a set, [!a-z] or [^a-z] one
 * that is not in it, and what follows a backslash is itself. A bracket that is not closed is itself, and so are those
 * that names have: [] and [abi:...]. Bytes are compared, in any locale; the time is at most the lengths' product. */
bool glob_matches(const char *pattern, const char *text);
/* How many bytes of the pattern precede its first wildcard: each text that it matches begins with them. All of them if
 * it has none: then it matches itself only. */
size_t glob_literal(const char *pattern);

/* Whether a bracket is not closed: no name of a function has such a one. */
bool glob_is_open(const char *pattern);

/* The pattern that stands for this text only; the caller frees it. */
char *glob_quote(const char *text);

#endif
