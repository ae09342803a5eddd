#include "config.h"
#include "args/flatten.h"
#include "base/util.h"

#define DEPTH_MAX 32
#define STEPS_MAX 4096 /* maximum number of members and elements examined of a type */

struct flattening {
	struct abi_value value;
	unsigned pointer_size, steps;
};

static void give_up(struct flattening *f)
{
	f->value.field_count = ABI_FIELDS + 1;
}

static void flatten_add_field(struct flattening *f, uint64_t offset, uint64_t size, enum abi_class kind)
{
	struct abi_value *value = &f->value;

	if (value->field_count >= ABI_FIELDS || offset > UINT32_MAX || !size || size > UINT16_MAX) {
		give_up(f);
		return;
	}
	const struct abi_field field = {(uint32_t)offset, (uint16_t)size, (unsigned char)kind};

	for (unsigned i = 0; i < value->field_count; i++)
		if (value->fields[i].offset == field.offset && value->fields[i].size == field.size &&
		    value->fields[i].kind == field.kind)
			return;
	value->fields[value->field_count++] = field;
}

static void flatten_add_words(struct flattening *f, uint64_t offset, uint64_t size)
{
	for (uint64_t at = 0; at < size && f->value.field_count <= ABI_FIELDS; at += f->pointer_size)
		flatten_add_field(f, offset + at, f->pointer_size, ABI_INTEGER);
}

static void flatten_add_type(struct flattening *f, const struct data_type *type, uint64_t offset, unsigned depth);

static void flatten_add_members(struct flattening *f, const struct data_type *type, uint64_t offset, unsigned depth)
{
	for (size_t i = 0; i < type->member_count && f->value.field_count <= ABI_FIELDS; i++) {
		const struct data_member *member = &type->members[i];
		const uint64_t at = add_saturated(offset, member->offset);
		const unsigned shift = member->bit_offset % 8;

		if (member->is_virtual)
			give_up(f);
		else if (member->bit_size)
			flatten_add_field(f, add_saturated(at, member->bit_offset / 8),
					  (shift + member->bit_size + 7u) / 8, ABI_BITS);
		else
			flatten_add_type(f, member->type, at, depth + 1);
	}
}

static void add_elements(struct flattening *f, const struct data_type *type, uint64_t offset, unsigned depth)
{
	f->value.is_open |= type->is_open;
	for (uint64_t i = 0; i < type->count && type->target && f->value.field_count <= ABI_FIELDS; i++)
		flatten_add_type(f, type->target, add_saturated(offset, mul_saturated(i, type->target->size)),
				 depth + 1);
}

static void flatten_add_type(struct flattening *f, const struct data_type *type, uint64_t offset, unsigned depth)
{
	if (!type || depth > DEPTH_MAX || !f->steps--) {
		f->steps = 0;
		give_up(f);
		return;
	}
	switch (type->kind) {
	case DATA_INT:
	case DATA_BOOL:
	case DATA_CHAR:
	case DATA_ENUM:
		flatten_add_field(f, offset, type->size, ABI_INTEGER);
		return;
	case DATA_POINTER:
	case DATA_REFERENCE:
		flatten_add_field(f, offset, f->pointer_size, ABI_INTEGER);
		return;
	case DATA_FLOAT_OTHER:
		flatten_add_field(f, offset, type->size, ABI_FLOAT);
		return;
	case DATA_FLOAT:
		flatten_add_field(f, offset, type->size, type->is_extended ? ABI_X87 : ABI_FLOAT);
		return;
	case DATA_COMPLEX:
		flatten_add_type(f, type->target, offset, depth + 1);
		flatten_add_type(f, type->target, add_saturated(offset, type->size / 2), depth + 1);
		return;
	case DATA_VECTOR:
		flatten_add_field(f, offset, type->size, ABI_VECTOR);
		return;
	case DATA_STRUCT:
	case DATA_UNION:
		flatten_add_members(f, type, offset, depth);
		if (type->is_cut || type->has_variants || type->is_incomplete)
			give_up(f);
		return;
	case DATA_ARRAY:
		add_elements(f, type, offset, depth);
		return;
	case DATA_MEMBER_POINTER:
	case DATA_TEXT:
	case DATA_TEXT_COUNTED:
	case DATA_TEXT_INLINE:
		flatten_add_words(f, offset, type->size);
		return;
	default:
		if (type->size && type->size <= f->pointer_size)
			flatten_add_field(f, offset, type->size, ABI_INTEGER);
		else
			give_up(f);
		return;
	}
}

static bool is_struct(const struct data_type *type, unsigned pointer_size)
{
	switch (type->kind) {
	case DATA_STRUCT:
	case DATA_UNION:
	case DATA_ARRAY:
	case DATA_TEXT:
	case DATA_TEXT_COUNTED:
	case DATA_TEXT_INLINE:
		return true;
	case DATA_MEMBER_POINTER:
	case DATA_OTHER:
		return type->size > pointer_size;
	default:
		return false;
	}
}

struct abi_value flatten(const struct data_type *type, unsigned pointer_size)
{
	struct flattening f = {.pointer_size = pointer_size, .steps = STEPS_MAX};

	/* For these types it is unknown which bytes are passed, so their size and place are unknown, too. */
	if (!type || type->is_incomplete || type->may_be_by_address || (type->kind == DATA_OTHER && !type->size)) {
		f.value.size = UINT64_MAX;
		give_up(&f);
		return f.value;
	}
	f.value = (struct abi_value){.size = type->size,
				     .align = type->align,
				     .is_struct = is_struct(type, pointer_size),
				     .may_be_packed = type->may_be_packed,
				     .by_address = type->by_address};
	if (type->kind == DATA_POINTER || type->kind == DATA_REFERENCE)
		f.value.size = pointer_size;
	flatten_add_type(&f, type, 0, 0);
	return f.value;
}
