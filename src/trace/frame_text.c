#include "config.h"
#include "trace/frame_text.h"

#include <string.h>

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* The last of several lines is the function's own, those before it are inlined there. */
static const char *last_line(const char *text)
{
	const char *line = strrchr(text, '\n');

	return line ? line + 1 + strcspn(line + 1, " ") : text;
}

/* Whether it ends in ` at FILE:LINE`. */
static bool has_line(const char *text)
{
	const size_t length = strlen(text);
	size_t digits = 0;

	while (digits < length && text[length - 1 - digits] >= '0' && text[length - 1 - digits] <= '9')
		digits++;
	return digits && digits < length && text[length - 1 - digits] == ':' && strstr(text, " at ");
}

enum frame_worth frame_text_worth(const char *text)
{
	if (!text)
		return FRAME_UNKNOWN;
	text = last_line(text);
	/* functracer's own word for it is the second. */
	if (!*text || begins(text, " in ??") || begins(text, " <undefined>"))
		return FRAME_UNKNOWN;
	if (begins(text, " from "))
		return FRAME_MODULE;
	if (begins(text, " at "))
		return FRAME_LINE;
	return has_line(text) ? FRAME_FUNCTION_LINE : FRAME_FUNCTION;
}

enum frame_worth frame_names_worth(const struct frame_name *names, size_t count)
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
