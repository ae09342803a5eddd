/* Reads the offsets of members in structs. */
#include "config.h"
#include "symbols/types/type_reader.h"

#include <string.h>

#define OFFSET_MAX (1u << 30)

bool type_member_offset(Dwarf_Die *die, uint64_t *offset)
{
	Dwarf_Attribute found;
	Dwarf_Op *operations;
	size_t count;

	*offset = 0;
	if (!dwarf_attr(die, DW_AT_data_member_location, &found))
		return true;
	if (die_number(die, DW_AT_data_member_location, offset))
		return *offset < OFFSET_MAX;
	/* DWARF 2 writes the offset as an expression. */
	if (dwarf_getlocation(&found, &operations, &count) || count != 1 || operations[0].atom != DW_OP_plus_uconst)
		return false;
	*offset = operations[0].number;
	return *offset < OFFSET_MAX;
}

static bool is_virtual(Dwarf_Die *die)
{
	uint64_t virtuality = DW_VIRTUALITY_none;

	return dwarf_tag(die) == DW_TAG_inheritance && die_number(die, DW_AT_virtuality, &virtuality) &&
	       virtuality != DW_VIRTUALITY_none;
}

/* Returns by how many bytes the word with a virtual base's offset precedes the vtable. The first word of a C++ object
 * contains the vtable's address (Itanium C++ ABI). Compilers describe the base's address by the operations below, which
 * begin with that object's address on DWARF's stack. Returns 0 for any other operations. */
static uint32_t table_at(Dwarf_Die *die)
{
	static const unsigned char atoms[] = {DW_OP_dup,   DW_OP_deref, 0, /* any constant: bytes before the vtable */
					      DW_OP_minus, DW_OP_deref, DW_OP_plus};
	Dwarf_Attribute found;
	Dwarf_Op *operations;
	size_t count;
	int64_t value = 0;

	if (!dwarf_attr(die, DW_AT_data_member_location, &found) || dwarf_getlocation(&found, &operations, &count) ||
	    count != ARRAY_SIZE(atoms))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (atoms[i] ? operations[i].atom != atoms[i] : !operation_is_constant(&operations[i], &value))
			return 0;
	return (uint64_t)value < OFFSET_MAX ? (uint32_t)value : 0;
}

bool type_member_place(Dwarf_Die *die, struct data_member *member)
{
	uint64_t offset;

	member->is_virtual = is_virtual(die);
	if (member->is_virtual) {
		member->table_at = table_at(die);
		return true;
	}
	if (!type_member_offset(die, &offset))
		return false;
	member->offset = (uint32_t)offset;
	return true;
}

/* Reads a bit field in either of DWARF's two numberings of bits. DWARF 4 and later versions number the bits from the
 * struct's beginning. Earlier versions number them from the most significant bit of a storage unit; then the number is
 * negative if the bits go on after the unit, as in packed structs. */
bool type_member_bits(Dwarf_Die *die, struct data_member *member)
{
	uint64_t size, at, storage = member->type->size;

	if (!die_number(die, DW_AT_bit_size, &size))
		return true;
	if (!size || size > 128)
		return false;
	if (die_number(die, DW_AT_bit_offset, &at)) {
		const int64_t from = (int64_t)at, bits = (int64_t)size;

		die_number(die, DW_AT_byte_size, &storage);
		if (storage > 16 || from < -128 || from > 128 || from + bits > 8 * (int64_t)storage)
			return false;
		at = 8 * (uint64_t)member->offset + (uint64_t)(8 * (int64_t)storage - from - bits);
	} else if (!die_number(die, DW_AT_data_bit_offset, &at)) {
		at = 8 * (uint64_t)member->offset;
	}
	if (at / 8 >= OFFSET_MAX)
		return false;
	member->offset = (uint32_t)(at / 8);
	member->bit_offset = at % 8;
	member->bit_size = (uint16_t)size;
	return true;
}

uint32_t type_natural_align(const struct data_type *type, const struct data_member *members, size_t count)
{
	uint32_t align = 1;

	for (size_t i = 0; i < count; i++)
		if (!members[i].is_virtual && members[i].type->align > align &&
		    (members[i].bit_size || !(members[i].offset % members[i].type->align)))
			align = members[i].type->align;
	/* If the size is no multiple of the alignment, the struct is packed. */
	while (align > 1 && type->size % align)
		align /= 2;
	return align;
}

bool type_may_be_packed(const struct data_type *type, const struct data_member *members, size_t count)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		const struct data_member *member = &members[i];
		const uint64_t bits = member->bit_offset + (uint64_t)member->bit_size;
		const uint64_t size = member->bit_size ? (bits + 7) / 8 : member->type->size;

		if (member->is_virtual)
			continue;
		if (type->kind == DATA_STRUCT && !member->bit_size && member->offset > end)
			return false;
		if (add_saturated(member->offset, size) > end)
			end = add_saturated(member->offset, size);
	}
	return end >= type->size;
}
