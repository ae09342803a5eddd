/* Finds out whether a function that LLVM has optimised uses a parameter. If it does not, callers in the same file may
 * pass any value, even if other files also call the function. Debug information shows an unused parameter only by the
 * absence of locations. */
#include "config.h"
#include "symbols/types/location_list.h"
#include "symbols/types/param_place.h"

#define ENTRIES_MAX 64 /* maximum number of entries of a list that are examined */

struct param_proof_state {
	Dwarf_Attribute *location;
	struct signature_param *param;
	bool is_in_frame, has_pieces;
};

static void param_proof_add_register(struct signature_param *param, unsigned number)
{
	for (unsigned i = 0; i < param->register_count; i++)
		if (param->registers[i] == number)
			return;
	if (param->register_count < SIGNATURE_REGISTERS)
		param->registers[param->register_count++] = (uint16_t)number;
}

/* Adds the register in a DW_OP_entry_value to param->registers, because the function uses the register's value at the
 * entry. LLVM writes this operation only for parameters. */
static void see_entry_value(struct param_proof_state *proof, const Dwarf_Op *operation)
{
	Dwarf_Attribute nested;
	Dwarf_Op *operations;
	size_t count;
	unsigned number;

	if (!dwarf_getlocation_attr(proof->location, operation, &nested) &&
	    !dwarf_getlocation(&nested, &operations, &count) && count == 1 &&
	    operation_is_register(operations, &number))
		param_proof_add_register(proof->param, number);
}

static bool is_in_frame(const struct param_entry *entry, const Dwarf_Op *operation)
{
	unsigned number;
	int64_t offset;

	return operation->atom == DW_OP_fbreg ||
	       (operation_is_based(operation, &number, &offset) && number == entry->frame_register);
}

/* Adds to *proof the registers and places that an operation in the parameter's list of locations shows. is_first: the
 * operation is in the first entry of this list. is_entry: it is in the list's entry that is valid where the function
 * begins. */
static void note_operation(struct param_proof_state *proof, const struct param_entry *entry, const Dwarf_Op *operation,
			   bool is_first, bool is_entry)
{
	unsigned number;
	int64_t offset;

	if (operation->atom == DW_OP_entry_value || operation->atom == DW_OP_GNU_entry_value)
		see_entry_value(proof, operation);
	else if (is_in_frame(entry, operation))
		proof->is_in_frame |= is_first || is_entry;
	else if (operation->atom == DW_OP_piece)
		proof->has_pieces |= is_first || is_entry;
	else if (is_entry &&
		 (operation_is_register(operation, &number) || operation_is_based(operation, &number, &offset)))
		param_proof_add_register(proof->param, number);
}

/* Returns true if LLVM may pass a value of this type as a whole on the stack (byval in its intermediate code). Then
 * debug information describes the value on the stack even if the function does not use it. LLVM does not do this on
 * processors whose ABI passes large structs by their address. */
static bool may_be_byval(const struct arch_abi *abi, const struct data_type *type)
{
	switch (type->kind) {
	case DATA_STRUCT:
	case DATA_UNION:
	case DATA_ARRAY:
	case DATA_COMPLEX:
	case DATA_MEMBER_POINTER:
	case DATA_TEXT:
	case DATA_TEXT_INLINE:
		return !abi->by_address_above && !type->by_address;
	default:
		return false;
	}
}

enum param_place param_place_if_used(const struct type_reader *reader, const struct param_entry *entry, Dwarf_Die *die,
				     struct signature_param *param)
{
	Dwarf_Attribute location;
	Dwarf_Addr base, start, end;
	Dwarf_Op *operations;
	size_t count;
	ptrdiff_t offset = 0;
	struct param_proof_state proof = {.location = &location, .param = param};

	param->register_count = 0;
	if (!dwarf_attr(die, DW_AT_location, &location) || !location_is_sound(&location))
		return PLACE_NOWHERE;
	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		offset = dwarf_getlocations(&location, offset, &base, &start, &end, &operations, &count);
		if (offset <= 0)
			break;
		for (size_t k = 0; k < count; k++)
			note_operation(&proof, entry, &operations[k], !i,
				       entry->address >= start && entry->address < end);
	}
	/* Callers may pass only some scalars of a struct. Those on the stack are not examined one by one, so the whole
	 * parameter is treated as not passed. */
	if (proof.is_in_frame && proof.has_pieces)
		return PLACE_NOWHERE;
	if (proof.is_in_frame) {
		param->register_count = 0;
		return may_be_byval(reader->arch->abi, param->type) ? PLACE_UNKNOWN : PLACE_BY_ABI;
	}
	return param->register_count ? PLACE_BY_ABI : PLACE_NOWHERE;
}
