#include "config.h"
#include "report/terminal_lines.h"
#include "report/shorten.h"
#include "base/terminal_escape.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, COLUMNS_MIN = 40 };

static const char *const escapes[] = {
	[COLOUR_NONE] = "\033[0m",    [COLOUR_TITLE] = "\033[1m",    [COLOUR_FIGURE] = "\033[1;31m",
	[COLOUR_BAR] = "\033[31m",    [COLOUR_FUNCTION] = "\033[1m", [COLOUR_PLACE] = "\033[36m",
	[COLOUR_SOURCE] = "\033[33m",
};

void lines_colour(struct lines *lines, enum line_colour colour)
{
	if (!lines->colours || lines->change_count == LINE_COLOURS)
		return;
	lines->changes[lines->change_count].at = lines->line.size;
	lines->changes[lines->change_count++].colour = colour;
}

void lines_add(struct lines *lines, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	const int length = vasprintf(&text, format, args);

	va_end(args);
	if (length < 0)
		abort();
	buf_add(&lines->line, text, (size_t)length);
	free(text);
}

void lines_add_name(struct lines *lines, const char *name)
{
	lines->name_begin = lines->line.size;
	buf_add_str(&lines->line, name);
	lines->name_end = lines->line.size;
}

void lines_add_path(struct lines *lines, const char *path)
{
	lines->path = lines->line.size;
	buf_add_str(&lines->line, path);
}

/* Moves the colour changes from position `from` on to the left by `by` bytes, because a part of the line before them
 * was shortened. */
static void move_changes(struct lines *lines, size_t from, size_t by)
{
	for (size_t i = 0; i < lines->change_count; i++)
		if (lines->changes[i].at >= from)
			lines->changes[i].at -= by;
}

static void shorten_line(struct lines *lines)
{
	struct buf *line = &lines->line;
	const size_t size = line->size;

	if (!lines->name_end && !lines->path)
		lines->name_end = size;
	shorten_name(line, lines->name_begin, lines->name_end, size - lines->columns);
	move_changes(lines, lines->name_end, size - line->size);
	if (lines->path && line->size > lines->columns)
		shorten_name(line, lines->path - (size - line->size), line->size, line->size - lines->columns);
}

static void write_coloured(const struct lines *lines)
{
	size_t from = 0;

	for (size_t i = 0; i < lines->change_count; i++) {
		const size_t at = lines->changes[i].at < lines->line.size ? lines->changes[i].at : lines->line.size;

		fwrite(lines->line.data + from, 1, at - from, lines->out);
		if (i)
			fputs(escapes[COLOUR_NONE], lines->out);
		if (lines->changes[i].colour != COLOUR_NONE)
			fputs(escapes[lines->changes[i].colour], lines->out);
		from = at;
	}
	fwrite(lines->line.data + from, 1, lines->line.size - from, lines->out);
	fputs(escapes[COLOUR_NONE], lines->out);
}

void lines_end(struct lines *lines)
{
	struct buf *line = &lines->line;

	while (line->size && line->data[line->size - 1] == ' ')
		line->size--;
	if (lines->columns && line->size > lines->columns)
		shorten_line(lines);
	plain_mask((char *)line->data, line->size, '?');
	if (lines->change_count)
		write_coloured(lines);
	else
		buf_write(line, lines->out);
	fputc('\n', lines->out);
	lines->name_begin = lines->name_end = lines->path = lines->change_count = 0;
	line->size = 0;
}

void lines_add_bar(struct lines *lines, uint64_t value, uint64_t whole, unsigned width)
{
	const uint64_t length = whole ? (uint64_t)((double)value / (double)whole * width + 0.5) : 0;

	for (unsigned i = 0; i < width; i++)
		buf_add_char(&lines->line, i < length || (!i && value) ? '#' : ' ');
}

size_t lines_columns(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)))
		return 0;
	if (ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_DEFAULT;
	return size.ws_col < COLUMNS_MIN ? COLUMNS_MIN : size.ws_col;
}

bool lines_want_colours(FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}
