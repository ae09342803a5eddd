/* Compares the names of a frame in a text with those that are found by address. */
#ifndef FT_TRACE_FRAME_TEXT_H
#define FT_TRACE_FRAME_TEXT_H

#include "trace/event.h"

/* Follows the name of a function that is inlined into the function of the next line. */
#define TEXT_INLINED " (inlined)"

/* How much is told by the text after an address (as in struct record_call; may be NULL), or by the names of a namer; in
 * ascending order. */
enum frame_worth {
	FRAME_UNKNOWN, /* nothing, "in ??" */
	FRAME_MODULE,
	FRAME_LINE, /* the line of a function without a name */
	FRAME_FUNCTION,
	FRAME_FUNCTION_LINE,
};

/* Offsets in one line of such a text: of the name, and of the path of its object (0 if there is none). The name is
 * followed by the source line or by the object. */
struct frame_text_parts {
	size_t name_begin, name_end, module;
};

/* Parses one line of `length` bytes. */
struct frame_text_parts frame_text_parts(const char *text, size_t length);
enum frame_worth frame_text_worth(const char *text);

/* Looks up an address if its names can tell more than the text. Returns the number of lines in *names; 0 if the text is
 * to be used, or nothing is known. namer may be NULL. */
size_t frame_lookup(frame_namer namer, void *context, uint64_t address, const char *text,
		    const struct frame_name **names);

#endif
