#include "config.h"
#include "trace/escape.h"
#include "base/buf.h"
#include "base/terminal_escape.h"

#include <string.h>

/* Returns the byte that the three octal digits at `s` encode; 0 if there are no such digits. */
static char octal(const char *s)
{
	if (s[0] < '0' || s[0] > '3' || s[1] < '0' || s[1] > '7' || s[2] < '0' || s[2] > '7')
		return 0;
	return (char)((s[0] - '0') << 6 | (s[1] - '0') << 3 | (s[2] - '0'));
}

bool text_is_escape(const char *s, const char *also)
{
	char c;

	/* \134 encodes a backslash. It is an escape only if this backslash, together with the characters after it,
	 * would begin an escape. */
	while ((c = octal(s + 1)) == '\\')
		s += 3;
	return c && (text_is_control(c) || (c & 0x80) || strchr(also, c));
}

char *text_unescape(char *s, const char *also)
{
	const char *from = strchr(s, '\\');

	if (!from)
		return s;
	char *to = s + (from - s);

	while (*from) {
		if (*from == '\\' && text_is_escape(from, also)) {
			*to++ = octal(from + 1);
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return s;
}

/* Returns the number of bytes of the character at `c`; 0 if it must be escaped. */
static size_t size_unescaped(const char *c, const char *also)
{
	if (*c == '\\')
		return !text_is_escape(c, also);
	return *also && strchr(also, *c) ? 0 : plain_size(c);
}

void text_put_escaped(struct buf *out, const char *text, const char *also)
{
	for (const char *c = text; *c; c++) {
		const char *plain = c;

		for (size_t size; *c && (size = size_unescaped(c, also)) > 0;)
			c += size;
		buf_add(out, plain, (size_t)(c - plain));
		if (!*c)
			break;
		char escaped[PLAIN_ESCAPE];

		plain_escape(*c, escaped);
		buf_add(out, escaped, sizeof(escaped));
	}
}
