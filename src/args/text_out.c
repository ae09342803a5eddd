#include "config.h"
#include "args/text_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 4096

void out_init(struct out *out, size_t room)
{
	*out = (struct out){.text = xmalloc(room + OUT_RESERVE), .room = room};
	out_clear(out);
}

void out_free(struct out *out)
{
	free(out->text);
	*out = (struct out){0};
}

void out_clear(struct out *out)
{
	out->size = 0;
	out->text[0] = '\0';
	out->steps = STEPS_MAX;
	out->is_full = out->is_said = false;
}

/* Returns the number of bytes left. The text may be longer than `room`, because brackets use the reserve. */
static size_t left_in(const struct out *out)
{
	return out->size < out->room ? out->room - out->size : 0;
}

void out_add(struct out *out, const char *text)
{
	const size_t size = strlen(text);

	if (out->is_full)
		return;
	if (size >= left_in(out)) {
		out->is_full = true;
		return;
	}
	memcpy(out->text + out->size, text, size + 1);
	out->size += size;
}

void out_printf(struct out *out, const char *fmt, ...)
{
	const size_t left = left_in(out);
	va_list args;

	if (out->is_full)
		return;
	va_start(args, fmt);
	const int size = vsnprintf(out->text + out->size, left, fmt, args);
	va_end(args);

	if (size < 0 || (size_t)size >= left) {
		if (left)
			out->text[out->size] = '\0';
		out->is_full = true;
		return;
	}
	out->size += (size_t)size;
}

bool out_step(struct out *out)
{
	if (!out->steps || !--out->steps)
		out->is_full = true;
	return !out->is_full;
}

static void add_anyway(struct out *out, const char *text)
{
	const size_t size = strlen(text);

	if (size >= out->room + OUT_RESERVE - out->size)
		return;
	memcpy(out->text + out->size, text, size + 1);
	out->size += size;
}

static void say_full(struct out *out)
{
	if (out->is_full && !out->is_said)
		add_anyway(out, "...");
	out->is_said = out->is_full;
}

void out_end(struct out *out, const char *bracket)
{
	say_full(out);
	add_anyway(out, bracket);
}

void out_quote(struct out *out, const char *quote)
{
	add_anyway(out, quote);
	say_full(out);
}

const char *out_finish(struct out *out)
{
	say_full(out);
	return out->text;
}
