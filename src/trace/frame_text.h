/* Names that stand in a text already, against names that are found now. */
#ifndef FT_TRACE_FRAME_TEXT_H
#define FT_TRACE_FRAME_TEXT_H

#include "trace/event.h"

/* Behind the name of a function that is inlined into that of the frame before it. */
#define TEXT_INLINED " (inlined)"

/* The words that followed an address in a text (as in struct record_call; NULL nothing), or what a namer found, by how
 * much it says. */
enum frame_worth {
	FRAME_UNKNOWN, /* nothing, "in ??" */
	FRAME_MODULE,
	FRAME_LINE, /* of a function without a name */
	FRAME_FUNCTION,
	FRAME_FUNCTION_LINE,
};

/* Where the name stands in one line of such a text, and where the path of its object (0: there is
 * none). Behind the name follow the source line or that. */
struct frame_text_parts {
	size_t name_begin, name_end, module;
};

/* Takes one line of `length` bytes apart. */
struct frame_text_parts frame_text_parts(const char *text, size_t length);
enum frame_worth frame_text_worth(const char *text);

/* Looks an address up if a name can say more than the text; returns the number of lines in *names, 0 if the text (or
 * nothing) stands. namer may be NULL. */
size_t frame_lookup(frame_namer namer, void *context, uint64_t address, const char *text,
		    const struct frame_name **names);

#endif
