/* A buffer of limited length for the text of one value. */
#ifndef FT_ARGS_TEXT_OUT_H
#define FT_ARGS_TEXT_OUT_H

#include "base/util.h"

#define OUT_RESERVE 128 /* bytes reserved for the brackets and quotes that close a text when it is full */

struct out {
	char *text;
	size_t size, room; /* number of bytes in use, and of bytes that may be used until the text is full */
	unsigned steps;    /* number of values that may still be formatted; also limits values that add no text */
	bool is_full;      /* some text was left out */
	bool is_said;      /* is_full is set, and "..." was added */
};

/* Allocates a buffer for `room` bytes; the caller frees it with out_free(). */
void out_init(struct out *out, size_t room);
void out_free(struct out *out);
void out_clear(struct out *out);

/* out_add() and out_printf() add the whole text. If it does not fit, they add nothing and mark the text as full; later
 * calls add nothing. */
void out_add(struct out *out, const char *text);
void out_printf(struct out *out, const char *fmt, ...) FT_PRINTF(2, 3);
/* Counts a formatted value; marks the text as full after too many. Returns false if the text is full. */
bool out_step(struct out *out);
/* out_end() and out_quote() close a bracket or a quote. Their room, OUT_RESERVE bytes, suffices if only a few brackets
 * and quotes, each of a few bytes, are open at a time. If the text is full, the first of these calls adds "...":
 * out_end() before the bracket, out_quote() after the quote. */
void out_end(struct out *out, const char *bracket);
void out_quote(struct out *out, const char *quote);
/* Returns the whole text; it is valid until the next change. */
const char *out_finish(struct out *out);

#endif
