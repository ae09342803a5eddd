/* Escapes of text formats: bytes that would break a line or a field are written as \ooo. Private to trace/. */
#ifndef FT_TRACE_ESCAPE_H
#define FT_TRACE_ESCAPE_H

#include <stdbool.h>

struct buf;

static inline bool text_is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* Returns true if the backslash at `s` begins an escape: \ooo of a control character, of a byte above 127, or of one of
 * `also`; or \134, which is written for a backslash that would otherwise begin an escape. Any other backslash is an
 * ordinary character. So every line has one meaning, and a line that is read and written again is unchanged. */
bool text_is_escape(const char *s, const char *also);

/* Replaces the escapes by their bytes, in place. Returns `s`. also: the characters that were escaped besides control
 * characters and bytes above 127. */
char *text_unescape(char *s, const char *also);

/* Appends `text`. Bytes that are not plain (base/terminal_escape.h), the characters of `also`, and a backslash that
 * would look like the beginning of an escape are written as \ooo. */
void text_put_escaped(struct buf *out, const char *text, const char *also);

#endif
