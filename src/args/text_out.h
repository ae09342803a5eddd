/* The text of one value, of a bounded length. */
#ifndef FT_ARGS_TEXT_OUT_H
#define FT_ARGS_TEXT_OUT_H

#include "base/util.h"

#define OUT_RESERVE 128 /* bytes for what ends a text that has become too long: brackets, quotes */

struct out {
	char *text;
	size_t size, room; /* bytes that it has, and may have before it is full */
	unsigned steps;    /* values in it that may still be looked at, for such as have no text */
	bool is_full;      /* something was left out */
	bool is_said;      /* ... and the text says so, by "..." */
};

/* Allocates room for `room` bytes. out_free(). */
void out_init(struct out *out, size_t room);
void out_free(struct out *out);
/* Begins another text. */
void out_clear(struct out *out);

/* Adds all of it, or nothing from there on. */
void out_add(struct out *out, const char *text);
void out_printf(struct out *out, const char *fmt, ...) FT_PRINTF(2, 3);
/* Counts a value. False: there were too many, and the text is full. */
bool out_step(struct out *out);
/* Adds what ends a part of the text, for which there is always room: a few bytes, nested a few deep. end: behind the
 * first that is full it says so by "...", before the closing bracket; quote: behind it. */
void out_end(struct out *out, const char *bracket);
void out_quote(struct out *out, const char *quote);
/* The whole text, until the next change. */
const char *out_finish(struct out *out);

#endif
