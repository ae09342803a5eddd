/* Finds virtual bases by an object's vtable. The Itanium C++ ABI defines its words (section 2.5.2):
 *
 *	table - table_at	offset of the base from the object
 *	table - 2 words		offset from the object to the complete object that contains it: 0, or negative
 *	table - 1 word		address of the type_info; NULL without one (-fno-rtti)
 *	table			the address in the object's first word
 *
 * An object that is not constructed yet, or is destroyed, has other data in its first word. */
#include "config.h"
#include "args/value.h"

#define TABLE_MAX  VALUE_BYTES /* maximum number of bytes read before a vtable */
#define OFFSET_MAX (1 << 30)
#define DEPTH_MAX  8
#define STEPS_MAX  256 /* maximum number of members examined of a base and of the bases that it inherits */

/* Returns true if a struct has data members, or may have some because its description is incomplete or too deep, or
 * *steps is used up (in a damaged file the number of nested bases can be huge). Only a virtual base without data
 * members may be at the address of the object that inherits it, and share the object's vtable pointer. */
static bool has_data(const struct data_type *type, unsigned depth, unsigned *steps)
{
	if (depth == DEPTH_MAX || type->kind != DATA_STRUCT)
		return true;
	for (size_t i = 0; i < type->member_count; i++) {
		const struct data_member *const member = &type->members[i];

		if (!*steps)
			return true;
		--*steps;
		if (!member->is_virtual && !(member->is_base && !has_data(member->type, depth + 1, steps)))
			return true;
	}
	return type->is_cut;
}

static bool is_description(struct formatter *s, uint64_t address)
{
	return !address || s->source->is_object(s->source->context, address);
}

bool virtual_base_find(struct formatter *s, const struct data_member *base, const struct value_view *object,
		       uint64_t *address)
{
	const unsigned word = s->source->arch->pointer_size;
	const uint64_t table = view_pointer(s, object);
	unsigned char bytes[TABLE_MAX];
	struct value_view view;
	unsigned steps = STEPS_MAX;

	/* table_at is at least 3 words, because the word with the base's offset is at a lower address than the other
	 * two words that are read. */
	if (base->table_at < 3 * word || base->table_at > TABLE_MAX || s->is_unmade || !s->bases || !object->address ||
	    object->size < word || view_has_lost(object, word))
		return false;
	if (table < base->table_at || table % word || !s->source->is_object(s->source->context, table))
		return false;
	s->bases--;
	if (!formatter_read(s, table - base->table_at, base->table_at, bytes, &view) || view.size < base->table_at)
		return false;
	const struct value_view top = view_part(&view, base->table_at - 2 * word, word);
	const struct value_view description = view_part(&view, base->table_at - word, word);
	const int64_t offset = (int64_t)view_number(&view, word, true);
	const int64_t whole = (int64_t)view_number(&top, word, true);

	if (whole > 0 || whole < -OFFSET_MAX || offset < whole || offset > OFFSET_MAX ||
	    (offset >= 0 && offset < word && has_data(base->type, 0, &steps)) ||
	    !is_description(s, view_pointer(s, &description)))
		return false;
	*address = object->address + (uint64_t)offset;
	if (word == 4)
		*address = (uint32_t)*address;
	return *address;
}
