#include "config.h"
#include "args/value.h"

#include <inttypes.h>

#define WIDE_PARTS 4

/* ---- Numbers ---- */

/* Shows an integer of 16 bytes. Some compilers have no type for it. */
static void show_wide_int(struct formatter *s, const struct value_view *view, bool is_signed)
{
	uint32_t parts[WIDE_PARTS]; /* the least significant part first */
	char digits[48];
	char *d = digits + sizeof(digits) - 1;
	bool is_negative, is_left = true;

	memcpy(parts, view->bytes, sizeof(parts));
	is_negative = is_signed && parts[WIDE_PARTS - 1] >> 31;
	for (unsigned i = 0, carry = 1; is_negative && i < WIDE_PARTS; i++) {
		parts[i] = ~parts[i] + carry;
		carry = carry && !parts[i];
	}
	*d = '\0';
	while (is_left) {
		uint64_t rest = 0;

		is_left = false;
		for (unsigned i = WIDE_PARTS; i-- > 0;) {
			rest = rest << 32 | parts[i];
			parts[i] = (uint32_t)(rest / 10);
			rest %= 10;
			is_left |= parts[i] != 0;
		}
		*--d = (char)('0' + (int)rest);
	}
	if (is_negative)
		*--d = '-';
	out_add(&s->out, d);
}

static void show_bytes(struct formatter *s, const struct value_view *view, uint64_t size)
{
	if (size > sizeof(uint64_t)) {
		out_printf(&s->out, "<%" PRIu64 " bytes>", size);
		return;
	}
	out_printf(&s->out, "0x%" PRIx64, view_number(view, size, false));
}

static void show_int(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	const uint64_t number = view_number(view, type->size, type->is_signed);

	if (type->size == WIDE_PARTS * sizeof(uint32_t))
		show_wide_int(s, view, type->is_signed);
	else if (type->size > sizeof(number))
		show_bytes(s, view, type->size);
	else if (type->is_signed)
		out_printf(&s->out, "%" PRId64, (int64_t)number);
	else
		out_printf(&s->out, "%" PRIu64, number);
}

static void show_bool(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	const uint64_t number = view_number(view, type->size, false);

	if (number > 1)
		out_printf(&s->out, "%" PRIu64, number);
	else
		out_add(&s->out, number ? "true" : "false");
}

/* Shows a pointer to a data member as an offset. Shows a pointer to a member function as an address, with the number
 * that is added to `this`. */
static void show_member_pointer(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	const unsigned word = s->source->arch->pointer_size;
	const uint64_t first = view_pointer(s, view);

	if (type->size < 2 * word) {
		out_printf(&s->out, "0x%" PRIx64, first);
		return;
	}
	const struct value_view after = view_part(view, word, word);
	const uint64_t more = view_pointer(s, &after);

	show_function(s, first);
	if (more)
		out_printf(&s->out, "+0x%" PRIx64, more);
}

/* ---- All values ---- */

/* Returns true if a value can be shown although some of its elements or members are missing. */
static bool has_parts(enum data_kind kind)
{
	return kind == DATA_STRUCT || kind == DATA_UNION || kind == DATA_ARRAY || kind == DATA_VECTOR;
}

static void show_scalar(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	switch (type->kind) {
	case DATA_INT:
		show_int(s, type, view);
		return;
	case DATA_BOOL:
		show_bool(s, type, view);
		return;
	case DATA_CHAR:
		show_char(s, type, view);
		return;
	case DATA_FLOAT:
		show_float(s, type, view);
		return;
	case DATA_COMPLEX:
		show_complex(s, type, view);
		return;
	case DATA_ENUM:
		show_enum(s, type, view);
		return;
	case DATA_MEMBER_POINTER:
		show_member_pointer(s, type, view);
		return;
	default:
		if (type->size)
			show_bytes(s, view, type->size);
		else
			show_unknown_type(s);
		return;
	}
}

/* Shows a scalar whose byte order is opposite to the processor's. */
static void show_swapped(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	unsigned char bytes[16];
	struct data_type plain = *type;
	const struct value_view value = {.bytes = bytes, .size = type->size};

	if (type->size > sizeof(bytes)) {
		show_bytes(s, view, type->size);
		return;
	}
	for (size_t i = 0; i < type->size; i++)
		bytes[i] = view->bytes[type->size - 1 - i];
	plain.is_swapped = false;
	show_scalar(s, &plain, &value);
}

void value_show(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth,
		enum follow follow)
{
	if (!out_step(&s->out))
		return;
	if (!type) {
		show_unknown_type(s);
		return;
	}
	if (!has_parts(type->kind) && view->size < type->size) {
		show_missing(s, view);
		return;
	}
	if (!has_parts(type->kind) && view_has_lost(view, type->size)) {
		show_lost(s);
		return;
	}
	switch (type->kind) {
	case DATA_POINTER:
	case DATA_REFERENCE:
		show_pointer(s, type, view, depth, follow);
		return;
	case DATA_STRUCT:
	case DATA_UNION:
		show_members(s, type, view, depth);
		return;
	case DATA_ARRAY:
	case DATA_VECTOR:
		show_elements(s, type, view, depth);
		return;
	case DATA_TEXT:
	case DATA_TEXT_COUNTED:
	case DATA_TEXT_INLINE:
		show_text_object(s, type, view, follow);
		return;
	default:
		(type->is_swapped ? show_swapped : show_scalar)(s, type, view);
		return;
	}
}

void value_begin(struct formatter *s, const struct args_source *source)
{
	formatter_begin(s, source);
	s->show = value_show;
}
