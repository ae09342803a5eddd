/* Reads from debug information where a parameter is before the first instruction of its function. */
#include "config.h"
#include "symbols/types/location_list.h"
#include "symbols/types/param_place.h"

#include <string.h>

#define PIECES_MAX 16

/* The operations that describe one place, up to the next DW_OP_piece. */
struct expression {
	const Dwarf_Op *operations;
	size_t count;
	bool is_list; /* the expression is in a list of locations, so it is valid at the entry itself */
};

/* Reads an expression for a value, not a place: the value of a register at the entry, or a constant. */
static bool read_value(const struct expression *expression, struct place_piece *piece)
{
	const Dwarf_Op *first = &expression->operations[0];

	if (expression->count != 2 || expression->operations[1].atom != DW_OP_stack_value)
		return false;
	if (operation_is_constant(first, &piece->place_offset)) {
		piece->place = PLACE_CONSTANT;
		return true;
	}
	piece->place = PLACE_REGISTER;
	return operation_is_based(first, &piece->place_register, &piece->place_offset) && !piece->place_offset;
}

static bool is_of_frame(const struct arch *arch, unsigned number)
{
	return number < 64 && arch->dwarf.frames >> number & 1;
}

/* Reads one place. Returns false if the expression is not understood, or not valid at the entry. */
static bool param_place_read_place(const struct type_reader *reader, const struct param_entry *entry,
				   const struct expression *expression, struct place_piece *piece)
{
	const Dwarf_Op *first = &expression->operations[0];

	/* DW_OP_GNU_parameter_ref means a parameter that callers do not pass; its value is what callers would have
	 * passed. */
	if (!expression->count || first->atom == DW_OP_implicit_pointer || first->atom == DW_OP_GNU_implicit_pointer ||
	    first->atom == DW_OP_GNU_parameter_ref) {
		piece->place = PLACE_NOWHERE;
		return true;
	}
	if (read_value(expression, piece))
		return true;
	if (expression->count != 1)
		return false;
	if (operation_is_register(first, &piece->place_register)) {
		piece->place = PLACE_REGISTER;
		return !entry->is_untracked;
	}
	if (first->atom == DW_OP_fbreg) {
		piece->place = PLACE_STACK;
		piece->place_offset = (int64_t)first->number;
		/* Without a list, a place below the CFA is not valid at the entry: code that is not optimised stores
		 * the parameter there after the entry. */
		return entry->frame_is_cfa && (expression->is_list || piece->place_offset >= 0);
	}
	piece->place = PLACE_MEMORY;
	/* A place in the frame is valid at the entry only if it is in a list of GCC. Without a list, it is the place
	 * where the function's first instructions store the parameter, so at the entry the parameter is elsewhere. In
	 * lists of LLVM the place is relative to sp after these instructions (clang: sub sp, sp, #64; str x0, [sp,
	 * #16]). */
	return operation_is_based(first, &piece->place_register, &piece->place_offset) && !entry->is_untracked &&
	       ((expression->is_list && entry->is_gcc) || !is_of_frame(reader->arch, piece->place_register));
}

/* Reads several places, each followed by DW_OP_piece. */
static bool param_place_read_pieces(struct type_reader *reader, const struct param_entry *entry,
				    const struct expression *whole, struct signature_param *param)
{
	struct place_piece pieces[PIECES_MAX];
	size_t count = 0, begin = 0;
	uint64_t offset = 0;

	for (size_t i = 0; i < whole->count; i++) {
		struct expression part = {whole->operations + begin, i - begin, whole->is_list};
		const Dwarf_Op *operation = &whole->operations[i];

		if (operation->atom == DW_OP_bit_piece)
			return false;
		if (operation->atom != DW_OP_piece)
			continue;
		if (count == PIECES_MAX || operation->number > UINT16_MAX)
			return false;
		struct place_piece *piece = &pieces[count];

		*piece = (struct place_piece){.offset = (uint32_t)offset, .size = (uint32_t)operation->number};
		if (!param_place_read_place(reader, entry, &part, piece))
			return false;
		count += piece->place != PLACE_NOWHERE;
		offset += operation->number;
		begin = i + 1;
	}
	if (begin != whole->count)
		return false;
	struct place_piece *kept = count ? type_memory(reader, count * sizeof(*kept)) : NULL;

	param->place = kept ? PLACE_PIECES : PLACE_NOWHERE;
	param->piece_count = kept ? count : 0;
	param->pieces = kept ? memcpy(kept, pieces, count * sizeof(*kept)) : NULL;
	return true;
}

static bool has_pieces(const struct expression *expression)
{
	for (size_t i = 0; i < expression->count; i++)
		if (expression->operations[i].atom == DW_OP_piece || expression->operations[i].atom == DW_OP_bit_piece)
			return true;
	return false;
}

static bool read_expression(struct type_reader *reader, const struct param_entry *entry,
			    const struct expression *expression, struct signature_param *param)
{
	struct place_piece piece = {0};

	if (has_pieces(expression))
		return param_place_read_pieces(reader, entry, expression, param);
	if (!param_place_read_place(reader, entry, expression, &piece))
		return false;
	param->place = piece.place;
	param->place_register = piece.place_register;
	param->place_offset = piece.place_offset;
	return true;
}

/* Reads a constant. A constant of fixed size (DW_FORM_data1 to data8) is read as unsigned. */
static bool constant_value(Dwarf_Attribute *attribute, Dwarf_Sword *value)
{
	Dwarf_Word number;

	switch (dwarf_whatform(attribute)) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
		if (dwarf_formudata(attribute, &number))
			return false;
		*value = (Dwarf_Sword)number;
		return true;
	default:
		return !dwarf_formsdata(attribute, value);
	}
}

static bool read_constant(Dwarf_Die *die, struct signature_param *param)
{
	Dwarf_Attribute found;
	Dwarf_Sword value;

	if (!dwarf_attr(die, DW_AT_const_value, &found) || !constant_value(&found, &value))
		return false;
	param->place = PLACE_CONSTANT;
	param->place_offset = value;
	return true;
}

/* Returns true if a place of this kind shows that the code is optimised; without optimisation a parameter is always in
 * memory. Of lists, only GCC's show it: LLVM also uses a list for a parameter that is passed by its address. */
static bool shows_optimised(const struct param_entry *entry, enum param_place place, bool is_list)
{
	return (is_list && entry->is_gcc) || place == PLACE_REGISTER || place == PLACE_CONSTANT ||
	       place == PLACE_PIECES;
}

void param_place_read(struct type_reader *reader, struct param_entry *entry, Dwarf_Die *die,
		      struct signature_param *param)
{
	Dwarf_Attribute location;
	Dwarf_Op *operations;
	size_t count;

	param->place = PLACE_NOWHERE;
	if (!dwarf_attr(die, DW_AT_location, &location)) {
		read_constant(die, param);
		entry->is_optimised |= type_has_bytes(param->type);
		return;
	}
	struct expression expression = {.is_list = location_is_list(&location)};
	const int found = location_at_entry(die, &location, entry->address, &operations, &count);

	if (found == 1) {
		expression.operations = operations;
		expression.count = count;
		if (!read_expression(reader, entry, &expression, param))
			param->place = PLACE_UNKNOWN;
	} else if (found) {
		param->place = PLACE_UNKNOWN;
	} /* else no entry of the list is valid at the function's entry: optimised code does not use the argument */
	entry->is_optimised |= shows_optimised(entry, param->place, expression.is_list);
}

/* Returns the compiler and its options: "GNU C17 12.2.0 -g -O2" or "GNU GIMPLE ...", for example; "": unknown. */
static const char *find_producer(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	const char *const producer = dwarf_diecu(function, &unit, NULL, NULL)
					     ? dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attribute))
					     : NULL;

	return producer ? producer : "";
}

static bool has_option(const char *producer, const char *option)
{
	const size_t length = strlen(option);

	for (const char *at = producer; (at = strstr(at, option)); at += length)
		if (!at[length] || at[length] == ' ')
			return true;
	return false;
}

/* Returns true if GCC may have compiled the function without variable tracking. With -flto the function's producer is
 * GIMPLE; the options are in the unit of the function's source, which contains the function's origin. If dwz has moved
 * the origin to a unit without a producer, the options are unknown, and the function returns true. */
static bool is_untracked(Dwarf_Die *function, const char *producer)
{
	static const char option[] = "-fno-var-tracking";
	Dwarf_Die origin;

	if (strncmp(producer, "GNU GIMPLE", 10) != 0)
		return has_option(producer, option);
	const char *const compiled =
		die_reference(function, DW_AT_abstract_origin, &origin) ? find_producer(&origin) : "";

	return !*compiled || has_option(compiled, option);
}

static bool is_before_4(Dwarf_Die *function)
{
	Dwarf_Half version;

	return !dwarf_cu_info(function->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) && version < 4;
}

void entry_read(Dwarf_Die *function, Dwarf_Addr address, struct param_entry *entry)
{
	Dwarf_Attribute base;
	Dwarf_Op *operations;
	size_t count;
	uint64_t convention = DW_CC_normal;

	const char *const producer = find_producer(function);

	*entry = (struct param_entry){.address = address, .is_gcc = !strncmp(producer, "GNU ", 4)};
	entry->is_untracked = entry->is_gcc && is_untracked(function, producer);
	/* Compilers write these attributes for calls only when they optimise. LLVM does not write them in DWARF before
	 * version 4, so such code may be optimised, too. */
	entry->is_optimised = die_has(function, DW_AT_call_all_calls) || die_has(function, DW_AT_GNU_all_call_sites) ||
			      (!entry->is_gcc && is_before_4(function));
	die_number(function, DW_AT_calling_convention, &convention);
	entry->is_own = convention != DW_CC_normal && convention != DW_CC_program;
	entry->frame_register = UINT32_MAX;
	if (dwarf_getlocation(dwarf_attr(function, DW_AT_frame_base, &base), &operations, &count) || count != 1)
		return;
	entry->frame_is_cfa = operations[0].atom == DW_OP_call_frame_cfa;
	operation_is_register(&operations[0], &entry->frame_register);
}
