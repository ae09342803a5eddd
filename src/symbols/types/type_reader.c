/* Allocates memory for types, and reads attributes of DIEs. */
#include "config.h"
#include "symbols/types/type_reader.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE      16384
#define NAME_MAX_LENGTH 65536

/* ---- Memory ---- */

struct type_block {
	struct type_block *next;
	size_t used, size;
	max_align_t bytes[];
};

void *type_memory(struct type_reader *reader, size_t size)
{
	struct type_block *block = reader->blocks;

	size = align_up(size, sizeof(max_align_t));
	if (!block || block->size - block->used < size) {
		const size_t all = size > BLOCK_SIZE ? size : BLOCK_SIZE;

		if (reader->bytes_left < all)
			return NULL;
		reader->bytes_left -= all;
		block = xcalloc(1, sizeof(*block) + all);
		*block = (struct type_block){.next = reader->blocks, .size = all};
		reader->blocks = block;
	}
	block->used += size;
	return (char *)block->bytes + block->used - size;
}

void *type_keep(struct type_reader *reader, void *items, size_t count, size_t size)
{
	void *kept = count ? type_memory(reader, count * size) : NULL;

	if (kept)
		memcpy(kept, items, count * size);
	free(items);
	return kept;
}

void type_memory_free(struct type_reader *reader)
{
	while (reader->blocks) {
		struct type_block *block = reader->blocks;

		reader->blocks = block->next;
		free(block);
	}
	hash_free(&reader->types);
}

/* ---- Attributes ---- */

const char *die_string(struct type_reader *reader, Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	const char *string = dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));
	const size_t length = string ? strnlen(string, NAME_MAX_LENGTH) : 0;
	/* libdw's string is valid only while the file is open. The types need a copy that lives as long as they do. */
	char *copy = length && length < NAME_MAX_LENGTH ? type_memory(reader, length + 1) : NULL;

	return copy ? memcpy(copy, string, length) : "";
}

bool die_number(Dwarf_Die *die, unsigned attribute, uint64_t *number)
{
	Dwarf_Attribute found;
	Dwarf_Word word;

	if (dwarf_formudata(dwarf_attr_integrate(die, attribute, &found), &word))
		return false;
	*number = word;
	return true;
}

bool die_flag(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	bool value;

	return !dwarf_formflag(dwarf_attr_integrate(die, attribute, &found), &value) && value;
}

bool die_has(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;

	return dwarf_attr(die, attribute, &found);
}

bool die_reference(Dwarf_Die *die, unsigned attribute, Dwarf_Die *result)
{
	Dwarf_Attribute found;

	return dwarf_formref_die(dwarf_attr_integrate(die, attribute, &found), result);
}

bool die_next_child(struct type_reader *reader, Dwarf_Die *parent, Dwarf_Die *child)
{
	if (!reader->dies_left)
		return false;
	reader->dies_left--;
	return child->addr ? !dwarf_siblingof(child, child) : !dwarf_child(parent, child);
}

bool operation_is_constant(const Dwarf_Op *operation, int64_t *value)
{
	const unsigned atom = operation->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		*value = atom - DW_OP_lit0;
	else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) /* the constants of all sizes */
		*value = (int64_t)operation->number;
	else
		return false;
	return true;
}

bool operation_is_register(const Dwarf_Op *operation, unsigned *number)
{
	if (operation->atom >= DW_OP_reg0 && operation->atom <= DW_OP_reg31)
		*number = operation->atom - DW_OP_reg0;
	else if (operation->atom == DW_OP_regx && operation->number <= UINT16_MAX)
		*number = (unsigned)operation->number;
	else
		return false;
	return true;
}

bool operation_is_based(const Dwarf_Op *operation, unsigned *number, int64_t *offset)
{
	if (operation->atom >= DW_OP_breg0 && operation->atom <= DW_OP_breg31) {
		*number = operation->atom - DW_OP_breg0;
		*offset = (int64_t)operation->number;
	} else if (operation->atom == DW_OP_bregx && operation->number <= UINT16_MAX) {
		*number = (unsigned)operation->number;
		*offset = (int64_t)operation->number2;
	} else {
		return false;
	}
	return true;
}
