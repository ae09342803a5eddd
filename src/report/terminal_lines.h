/* Writes lines of text; to a terminal in colours, and not wider than the terminal. */
#ifndef FT_REPORT_TERMINAL_LINES_H
#define FT_REPORT_TERMINAL_LINES_H

#include "base/buf.h"

#include <stdio.h>

enum line_colour { COLOUR_NONE, COLOUR_TITLE, COLOUR_FIGURE, COLOUR_BAR, COLOUR_FUNCTION, COLOUR_PLACE, COLOUR_SOURCE };

enum { LINE_COLOURS = 16 };

/* Lines that are being written. The caller sets the first three members, and the others to zero; at the end it calls
 * buf_free(&lines->line). */
struct lines {
	FILE *out;
	size_t columns; /* width of the terminal; 0: lines are not shortened */
	bool colours;
	struct buf line;
	/* The parts of the line that may be shortened: the name from name_begin to name_end, and the path from `path`
	 * to the end of the line. 0: none. Without a name and a path, the whole line may be shortened. */
	size_t name_begin, name_end, path;
	struct {
		size_t at;
		enum line_colour colour;
	} changes[LINE_COLOURS];
	size_t change_count;
};

/* Sets the colour of the following text, until the line ends. */
void lines_colour(struct lines *lines, enum line_colour colour);
void lines_add(struct lines *lines, const char *format, ...) FT_PRINTF(2, 3);
/* Adds a name, which may be shortened if it is the last name in the line. */
void lines_add_name(struct lines *lines, const char *name);
/* Adds a path, which may be shortened, at the end of the line. */
void lines_add_path(struct lines *lines, const char *path);
/* Ends the line and writes it: shortened to the width of the terminal, and with '?' for control characters from a
 * trace. */
void lines_end(struct lines *lines);
/* Adds a bar of `width` characters, of which a part is filled: `value` / `whole` of it, but at least one character if
 * the value is not 0. */
void lines_add_bar(struct lines *lines, uint64_t value, uint64_t whole, unsigned width);

/* Returns the width of the terminal to which `out` writes, but at least 40 (80 if the width is unknown); returns 0 if
 * `out` is no terminal. */
size_t lines_columns(FILE *out);
/* Returns true if `out` is a terminal with colours, and NO_COLOR is not set. */
bool lines_want_colours(FILE *out);

#define LINE(lines, ...) (lines_add(lines, __VA_ARGS__), lines_end(lines))

#endif
