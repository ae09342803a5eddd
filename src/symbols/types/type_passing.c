/* Finds which C++ classes are passed by their address: those with a copy constructor, move constructor or destructor
 * that executes code, those with virtual functions or virtual bases, and those whose copy and move constructors are all
 * deleted. */
#include "config.h"
#include "symbols/types/type_reader.h"

#include <string.h>

bool language_is_cxx(int language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_ObjC_plus_plus:
		return true;
	default:
		/* The constants of C++17 and C++20, which older versions of dwarf.h do not define. */
		return language == 0x2a || language == 0x2b;
	}
}

/* Returns the length of a class's name without template arguments. This is the name of its constructors. */
static size_t type_passing_plain_length(const char *name)
{
	return strcspn(name, "<");
}

static bool is_same_class(Dwarf_Die *die, Dwarf_Die *other)
{
	Dwarf_Die peeled;

	return !dwarf_peel_type(other, &peeled) && peeled.addr == die->addr;
}

static bool is_reference_to(Dwarf_Die *class, Dwarf_Die *parameter, bool *is_rvalue)
{
	Dwarf_Die reference, referred;

	if (!die_reference(parameter, DW_AT_type, &reference))
		return false;
	*is_rvalue = dwarf_tag(&reference) == DW_TAG_rvalue_reference_type;
	return (*is_rvalue || dwarf_tag(&reference) == DW_TAG_reference_type) &&
	       die_reference(&reference, DW_AT_type, &referred) && is_same_class(class, &referred);
}

/* If the member function's first parameter is a reference to an object of the same class, returns the number of the
 * function's parameters, and sets *is_rvalue; else returns 0. */
static unsigned count_if_copying(struct type_reader *reader, Dwarf_Die *class, Dwarf_Die *function, bool *is_rvalue)
{
	Dwarf_Die child = {0};
	unsigned count = 0;

	while (die_next_child(reader, function, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || die_flag(&child, DW_AT_artificial))
			continue;
		if (!count++ && !is_reference_to(class, &child, is_rvalue))
			return 0;
	}
	return count;
}

/* Returns true if the compiler has generated the function, by itself or because the class says "= default". Such a
 * function only calls the corresponding functions of the members. */
static bool is_made(Dwarf_Die *function)
{
	uint64_t defaulted = 0;

	die_number(function, DW_AT_defaulted, &defaulted);
	return die_flag(function, DW_AT_artificial) || defaulted == DW_DEFAULTED_in_class;
}

/* How many functions a class has that copy or move its objects. */
struct copies {
	unsigned deleted, others; /* copy and move constructors */
	/* Constructors with more parameters. They are copy or move constructors if these parameters have default
	 * arguments, which debug information does not show. */
	unsigned with_more;
	unsigned move_assignments; /* move assignment operators that the source declares */
};

/* Returns true if the class is passed by its address because of this constructor. An instance of a constructor template
 * has template arguments in its name (W<W&>), and is never a copy constructor. */
static bool constructor_forbids(struct type_reader *reader, Dwarf_Die *class, Dwarf_Die *function,
				struct copies *copies)
{
	bool is_rvalue;
	const unsigned count = count_if_copying(reader, class, function, &is_rvalue);

	if (count > 1)
		copies->with_more++;
	if (count != 1)
		return false;
	if (die_flag(function, DW_AT_deleted)) {
		copies->deleted++;
		return false;
	}
	copies->others++;
	return !is_made(function);
}

/* Returns true if the class is passed by its address because of this member function. */
static bool function_forbids(struct type_reader *reader, Dwarf_Die *class, const char *name, Dwarf_Die *function,
			     struct copies *copies)
{
	const char *own = dwarf_diename(function);
	const size_t length = type_passing_plain_length(name);
	uint64_t is_virtual = 0;

	if (!own || die_number(function, DW_AT_virtuality, &is_virtual))
		return own && is_virtual;
	if (own[0] == '~')
		return !is_made(function) && !die_flag(function, DW_AT_deleted);
	if (!strcmp(own, "operator=") && !die_flag(function, DW_AT_artificial)) {
		bool is_rvalue = false;

		copies->move_assignments += count_if_copying(reader, class, function, &is_rvalue) == 1 && is_rvalue;
	}
	return !strncmp(own, name, length) && !own[length] && constructor_forbids(reader, class, function, copies);
}

const struct data_type *type_innermost(const struct data_type *type)
{
	while (type->kind == DATA_ARRAY && type->target)
		type = type->target;
	return type;
}

/* Returns true if the class is passed by its address because of its bases or its member functions. */
static bool class_forbids(struct type_reader *reader, Dwarf_Die *die, const struct data_type *type,
			  struct copies *copies)
{
	Dwarf_Die child = {0};

	while (die_next_child(reader, die, &child)) {
		uint64_t is_virtual = 0;
		const int tag = dwarf_tag(&child);

		if (tag == DW_TAG_inheritance && die_number(&child, DW_AT_virtuality, &is_virtual) && is_virtual)
			return true;
		if (tag == DW_TAG_subprogram && function_forbids(reader, die, type->name, &child, copies))
			return true;
	}
	return false;
}

void type_read_passing(struct type_reader *reader, Dwarf_Die *die, struct data_type *type)
{
	struct copies copies = {0};
	uint64_t convention;

	if (!language_is_cxx(reader->language))
		return;
	if (die_number(die, DW_AT_calling_convention, &convention)) {
		type->by_address = convention == DW_CC_pass_by_reference;
		return;
	}
	for (size_t i = 0; i < type->member_count; i++) {
		const struct data_type *const member = type_innermost(type->members[i].type);

		/* If the class has no copy constructor only because a member or base has none, GCC 12 puts the object
		 * on the stack instead of passing its address. So it is unknown how the object is passed. */
		type->by_address |= member->by_address && !member->has_no_copy;
		type->may_be_by_address |= member->may_be_by_address || member->has_no_copy;
	}
	type->by_address = type->by_address || class_forbids(reader, die, type, &copies);
	/* If the source declares a move assignment, the copy constructor is deleted, and there is no move constructor,
	 * unless the source declares these constructors, too. */
	type->has_no_copy = !type->by_address && (copies.deleted || copies.move_assignments) && !copies.others;
	type->by_address |= type->has_no_copy;
	type->may_be_by_address |= copies.with_more && !copies.others;
	type->may_be_by_address &= !type->by_address;
}
