/* Names that stand in a text already, against names that are found now. */
#ifndef FT_TRACE_FRAME_TEXT_H
#define FT_TRACE_FRAME_TEXT_H

#include "trace/event.h"

/* What followed an address in a text (as in struct record_call; NULL nothing), or what a namer
 * found, by how much it tells. */
enum frame_worth {
	FRAME_UNKNOWN, /* nothing, "in ??" */
	FRAME_MODULE,
	FRAME_LINE, /* of a function without a name */
	FRAME_FUNCTION,
	FRAME_FUNCTION_LINE,
};

enum frame_worth frame_text_worth(const char *text);
enum frame_worth frame_names_worth(const struct frame_name *names, size_t count);

/* Looks an address up if that can tell more than the text; returns the number of lines in *names,
 * 0 if the text (or nothing) stands. namer may be NULL. */
size_t frame_lookup(frame_namer namer, void *context, uint64_t address, const char *text,
		    const struct frame_name **names);

#endif
