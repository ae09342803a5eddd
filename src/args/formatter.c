#include "config.h"
#include "args/formatter.h"

#include <inttypes.h>
#include <stdlib.h>

#define TEXT_WIDTH_MAX 4  /* largest size of a character in bytes */
#define TEXT_BEFORE    32 /* bytes before a string object's text: room for a header that contains the length */

/* ---- Formatter ---- */

static size_t formatter_text_size(size_t limit)
{
	return TEXT_BEFORE + (limit + 1) * TEXT_WIDTH_MAX;
}

void formatter_begin(struct formatter *s, const struct args_source *source)
{
	*s = (struct formatter){.source = source,
				.texts = TEXTS_MAX,
				.bases = BASES_READ,
				.limit = source->limit < ARGS_LIMIT_MAX ? source->limit : ARGS_LIMIT_MAX};
	/* An escaped byte needs four characters. */
	out_init(&s->out, 1024 + 4 * s->limit);
	s->text = xmalloc(formatter_text_size(s->limit));
}

void formatter_end(struct formatter *s)
{
	out_free(&s->out);
	free(s->text);
}

size_t formatter_read_text(struct formatter *s, uint64_t address, size_t size)
{
	const size_t most = formatter_text_size(s->limit), wanted = size < most ? size : most;
	const ssize_t count = s->source->read(s->source->context, address, s->text, wanted);

	return count <= 0 ? 0 : (size_t)count < wanted ? (size_t)count : wanted;
}

bool formatter_read(struct formatter *s, uint64_t address, uint64_t size, unsigned char *bytes, struct value_view *view)
{
	const size_t wanted = size < VALUE_BYTES ? (size_t)size : VALUE_BYTES;
	const ssize_t count = wanted ? s->source->read(s->source->context, address, bytes, wanted) : 0;

	*view = (struct value_view){.bytes = bytes, .address = address};
	if (count > 0)
		view->size = (size_t)count < wanted ? (size_t)count : wanted;
	view->is_cut = view->size == wanted && wanted < size;
	return view->size > 0;
}

/* ---- Bytes ---- */

struct value_view view_part(const struct value_view *view, uint64_t offset, uint64_t size)
{
	struct value_view part = {.bytes = view->bytes, .is_cut = view->is_cut};

	part.address = view->address ? view->address + offset : 0;
	if (offset >= view->size)
		return part;
	part.bytes += offset;
	part.lost = view->lost ? view->lost + offset : NULL;
	part.size = view->size - offset < size ? view->size - offset : size;
	return part;
}

bool view_has_lost(const struct value_view *view, uint64_t size)
{
	const uint64_t count = size < view->size ? size : view->size;

	return view->lost && memchr(view->lost, 1, count);
}

uint64_t view_number(const struct value_view *view, uint64_t size, bool is_signed)
{
	const size_t wanted = size < sizeof(uint64_t) ? (size_t)size : sizeof(uint64_t);
	const size_t count = view->size < wanted ? (size_t)view->size : wanted;
	uint64_t number = 0;

	memcpy(&number, view->bytes, count);
	if (is_signed && count && count < sizeof(number) && number >> (count * 8 - 1))
		number |= UINT64_MAX << (count * 8);
	return number;
}

uint64_t view_pointer(const struct formatter *s, const struct value_view *view)
{
	return view_number(view, s->source->arch->pointer_size, false);
}

/* ---- Texts for missing values ---- */

void show_missing(struct formatter *s, const struct value_view *view)
{
	if (view->is_cut)
		s->out.is_full = true;
	else
		out_add(&s->out, "(unreadable)");
}

void show_lost(struct formatter *s)
{
	out_add(&s->out, "<optimised out>");
}

void show_unknown(struct formatter *s)
{
	out_add(&s->out, "<unknown place>");
}

void show_unknown_type(struct formatter *s)
{
	out_add(&s->out, "<unknown type>");
}

void show_address(struct formatter *s, uint64_t address)
{
	if (address)
		out_printf(&s->out, "0x%" PRIx64, address);
	else
		out_add(&s->out, "NULL");
}

void show_unreadable(struct formatter *s, uint64_t address)
{
	out_printf(&s->out, "0x%" PRIx64 " (unreadable)", address);
}

void show_function(struct formatter *s, uint64_t address)
{
	const char *name = address ? s->source->name(s->source->context, address) : NULL;

	show_address(s, address);
	if (name)
		out_printf(&s->out, " <%s>", name);
}
