/* Escapes bytes that would break a line or a field of a trace, as \ooo, for formats that are text. Private to
 * trace/. */
#ifndef FT_TRACE_ESCAPE_H
#define FT_TRACE_ESCAPE_H

#include <stdbool.h>

struct buf;

static inline bool text_is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* Returns whether the backslash at `s` begins an escape: \ooo of a control character, a byte above 127, or one of
 * `also`. Any other backslash is itself; one that would look like an escape is written as \134. So every line has one
 * meaning, and is written again as it was read. */
bool text_is_escape(const char *s, const char *also);

/* Undoes the escapes in place; returns `s`. */
char *text_unescape(char *s, const char *also);

/* Appends `text`. Writes as \ooo: bytes that are not plain (base/terminal_escape.h), the characters of `also`, and a
 * backslash that would look like the beginning of an escape. */
void text_put_escaped(struct buf *out, const char *text, const char *also);

#endif
