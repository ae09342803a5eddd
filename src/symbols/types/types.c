/* Reads types from DWARF. */
#include "config.h"
#include "symbols/types/type_reader.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX      64
#define DIMENSIONS_MAX 8
#define COMPLETED_MAX  16 /* longest chain of DIEs in which each completes the next */

const struct data_type type_unknown = {.kind = DATA_OTHER, .align = 1, .name = ""};

/* ---- Pointers ---- */

static void types_read_pointer(struct type_reader *reader, Dwarf_Die *die, unsigned level, enum data_kind kind,
			       struct data_type *type)
{
	type->kind = kind;
	if (!type->size)
		type->size = reader->word;
	type->align = type_scalar_align(reader, type->size);
	type->target = level + 1 < TYPE_LEVELS ? type_read_of(reader, die, level + 1) : &type_unknown;
}

/* Describes a pointer to a member: a pointer to data is an offset, a pointer to a member function consists of two
 * words. */
static void read_member_pointer(struct type_reader *reader, Dwarf_Die *die, struct data_type *type)
{
	Dwarf_Die to;

	type->kind = DATA_MEMBER_POINTER;
	if (!type->size)
		type->size = die_reference(die, DW_AT_type, &to) && dwarf_tag(&to) == DW_TAG_subroutine_type
				     ? 2 * reader->word
				     : reader->word;
	type->align = reader->word;
}

/* Describes C++'s nullptr_t, and leaves the other unspecified types of DWARF unchanged: some compilers use them for
 * "void", and rustc for "!". */
static void read_unspecified(struct type_reader *reader, struct data_type *type)
{
	if (strstr(type->name, "nullptr")) {
		type->kind = DATA_POINTER;
		type->size = reader->word;
		type->align = reader->word;
	}
}

/* ---- Arrays ---- */

/* Returns the number of elements in one dimension of an array; 0 also if it is unknown. Sets *is_open if the source
 * gives no number. */
static uint64_t dimension(Dwarf_Die *die, bool *is_open)
{
	uint64_t low = 0, high;

	*is_open = dwarf_tag(die) == DW_TAG_subrange_type && !die_has(die, DW_AT_count) &&
		   !die_has(die, DW_AT_upper_bound);
	if (die_number(die, DW_AT_count, &high))
		return high;
	if (!die_number(die, DW_AT_upper_bound, &high))
		return 0;
	die_number(die, DW_AT_lower_bound, &low);
	/* The upper bound of "[0]" and "[]" is -1, in an integer of any size. */
	return high >= low && high < INT32_MAX ? high - low + 1 : 0;
}

static void read_array(struct type_reader *reader, Dwarf_Die *die, unsigned level, struct data_type *type)
{
	const struct data_type *element = type_read_of(reader, die, level);
	uint64_t counts[DIMENSIONS_MAX];
	bool is_open[DIMENSIONS_MAX];
	Dwarf_Die child = {0};
	size_t dimensions = 0;

	while (dimensions < DIMENSIONS_MAX && die_next_child(reader, die, &child))
		if (dwarf_tag(&child) == DW_TAG_subrange_type || dwarf_tag(&child) == DW_TAG_enumeration_type) {
			counts[dimensions] = dimension(&child, &is_open[dimensions]);
			dimensions++;
		}
	if (!element)
		element = &type_unknown;
	while (dimensions > 1) {
		struct data_type *row = type_memory(reader, sizeof(*row));

		if (!row)
			return;
		*row = (struct data_type){
			.kind = DATA_ARRAY,
			.name = "",
			.target = element,
			.align = element->align,
			.count = counts[--dimensions],
		};
		row->size = mul_saturated(row->count, element->size);
		element = row;
	}
	type->kind = die_flag(die, DW_AT_GNU_vector) ? DATA_VECTOR : DATA_ARRAY;
	type->target = element;
	type->count = dimensions ? counts[0] : 0;
	type->is_open = dimensions && is_open[0];
	type->align = element->align;
	if (!type->size)
		type->size = mul_saturated(type->count, element->size);
	if (type->kind == DATA_VECTOR && type->size <= 64)
		type->align = type->size ? (uint32_t)type->size : 1;
}

/* ---- Structs ---- */

/* Returns the type, or a copy of it with the member's own alignment, if that is larger. */
static const struct data_type *type_with_own_alignment(struct type_reader *reader, Dwarf_Die *die,
						       const struct data_type *type)
{
	uint64_t align;

	if (!type || !die_number(die, DW_AT_alignment, &align) || align <= type->align || align > UINT16_MAX)
		return type;
	struct data_type *copy = type_memory(reader, sizeof(*copy));

	if (!copy)
		return type;
	*copy = *type;
	copy->align = (uint32_t)align;
	return copy;
}

/* Returns true if the member is not shown. A static member is only declared; an artificial one is the pointer to the
 * vtable. */
static bool is_hidden_member(Dwarf_Die *die)
{
	return die_flag(die, DW_AT_external) || die_flag(die, DW_AT_declaration) || die_flag(die, DW_AT_artificial);
}

static bool read_member(struct type_reader *reader, Dwarf_Die *die, unsigned level, struct data_member *member)
{
	const bool is_base = dwarf_tag(die) == DW_TAG_inheritance;

	*member = (struct data_member){.is_base = is_base};
	if (!type_member_place(die, member))
		return false;
	member->name = is_base ? "" : die_string(reader, die, DW_AT_name);
	member->type = type_with_own_alignment(reader, die, type_read_of(reader, die, level));
	return member->type && type_member_bits(die, member);
}

/* ---- Rust's enums ---- */

/* Reads the number that selects a variant. rustc writes a number of 16 bytes as a DW_FORM_block. Returns false if there
 * is no number, or if it needs more than 8 bytes. */
static bool read_selector(Dwarf_Die *die, uint64_t *value)
{
	static const unsigned char zeros[sizeof(*value)] = {0};
	Dwarf_Attribute found;
	Dwarf_Block block;

	if (die_number(die, DW_AT_discr_value, value))
		return true;
	if (dwarf_formblock(dwarf_attr(die, DW_AT_discr_value, &found), &block) || block.length != 2 * sizeof(*value) ||
	    memcmp(block.data + sizeof(*value), zeros, sizeof(zeros)) != 0)
		return false;
	memcpy(value, block.data, sizeof(*value));
	return true;
}

static bool read_variant(struct type_reader *reader, Dwarf_Die *die, unsigned level, struct data_variant *variant)
{
	Dwarf_Die child = {0};
	uint64_t offset;

	while (die_next_child(reader, die, &child)) {
		if (dwarf_tag(&child) != DW_TAG_member || !type_member_offset(&child, &offset))
			continue;
		*variant = (struct data_variant){
			.name = die_string(reader, &child, DW_AT_name),
			.type = type_read_of(reader, &child, level),
			.offset = (uint32_t)offset,
		};
		variant->is_other = !read_selector(die, &variant->value);
		return variant->type;
	}
	return false;
}

static void read_discriminant(struct type_reader *reader, Dwarf_Die *part, unsigned level, struct data_type *type)
{
	struct data_member *member = type_memory(reader, sizeof(*member));
	Dwarf_Die die;
	uint64_t offset;

	if (!member || !die_reference(part, DW_AT_discr, &die) || !type_member_offset(&die, &offset))
		return;
	*member = (struct data_member){
		.name = "",
		.type = type_read_of(reader, &die, level),
		.offset = (uint32_t)offset,
	};
	if (member->type)
		type->discriminant = member;
}

static void read_variants(struct type_reader *reader, Dwarf_Die *part, unsigned level, struct data_type *type)
{
	struct data_variant *variants = NULL;
	Dwarf_Die child = {0};
	size_t count = 0, capacity = 0;

	type->has_variants = true;
	read_discriminant(reader, part, level, type);
	while (count < TYPE_MEMBERS_MAX && die_next_child(reader, part, &child)) {
		if (dwarf_tag(&child) != DW_TAG_variant)
			continue;
		ARRAY_GROW(variants, capacity, count);
		count += read_variant(reader, &child, level, &variants[count]);
	}
	type->variants = type_keep(reader, variants, count, sizeof(*variants));
	type->variant_count = type->variants ? count : 0;
}

/* ---- Structs' members ---- */

/* Returns a copy of the type in the other byte order if it is an integer of some kind or an array of such integers,
 * else the type itself. */
static const struct data_type *swapped_type(struct type_reader *reader, const struct data_type *type)
{
	const bool is_array = type->kind == DATA_ARRAY && type->target;
	const bool is_integer =
		type->kind == DATA_ENUM || type->kind == DATA_INT || type->kind == DATA_BOOL || type->kind == DATA_CHAR;
	struct data_type *copy = is_array || is_integer ? type_memory(reader, sizeof(*copy)) : NULL;

	if (!copy)
		return type;
	*copy = *type;
	copy->is_swapped = is_integer;
	if (is_array)
		copy->target = swapped_type(reader, type->target);
	return copy;
}

/* Gives all integer members of a struct the other byte order if one of them has it. In a struct with GCC's
 * scalar_storage_order all integers have this order, also enumerations, whose types do not show it. */
static void swap_members(struct type_reader *reader, struct data_member *members, size_t count)
{
	bool is_any = false;

	for (size_t i = 0; i < count; i++)
		is_any |= type_innermost(members[i].type)->is_swapped;
	for (size_t i = 0; i < count && is_any; i++)
		members[i].type = swapped_type(reader, members[i].type);
}

static void read_members(struct type_reader *reader, Dwarf_Die *die, unsigned level, struct data_type *type)
{
	Dwarf_Die child = {0};
	struct data_member *members = NULL;
	size_t count = 0, capacity = 0;

	while (die_next_child(reader, die, &child)) {
		const int tag = dwarf_tag(&child);

		if (tag == DW_TAG_variant_part && !type->has_variants)
			read_variants(reader, &child, level, type);
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || is_hidden_member(&child))
			continue;
		if (count == TYPE_MEMBERS_MAX) {
			type->is_cut = true;
			break;
		}
		ARRAY_GROW(members, capacity, count);
		if (read_member(reader, &child, level, &members[count]))
			count++;
		else
			type->is_cut = true;
	}
	swap_members(reader, members, count);
	type->align = type_natural_align(type, members, count);
	type->may_be_packed = type->align > 1 && type_may_be_packed(type, members, count);
	type->members = type_keep(reader, members, count, sizeof(*members));
	type->member_count = type->members ? count : 0;
	type->is_cut |= count && !type->members;
}

static void read_struct(struct type_reader *reader, Dwarf_Die *die, unsigned level, struct data_type *type)
{
	type->kind = dwarf_tag(die) == DW_TAG_union_type ? DATA_UNION : DATA_STRUCT;
	type->align = 1;
	type->is_incomplete = die_has(die, DW_AT_declaration);
	if (level < TYPE_LEVELS_FULL) {
		read_members(reader, die, level, type);
		type_read_passing(reader, die, type);
	}
	type_see_string(reader, die, type);
}

/* ---- Other names for a type ---- */

static void read_alias(struct type_reader *reader, Dwarf_Die *die, unsigned level, struct data_type *type)
{
	const struct data_type *target = type_read_of(reader, die, level);
	const char *name = type->name;

	*type = target ? *target : (struct data_type){.kind = DATA_VOID, .align = 1, .name = "void"};
	if (dwarf_tag(die) == DW_TAG_const_type)
		type->is_const = level > 0;
	if (dwarf_tag(die) != DW_TAG_typedef)
		return;
	type->name = name;
	/* In C, the character types other than char are typedefs of integers. */
	if (type->kind == DATA_INT && type_is_character(name))
		type->kind = DATA_CHAR;
}

/* ---- All types ---- */

static void types_read_any(struct type_reader *reader, Dwarf_Die *die, unsigned level, struct data_type *type)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		type_read_base(reader, die, type);
		break;
	case DW_TAG_enumeration_type:
		type_read_enum(reader, die, type_read_of(reader, die, level), type);
		break;
	case DW_TAG_pointer_type:
		types_read_pointer(reader, die, level, DATA_POINTER, type);
		/* Rust's references are pointer types with names that begin with '&'. */
		if (type->name[0] == '&')
			type->kind = DATA_REFERENCE;
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		types_read_pointer(reader, die, level, DATA_REFERENCE, type);
		break;
	case DW_TAG_ptr_to_member_type:
		read_member_pointer(reader, die, type);
		break;
	case DW_TAG_subroutine_type:
		type->kind = DATA_FUNCTION;
		break;
	case DW_TAG_array_type:
		read_array(reader, die, level, type);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		read_struct(reader, die, level, type);
		break;
	case DW_TAG_unspecified_type:
		read_unspecified(reader, type);
		break;
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_shared_type:
	case DW_TAG_packed_type:
	case DW_TAG_immutable_type:
	case DW_TAG_subrange_type:
		read_alias(reader, die, level, type);
		break;
	default:
		break;
	}
}

/* Replaces a declaration by its definition, if the declaration refers to one. */
static void find_definition(Dwarf_Die *die)
{
	Dwarf_Attribute found;
	Dwarf_Die definition;

	if (dwarf_attr(die, DW_AT_signature, &found) && dwarf_formref_die(&found, &definition))
		*die = definition;
}

static const struct data_type *read_new(struct type_reader *reader, Dwarf_Die *die, unsigned level, uint64_t key)
{
	struct data_type *type = type_memory(reader, sizeof(*type));
	uint64_t align;

	if (!type)
		return &type_unknown;
	/* If a struct contains itself, as in a damaged file, its member gets the type type_unknown. */
	hash_set_ptr(&reader->types, key, (void *)(uintptr_t)&type_unknown);
	*type = (struct data_type){.kind = DATA_OTHER, .align = 1, .name = die_string(reader, die, DW_AT_name)};
	die_number(die, DW_AT_byte_size, &type->size);
	types_read_any(reader, die, level, type);
	if (die_number(die, DW_AT_alignment, &align) && align && align <= UINT16_MAX && !(align & (align - 1))) {
		type->align = (uint32_t)align;
		type->may_be_packed = false;
	}
	hash_set_ptr(&reader->types, key, type);
	return type;
}

/* Returns the type that a DIE describes. level: number of pointers between the parameter and the type. Never returns
 * NULL. */
static const struct data_type *type_read(struct type_reader *reader, Dwarf_Die *die, unsigned level)
{
	find_definition(die);
	const uint64_t key = (uint64_t)(uintptr_t)die->addr * TYPE_LEVELS + level;
	const struct data_type *known = hash_get_ptr(&reader->types, key);

	if (known)
		return known;
	if (reader->depth == DEPTH_MAX || !reader->dies_left)
		return &type_unknown;
	reader->depth++;
	reader->dies_left--;
	const struct data_type *type = read_new(reader, die, level, key);

	reader->depth--;
	return type;
}

/* Finds the DW_AT_type of a DIE, or of a DIE that it completes. Returns false if there is none; sets *is_lost if the
 * DIE that it completes is in a missing file (dwz's common file). */
static bool find_typed(Dwarf_Die *die, Dwarf_Attribute *type, bool *is_lost)
{
	Dwarf_Die entry = *die;

	for (unsigned i = 0; i < COMPLETED_MAX; i++) {
		if (dwarf_attr(&entry, DW_AT_type, type))
			return true;
		const unsigned next =
			die_has(&entry, DW_AT_abstract_origin) ? DW_AT_abstract_origin : DW_AT_specification;

		if (!die_has(&entry, next))
			return false;
		if (!die_reference(&entry, next, &entry)) {
			*is_lost = true;
			return false;
		}
	}
	return false;
}

const struct data_type *type_read_of(struct type_reader *reader, Dwarf_Die *die, unsigned level)
{
	Dwarf_Attribute found;
	Dwarf_Die type;
	bool is_lost = false;

	if (!find_typed(die, &found, &is_lost))
		return is_lost ? &type_unknown : NULL;
	return dwarf_formref_die(&found, &type) ? type_read(reader, &type, level) : &type_unknown;
}
