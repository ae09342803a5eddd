/* Formats pointers and references, and the values to which they point. */
#include "config.h"
#include "args/value.h"

/* Returns true if the value to which an argument points is shown. A number or character of one byte is not shown,
 * because the argument may point to a buffer; nor is a struct without known members. */
static bool is_followed(const struct data_type *target)
{
	switch (target->kind) {
	case DATA_OTHER:
	case DATA_VOID:
	case DATA_FUNCTION:
		return false;
	case DATA_INT:
	case DATA_CHAR:
		return target->size > 1;
	case DATA_STRUCT:
	case DATA_UNION:
		return (target->member_count > 0 || target->variant_count > 0) && target->size > 0;
	case DATA_ARRAY:
	case DATA_VECTOR:
		return target->size > 0 && target->count > 0;
	default:
		return target->size > 0;
	}
}

/* Shows the value to which a reference refers; for a pointer, shows the address and the value to which it points. */
static void show_pointee(struct formatter *s, const struct data_type *type, uint64_t address, unsigned depth)
{
	const struct data_type *target = type->target;
	const bool is_text =
		target->kind == DATA_TEXT || target->kind == DATA_TEXT_COUNTED || target->kind == DATA_TEXT_INLINE;
	unsigned char bytes[VALUE_BYTES];
	struct value_view view;

	if (!formatter_read(s, address, target->size, bytes, &view)) {
		show_unreadable(s, address);
		return;
	}
	if (type->kind == DATA_POINTER) {
		show_address(s, address);
		out_add(&s->out, " -> ");
	}
	s->show(s, target, &view, depth, is_text ? FOLLOW_TEXT : FOLLOW_NOT);
}

void show_pointer(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth,
		  enum follow follow)
{
	const uint64_t address = view_pointer(s, view);
	const struct data_type *target = type->target;

	const bool is_text = type->kind == DATA_POINTER && target && is_text_char(target);

	if (target && target->kind == DATA_FUNCTION) {
		show_function(s, address);
	} else if (is_text && address && follow != FOLLOW_ALL && s->texts) {
		s->texts--;
		show_string(s, address, (unsigned)target->size, char_prefix(target), UINT64_MAX);
	} else if (!target || !address || follow != FOLLOW_ALL) {
		show_address(s, address);
	} else if (is_text) {
		show_string(s, address, (unsigned)target->size, char_prefix(target), UINT64_MAX);
	} else if (type->kind == DATA_REFERENCE ? target->size > 0 : is_followed(target)) {
		show_pointee(s, type, address, depth);
	} else {
		show_address(s, address);
	}
}
