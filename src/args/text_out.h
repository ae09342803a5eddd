/* A buffer for the text of one value, of a bounded length. */
#ifndef FT_ARGS_TEXT_OUT_H
#define FT_ARGS_TEXT_OUT_H

#include "base/util.h"

#define OUT_RESERVE 128 /* bytes for the brackets and quotes that close a text which has become too long */

struct out {
	char *text;
	size_t size, room; /* bytes that are used; that may be used before the text is full */
	unsigned steps;    /* values that may still be examined: a bound for those that add no text */
	bool is_full;      /* something was left out */
	bool is_said;      /* ... and "..." was added to the text */
};

/* Allocates a buffer for `room` bytes. Free it with out_free(). */
void out_init(struct out *out, size_t room);
void out_free(struct out *out);
/* Empties the text. */
void out_clear(struct out *out);

/* Add the whole text. If it does not fit, they add nothing, and the text is full: later calls add nothing. */
void out_add(struct out *out, const char *text);
void out_printf(struct out *out, const char *fmt, ...) FT_PRINTF(2, 3);
/* Counts a value. After too many values the text is full. False if it is full. */
bool out_step(struct out *out);
/* Close a part of the text. There is always room for that: a few bytes, a few levels deep. If the text is full, the
 * first of these calls adds "...": out_end() before the bracket, out_quote() after the quote. */
void out_end(struct out *out, const char *bracket);
void out_quote(struct out *out, const char *quote);
/* Returns the whole text, valid until the next change. */
const char *out_finish(struct out *out);

#endif
