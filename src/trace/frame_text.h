/* Compares the names in the text of a frame with the names that a namer finds for its address. */
#ifndef FT_TRACE_FRAME_TEXT_H
#define FT_TRACE_FRAME_TEXT_H

#include "trace/event.h"

/* This mark follows the name of a function that is inlined into the function of the next line. */
#define TEXT_INLINED " (inlined)"

/* How much is known of a frame, from its text (see frame_texts in struct record_call) or from a namer; in ascending
 * order. */
enum frame_worth {
	FRAME_UNKNOWN, /* nothing: no text, or "in ??" */
	FRAME_MODULE,
	FRAME_LINE, /* file and line, but no function */
	FRAME_FUNCTION,
	FRAME_FUNCTION_LINE,
};

/* Offsets in one line of a frame's text: of the function's name, and of the object's path (0 if the line has no
 * object). After the name comes either the source line or the object. */
struct frame_text_parts {
	size_t name_begin, name_end, module;
};

/* Parses one line of a frame's text; length: in bytes, without the newline. */
struct frame_text_parts frame_text_parts(const char *text, size_t length);
/* Cuts `end` off a text if the text ends with it: subtracts its length from *length. Returns false if it does not. */
bool frame_text_cut_end(const char *text, size_t *length, const char *end);
enum frame_worth frame_text_worth(const char *text);

/* Looks up an address if the namer may know more than the frame's text contains. Returns the number of entries in
 * *names; 0 if the text contains as much, or if the namer finds nothing. namer may be NULL. */
size_t frame_lookup(frame_namer namer, void *context, uint64_t address, const char *text,
		    const struct frame_name **names);

#endif
