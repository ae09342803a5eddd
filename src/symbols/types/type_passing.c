/* Finds which C++ classes are passed by their address: those with a copy constructor, move constructor or destructor
 * that executes code. */
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

/* Returns true if the constructor has one parameter, a reference to an object of the same class. */
static bool is_copying(struct type_reader *reader, Dwarf_Die *class, Dwarf_Die *constructor)
{
	Dwarf_Die child = {0}, reference, referred;
	unsigned count = 0;
	bool is_copy = false;

	while (die_next_child(reader, constructor, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || die_flag(&child, DW_AT_artificial))
			continue;
		count++;
		is_copy = die_reference(&child, DW_AT_type, &reference) &&
			  (dwarf_tag(&reference) == DW_TAG_reference_type ||
			   dwarf_tag(&reference) == DW_TAG_rvalue_reference_type) &&
			  die_reference(&reference, DW_AT_type, &referred) && is_same_class(class, &referred);
	}
	return count == 1 && is_copy;
}

/* Returns true if the compiler has generated the function, by itself or because the class says "= default". Such a
 * function only calls the corresponding functions of the members. */
static bool is_made(Dwarf_Die *function)
{
	uint64_t defaulted = 0;

	die_number(function, DW_AT_defaulted, &defaulted);
	return die_flag(function, DW_AT_artificial) || defaulted == DW_DEFAULTED_in_class;
}

/* How many copy and move constructors a class has. */
struct copies {
	unsigned deleted, others;
};

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
	if (strncmp(own, name, length) || (own[length] && own[length] != '<') || !is_copying(reader, class, function))
		return false;
	if (die_flag(function, DW_AT_deleted)) {
		copies->deleted++;
		return false;
	}
	copies->others++;
	return !is_made(function);
}

static const struct data_type *innermost_element(const struct data_type *type)
{
	while (type->kind == DATA_ARRAY && type->target)
		type = type->target;
	return type;
}

bool type_is_by_address(struct type_reader *reader, Dwarf_Die *die, const struct data_type *type)
{
	struct copies copies = {0};
	Dwarf_Die child = {0};
	uint64_t convention;

	if (!language_is_cxx(reader->language))
		return false;
	if (die_number(die, DW_AT_calling_convention, &convention))
		return convention == DW_CC_pass_by_reference;
	for (size_t i = 0; i < type->member_count; i++)
		if (innermost_element(type->members[i].type)->by_address)
			return true;
	while (die_next_child(reader, die, &child)) {
		uint64_t is_virtual = 0;
		const int tag = dwarf_tag(&child);

		if (tag == DW_TAG_inheritance && die_number(&child, DW_AT_virtuality, &is_virtual) && is_virtual)
			return true;
		if (tag == DW_TAG_subprogram && function_forbids(reader, die, type->name, &child, &copies))
			return true;
	}
	return copies.deleted && !copies.others;
}
