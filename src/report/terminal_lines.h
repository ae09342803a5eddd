/* Lines for people: as wide as the terminal at most, coloured only there. */
#ifndef FT_REPORT_TERMINAL_LINES_H
#define FT_REPORT_TERMINAL_LINES_H

#include "base/buf.h"

#include <stdio.h>

enum line_colour { COLOUR_NONE, COLOUR_TITLE, COLOUR_FIGURE, COLOUR_BAR, COLOUR_FUNCTION, COLOUR_PLACE, COLOUR_SOURCE };

enum { LINE_COLOURS = 16 };

/* Zero but for the first three fields at first; buf_free(&lines->line) at last. */
struct lines {
	FILE *out;
	size_t columns; /* 0: lines are as long as they are */
	bool colours;
	struct buf line;
	/* What may be shortened in the line: a name (all of it if there is no name), then a path that ends the line (0:
	 * none). */
	size_t name_begin, name_end, path;
	struct {
		size_t at;
		enum line_colour colour;
	} changes[LINE_COLOURS];
	size_t change_count;
};

/* What is added from now on has this colour, to the end of the line. */
void lines_colour(struct lines *lines, enum line_colour colour);
void lines_add(struct lines *lines, const char *format, ...) FT_PRINTF(2, 3);
/* Adds a name, which may be shortened; it is the last one of its line that may. */
void lines_add_name(struct lines *lines, const char *name);
/* Adds a path that ends the line. */
void lines_add_path(struct lines *lines, const char *path);
/* Ends the line, shortened to the width of the terminal; control characters from a trace become '?'. */
void lines_end(struct lines *lines);
/* A bar of `width` characters, of which as many are filled as value has of whole; what is not 0 shows. */
void lines_add_bar(struct lines *lines, uint64_t value, uint64_t whole, unsigned width);

/* How wide the terminal is that `out` goes to; 0: it is none. */
size_t lines_columns(FILE *out);
/* Whether colours are wanted there: it is a terminal that has some, and NO_COLOR is not set. */
bool lines_want_colours(FILE *out);

#define LINE(lines, ...) (lines_add(lines, __VA_ARGS__), lines_end(lines))

#endif
