/* The text format: what its writer and its reader share.  Private to trace/.
 *
 * The format is the document TEXT_PROTOCOL's, in two dialects: 1.4, and "compat", what the
 * sp-rtrace 2.0 tools read and write.  functrace-formats(5) describes both. */
#ifndef FT_TRACE_TEXT_TEXT_FORMAT_H
#define FT_TRACE_TEXT_TEXT_FORMAT_H

#include "base/util.h"
#include "trace/escape.h"
#include "trace/event.h"

#include <string.h>

#define TEXT_COMPAT_MAJOR 2
#define TEXT_DAY_NS       UINT64_C(86400000000000)

#define TEXT_MODULE_LINE   "## tracing module: "
#define TEXT_THREAD_LINE   "## thread "
#define TEXT_BUILD_LINE    "## build-id "
#define TEXT_SCAN_LINE     "## scan "
#define TEXT_LOST_LINE     "## lost "
#define TEXT_BEFORE_LINE   "## before "
#define TEXT_RESIDENT_LINE "## resident "
#define TEXT_HEAP_LINE     "## heap status information:"

/* The argument 0, which no function has: text has no form of its own for a copy. */
#define TEXT_COPY_VALUE "#kind=copy"
#define TEXT_COPY_LINE  "\t$0 = " TEXT_COPY_VALUE

/* Declared types of which calls show the name; more than any trace has. */
#define TEXT_TYPES_MAX 4096

/* Behind the address 0 that ends a stack's frames; by enum stack_end. */
extern const char *const text_stack_ends[3];

/* The lines under TEXT_HEAP_LINE: bottom, top, lowest and highest block (hexadecimal), then the
 * ten figures of struct record_heap (decimal). */
#define TEXT_HEAP_LINES 14
/* What stands in TEXT_LOST_LINE for each class. */
extern const char *const text_lost_kinds[LOST_KINDS];
extern const char *const text_heap_lines[TEXT_HEAP_LINES];

/* The names of the bits of enum trace_filter and enum resource_flags, lowest first. */
#define TEXT_FILTERS 3
extern const char *const text_filters[TEXT_FILTERS];
#define TEXT_FLAGS 2
extern const char *const text_flags[TEXT_FLAGS];

/* The keys of the header, each with its '='. */
#define TEXT_KEYS 10
extern const char *const text_keys[TEXT_KEYS];

static inline bool text_begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* Whether a build-id is what it should be: hexadecimal digits, two a byte. */
bool text_is_build_id(const char *hex);

/* The length of an identifier at `s`: letters, digits and underscores, no digit first. */
size_t text_identifier(const char *s);

struct buf;

/* Appends lines that were read from a trace, as they were but for bytes that are not plain. */
void text_put_lines(struct buf *out, const char *text);

#endif
