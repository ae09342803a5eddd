#include "config.h"
#include "trace/text.h"

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
const char *const text_flags[TEXT_FLAGS] = {"refcount", "call"};

size_t text_identifier(const char *s)
{
	size_t n = 0;

	while (s[n] == '_' || (s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
	       (n && s[n] >= '0' && s[n] <= '9'))
		n++;
	return n;
}
