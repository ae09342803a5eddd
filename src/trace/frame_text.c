#include "config.h"
#include "trace/frame_text.h"

#include <string.h>

static bool frame_text_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Returns the last line of a frame's text, without its address. It names the function itself; the lines before it name
 * functions that are inlined there. */
static const char *last_line(const char *text)
{
	const char *line = strrchr(text, '\n');

	return line ? line + 1 + strcspn(line + 1, " ") : text;
}

/* Returns the offset at which `word` begins for the last time in the line; `length` if the line does not contain it.
 * The blanks around the word are a part of `word`. */
static size_t last_word(const char *text, size_t length, const char *word)
{
	const size_t size = strlen(word);

	for (size_t i = length; i-- > 0;)
		if (i + size <= length && !memcmp(text + i, word, size))
			return i;
	return length;
}

bool frame_text_cut_end(const char *text, size_t *length, const char *end)
{
	const size_t size = strlen(end);

	if (*length < size || memcmp(text + *length - size, end, size))
		return false;
	*length -= size;
	return true;
}

/* Returns where ` at FILE:LINE` begins at the end of the line; `length` if there is no such text. */
static size_t place_of_line(const char *text, size_t length)
{
	size_t end = length;

	frame_text_cut_end(text, &end, TEXT_INLINED);
	const size_t at = last_word(text, end, " at ");
	const size_t digits = end;

	while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	return end < digits && end && text[end - 1] == ':' && at < end ? at : length;
}

struct frame_text_parts frame_text_parts(const char *text, size_t length)
{
	struct frame_text_parts parts = {.name_end = place_of_line(text, length)};

	if (parts.name_end == length) {
		parts.name_end = last_word(text, length, " from ");
		if (parts.name_end < length)
			parts.module = parts.name_end + strlen(" from ");
	}
	parts.name_begin = frame_text_begins(text, " in ") ? strlen(" in ") : strlen(" ");
	if (parts.name_begin > parts.name_end)
		parts.name_begin = parts.name_end;
	return parts;
}

enum frame_worth frame_text_worth(const char *text)
{
	if (!text)
		return FRAME_UNKNOWN;
	text = last_line(text);
	/* The tracer functracer writes "<undefined>" for unknown functions. */
	if (!*text || frame_text_begins(text, " in ??") || frame_text_begins(text, " <undefined>"))
		return FRAME_UNKNOWN;
	if (frame_text_begins(text, " from "))
		return FRAME_MODULE;
	if (frame_text_begins(text, " at "))
		return FRAME_LINE;
	const size_t length = strlen(text);

	return place_of_line(text, length) < length ? FRAME_FUNCTION_LINE : FRAME_FUNCTION;
}

static enum frame_worth frame_names_worth(const struct frame_name *names, size_t count)
{
	if (!count)
		return FRAME_UNKNOWN;
	const struct frame_name *own = &names[count - 1];
	const bool has_place = own->file && own->line;

	if (own->function)
		return has_place ? FRAME_FUNCTION_LINE : FRAME_FUNCTION;
	return has_place ? FRAME_LINE : own->module ? FRAME_MODULE : FRAME_UNKNOWN;
}

size_t frame_lookup(frame_namer namer, void *context, uint64_t address, const char *text,
		    const struct frame_name **names)
{
	const enum frame_worth worth = frame_text_worth(text);

	if (!namer || worth == FRAME_FUNCTION_LINE)
		return 0;
	const size_t count = namer(context, address, names);

	return text && frame_names_worth(*names, count) <= worth ? 0 : count;
}
