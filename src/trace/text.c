#include "config.h"
#include "trace/text.h"
#include "base/buf.h"
#include "base/plain.h"

#include <string.h>

const char *const text_lost_kinds[LOST_KINDS] = {
	[LOST_DEFINITELY] = "definitely", [LOST_INDIRECTLY] = "indirectly", [LOST_POSSIBLY] = "possibly"};

const char *const text_heap_lines[TEXT_HEAP_LINES] = {
	"heap bottom",
	"heap top",
	"lowest block",
	"highest block",
	"non-mapped space allocated from system",
	"count of free chunks",
	"count of freed fastbin blocks",
	"count of mapped regions",
	"space in mapped regions",
	"maximum total allocated space",
	"space available in freed fastbin blocks",
	"total allocated space, both normal and mmapped",
	"total free space",
	"space ideally releasable via malloc_trim",
};

const char *const text_filters[TEXT_FILTERS] = {"leaks", "compress", "resolve"};
const char *const text_stack_ends[3] = {"", " (cut)", " (lost)"};
const char *const text_flags[TEXT_FLAGS] = {"refcount", "call"};

const char *const text_keys[TEXT_KEYS] = {"version=", "arch=",   "timestamp=",  "process=",         "pid=",
					  "filter=",  "origin=", "timestamps=", "backtrace depth=", "attached="};

size_t text_identifier(const char *s)
{
	size_t n = 0;

	while (s[n] == '_' || (s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
	       (n && s[n] >= '0' && s[n] <= '9'))
		n++;
	return n;
}

bool text_is_build_id(const char *hex)
{
	const size_t length = strspn(hex, "0123456789abcdefABCDEF");

	return length && length % 2 == 0 && !hex[length];
}

/* The byte that the three octal digits at `s` stand for; 0 if that is none. */
static char octal(const char *s)
{
	if (s[0] < '0' || s[0] > '3' || s[1] < '0' || s[1] > '7' || s[2] < '0' || s[2] > '7')
		return 0;
	return (char)((s[0] - '0') << 6 | (s[1] - '0') << 3 | (s[2] - '0'));
}

/* Whether the backslash at `s` begins an escape: \ooo, for a byte that would break its line or its
 * field (a control character, or one of `also`). Other backslashes stand for themselves; where one
 * would look like an escape, it is itself written as \134. So every line has one reading, and what
 * is read is written again as it was. */
static bool text_is_escape(const char *s, const char *also)
{
	char c;

	/* An escaped backslash is one only before what would be an escape without it. */
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

/* How many bytes stand as they are; 0: one that is to be escaped. */
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

void text_put_lines(struct buf *out, const char *text)
{
	while (*text) {
		const size_t size = *text == '\n' || *text == '\t' ? 1 : plain_size(text);
		char escaped[PLAIN_ESCAPE];

		if (!size)
			plain_escape(*text, escaped);
		buf_add(out, size ? text : escaped, size ? size : sizeof(escaped));
		text += size ? size : 1;
	}
}
