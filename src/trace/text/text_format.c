#include "config.h"
#include "trace/text/text_format.h"
#include "base/buf.h"
#include "base/terminal_escape.h"

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

const char *text_put_character(struct buf *out, const char *text, const char *kept)
{
	const size_t plain = plain_size(text), size = plain ? plain : 1;
	char escaped[PLAIN_ESCAPE];

	if (plain || strchr(kept, *text)) {
		buf_add(out, text, size);
	} else {
		plain_escape(*text, escaped);
		buf_add(out, escaped, sizeof(escaped));
	}
	return text + size;
}
