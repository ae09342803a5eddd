/* Bytes that would break a line or a field of a trace, as \ooo: for the formats that are made of text. Private to
 * trace/. */
#ifndef FT_TRACE_ESCAPE_H
#define FT_TRACE_ESCAPE_H

#include <stdbool.h>

struct buf;

static inline bool text_is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* Whether the backslash at `s` begins an escape: \ooo, for a byte that would break its line or its
 * field (a control character, or one of `also`). Other backslashes stand for themselves; where one
 * would look like an escape, it is itself written as \134. So every line has one reading, and what
 * is read is written again as it was. */
bool text_is_escape(const char *s, const char *also);

/* Undoes the escapes in place; returns `s`. */
char *text_unescape(char *s, const char *also);

/* Appends `text` with bytes that are not plain (base/plain.h), what would be read as an escape, and the characters of
 * `also` as \ooo. */
void text_put_escaped(struct buf *out, const char *text, const char *also);

#endif
