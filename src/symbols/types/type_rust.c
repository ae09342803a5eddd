/* Finds how Rust passes a value: a scalar or a pair of scalars as they are, another value that is no larger than a
 * pointer as an integer with the same bytes, any other value by its address. rustc does this on all processors, but its
 * documentation does not promise it. Whether a value is a pair follows from the layout of its type. */
#include "config.h"
#include "symbols/types/type_rust.h"

#include <string.h>

#define DEPTH_MAX 32

enum shape {
	SHAPE_NOTHING,
	SHAPE_SCALAR,
	SHAPE_PAIR,
	SHAPE_MEMORY,
};

struct type_rust_layout {
	enum shape shape;
	struct passed_scalar scalars[PASSED_SCALARS];
};

static struct type_rust_layout type_rust_layout_of(struct type_reader *reader, const struct data_type *type,
						   unsigned depth);

static struct type_rust_layout scalar_layout(const struct data_type *type)
{
	struct type_rust_layout layout = {.shape = SHAPE_SCALAR};

	layout.scalars[0].size = (uint16_t)type->size;
	layout.scalars[0].is_float = type->kind == DATA_FLOAT;
	return layout;
}

static void type_rust_move(struct type_rust_layout *layout, uint64_t offset)
{
	for (size_t i = 0; i < PASSED_SCALARS; i++)
		layout->scalars[i].offset += (uint32_t)offset;
}

static struct type_rust_layout type_rust_pair_of(const struct type_rust_layout *first,
						 const struct type_rust_layout *second)
{
	const bool is_ordered = first->scalars[0].offset < second->scalars[0].offset;
	struct type_rust_layout layout = {.shape = SHAPE_PAIR};

	layout.scalars[0] = (is_ordered ? first : second)->scalars[0];
	layout.scalars[1] = (is_ordered ? second : first)->scalars[0];
	return layout;
}

/* Adds a member to a layout, which is empty at first. With a second scalar the layout is a pair; with any more members
 * the value is in memory. */
static void type_rust_add(struct type_rust_layout *whole, const struct type_rust_layout *member)
{
	if (member->shape == SHAPE_NOTHING)
		return;
	if (whole->shape == SHAPE_NOTHING)
		*whole = *member;
	else if (whole->shape == SHAPE_SCALAR && member->shape == SHAPE_SCALAR)
		*whole = type_rust_pair_of(whole, member);
	else
		whole->shape = SHAPE_MEMORY;
}

static struct type_rust_layout layout_of_struct(struct type_reader *reader, const struct data_type *type,
						unsigned depth)
{
	struct type_rust_layout whole = {0};

	if (type->is_cut)
		whole.shape = SHAPE_MEMORY;
	for (size_t i = 0; i < type->member_count; i++) {
		struct type_rust_layout member = type_rust_layout_of(reader, type->members[i].type, depth + 1);

		type_rust_move(&member, type->members[i].offset);
		type_rust_add(&whole, &member);
	}
	return whole;
}

/* Returns the layout of a struct or enum. layout: the layout of its members. If the members are one scalar that is
 * smaller than the type, the value is in memory, because a struct can have a larger alignment than its only member. */
static struct type_rust_layout all_of(const struct data_type *type, struct type_rust_layout layout)
{
	if (layout.shape == SHAPE_SCALAR && layout.scalars[0].size != type->size)
		layout.shape = SHAPE_MEMORY;
	return layout;
}

static bool type_rust_is_same(const struct passed_scalar *a, const struct passed_scalar *b)
{
	return a->offset == b->offset && a->size == b->size && a->is_float == b->is_float;
}

/* Returns the layout of an enum with a separate discriminant. It is a pair if all variants with data consist of the
 * same scalar at the same place. */
static struct type_rust_layout layout_of_tagged(const struct data_type *type, const struct type_rust_layout *variants)
{
	struct type_rust_layout tag = scalar_layout(type->discriminant->type), data = {0};

	type_rust_move(&tag, type->discriminant->offset);
	for (size_t i = 0; i < type->variant_count; i++) {
		if (variants[i].shape == SHAPE_NOTHING)
			continue;
		if (variants[i].shape != SHAPE_SCALAR ||
		    (data.shape == SHAPE_SCALAR && !type_rust_is_same(&data.scalars[0], &variants[i].scalars[0])))
			return (struct type_rust_layout){.shape = SHAPE_MEMORY};
		data = variants[i];
	}
	if (data.shape == SHAPE_SCALAR)
		return type_rust_pair_of(&tag, &data);
	return tag;
}

static bool overlaps(const struct data_type *type, const struct passed_scalar *scalar)
{
	const uint64_t at = type->discriminant->offset;

	return at < scalar->offset + (uint64_t)scalar->size && scalar->offset < at + type->discriminant->type->size;
}

/* Returns true if the enum has no separate discriminant. The discriminant is then stored in a niche: in bytes of one
 * variant's data, as values that this data never has. */
static bool is_niche(const struct data_type *type)
{
	for (size_t i = 0; i < type->variant_count; i++)
		if (type->variants[i].is_other)
			return true;
	return false;
}

#define VARIANTS_MAX 64

static struct type_rust_layout layout_of_enum(struct type_reader *reader, const struct data_type *type, unsigned depth)
{
	struct type_rust_layout variants[VARIANTS_MAX], whole = {0};
	bool has_tag = type->discriminant;
	unsigned with_data = 0;

	if (type->variant_count > VARIANTS_MAX)
		return (struct type_rust_layout){.shape = SHAPE_MEMORY};
	for (size_t i = 0; i < type->variant_count; i++) {
		/* The struct that describes a variant has the size of the whole enum, so all_of() is not used. */
		variants[i] = layout_of_struct(reader, type->variants[i].type, depth + 1);
		type_rust_move(&variants[i], type->variants[i].offset);
		if (variants[i].shape == SHAPE_NOTHING)
			continue;
		with_data++;
		whole = variants[i];
		if (has_tag && variants[i].shape != SHAPE_MEMORY)
			has_tag = !overlaps(type, &variants[i].scalars[0]) &&
				  !(variants[i].shape == SHAPE_PAIR && overlaps(type, &variants[i].scalars[1]));
	}
	if (has_tag && !is_niche(type))
		return layout_of_tagged(type, variants);
	return with_data < 2 ? whole : (struct type_rust_layout){.shape = SHAPE_MEMORY};
}

static struct type_rust_layout type_rust_layout_of(struct type_reader *reader, const struct data_type *type,
						   unsigned depth)
{
	if (depth == DEPTH_MAX || !reader->dies_left)
		return (struct type_rust_layout){.shape = SHAPE_MEMORY};
	reader->dies_left--;
	if (!type->size)
		return (struct type_rust_layout){.shape = SHAPE_NOTHING};
	switch (type->kind) {
	case DATA_INT:
	case DATA_BOOL:
	case DATA_CHAR:
	case DATA_FLOAT:
	case DATA_ENUM:
	case DATA_POINTER:
	case DATA_REFERENCE:
		return scalar_layout(type);
	case DATA_STRUCT:
	case DATA_TEXT:
		return all_of(type, type->has_variants ? layout_of_enum(reader, type, depth)
						       : layout_of_struct(reader, type, depth));
	default:
		return (struct type_rust_layout){.shape = SHAPE_MEMORY};
	}
}

struct passed_as type_passed_by_rust(struct type_reader *reader, const struct data_type *type)
{
	const struct type_rust_layout layout = type_rust_layout_of(reader, type, 0);
	struct passed_as passed = {0};

	memcpy(passed.scalars, layout.scalars, sizeof(passed.scalars));
	switch (layout.shape) {
	case SHAPE_NOTHING:
		break;
	case SHAPE_SCALAR:
		passed.count = 1;
		break;
	case SHAPE_PAIR:
		passed.count = 2;
		break;
	case SHAPE_MEMORY:
		passed.by_address = type->size > reader->word;
		passed.count = !passed.by_address;
		passed.scalars[0] = (struct passed_scalar){.size = (uint16_t)type->size};
		break;
	}
	return passed;
}
