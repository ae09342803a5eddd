/* Writes lines for people: as wide as the terminal at most, and coloured only there. */
#ifndef FT_REPORT_TERMINAL_LINES_H
#define FT_REPORT_TERMINAL_LINES_H

#include "base/buf.h"

#include <stdio.h>

enum line_colour { COLOUR_NONE, COLOUR_TITLE, COLOUR_FIGURE, COLOUR_BAR, COLOUR_FUNCTION, COLOUR_PLACE, COLOUR_SOURCE };

enum { LINE_COLOURS = 16 };

/* All but the first three members are zero at first. At last, buf_free(&lines->line). */
struct lines {
	FILE *out;
	size_t columns; /* 0: lines are not shortened */
	bool colours;
	struct buf line;
	/* The parts of the line that may be shortened: a name (all of the line if there is no name), then a path that
	 * ends the line (0: none). */
	size_t name_begin, name_end, path;
	struct {
		size_t at;
		enum line_colour colour;
	} changes[LINE_COLOURS];
	size_t change_count;
};

/* Sets the colour of what is added from now on, to the end of the line. */
void lines_colour(struct lines *lines, enum line_colour colour);
void lines_add(struct lines *lines, const char *format, ...) FT_PRINTF(2, 3);
/* Adds a name, which may be shortened if no other name follows in the line. */
void lines_add_name(struct lines *lines, const char *name);
/* Adds a path that ends the line, and may be shortened. */
void lines_add_path(struct lines *lines, const char *path);
/* Ends the line. Shortens it to the width of the terminal, and writes '?' for control characters from a trace. */
void lines_end(struct lines *lines);
/* Adds a bar of `width` characters, filled in proportion as `value` to `whole`. A value that is not 0 fills one at
 * least. */
void lines_add_bar(struct lines *lines, uint64_t value, uint64_t whole, unsigned width);

/* Returns the width of the terminal that `out` goes to, or 0 if it is none. */
size_t lines_columns(FILE *out);
/* Returns true if `out` is a terminal that has colours, and NO_COLOR is not set. */
bool lines_want_colours(FILE *out);

#define LINE(lines, ...) (lines_add(lines, __VA_ARGS__), lines_end(lines))

#endif
