/* Definitions of the text format, for its writer and its reader. Private to trace/.
 *
 * The document TEXT_PROTOCOL defines the format. There are two dialects: 1.4, and "compat", which the sp-rtrace 2.0
 * tools read and write. functrace-formats(5) describes both. */
#ifndef FT_TRACE_TEXT_TEXT_FORMAT_H
#define FT_TRACE_TEXT_TEXT_FORMAT_H

#include "base/util.h"
#include "trace/escape.h"
#include "trace/event.h"

#include <string.h>

#define TEXT_COMPAT_MAJOR 2

#define TEXT_MODULE_LINE   "## tracing module: "
#define TEXT_THREAD_LINE   "## thread "
#define TEXT_BUILD_LINE    "## build-id "
#define TEXT_SCAN_LINE     "## scan "
#define TEXT_LOST_LINE     "## lost "
#define TEXT_BEFORE_LINE   "## before "
#define TEXT_RESIDENT_LINE "## resident "
#define TEXT_HEAP_LINE     "## heap status information:"

/* The mark of a call of kind CALL_COPY, because the format has no syntax for such calls. The mark looks like an
 * argument with the number 0. No real argument has this number. */
#define TEXT_COPY_VALUE "#kind=copy"
#define TEXT_COPY_LINE  "\t$0 = " TEXT_COPY_VALUE

/* Maximum number of declared types that are remembered. The writer appends a type to the function's name in a call, and
 * the reader finds it there. Real traces declare far fewer. */
#define TEXT_TYPES_MAX 4096

/* The text after the address 0 that ends an incomplete stack, indexed by enum stack_end. */
extern const char *const text_stack_ends[3];

#define TEXT_HEAP_LINES 14 /* number of lines after TEXT_HEAP_LINE */
/* The words for the classes in TEXT_LOST_LINE, indexed by enum lost_kind. */
extern const char *const text_lost_kinds[LOST_KINDS];
/* The labels of the lines after TEXT_HEAP_LINE: bottom, top, lowest and highest block (in hexadecimal), then info[] of
 * struct record_heap (in decimal). */
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

/* Returns true if a text is a build-id: an even number of hexadecimal digits. */
bool text_is_build_id(const char *hex);

/* Returns the length of the identifier at `s`: letters, digits and underscores; the first character is no digit. */
size_t text_identifier(const char *s);

struct buf;

/* Appends the character at `text`, which is not the end of the text. A byte that is not plain
 * (base/terminal_escape.h) is escaped, unless it is one of `kept`. Returns the address after the character. */
const char *text_put_character(struct buf *out, const char *text, const char *kept);

#endif
