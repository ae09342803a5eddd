/* Reads the types of numbers, characters and enumerations. */
#include "config.h"
#include "symbols/types/type_reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- Base types ---- */

uint32_t type_scalar_align(const struct type_reader *reader, uint64_t size)
{
	const uint32_t most = reader->arch->abi->align_most;

	if (most && size > most)
		return size == 16 ? 16 : most;
	if (!size || size > 16 || (size & (size - 1)))
		return size == 12 ? 4 : 1;
	return (uint32_t)size;
}

/* Returns the name that is usual in sources; different compilers write different names. */
static const char *usual_name(const char *name)
{
	static const char *const names[][2] = {
		{"short int", "short"},
		{"short unsigned int", "unsigned short"},
		{"long int", "long"},
		{"long unsigned int", "unsigned long"},
		{"long long int", "long long"},
		{"long long unsigned int", "unsigned long long"},
		{"_Bool", "bool"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i][0]))
			return names[i][1];
	return name;
}

bool type_is_character(const char *name)
{
	return !strcmp(name, "char") || !strcmp(name, "wchar_t") || !strcmp(name, "char8_t") ||
	       !strcmp(name, "char16_t") || !strcmp(name, "char32_t");
}

/* Returns true if a floating point type is x87's, according to size and name. Its 10 bytes are stored in 12 or 16. */
static bool is_extended(const struct type_reader *reader, const struct data_type *type)
{
	return reader->arch->abi->x87_align && type->size >= 10 && !strstr(type->name, "128") &&
	       strcmp(type->name, "_Quad") != 0;
}

static void see_float(const struct type_reader *reader, struct data_type *type)
{
	type->kind = DATA_FLOAT;
	type->is_signed = true;
	type->is_extended = is_extended(reader, type);
	if (!strcmp(type->name, "__bf16") || !strcmp(type->name, "bfloat16_t"))
		type->kind = DATA_FLOAT_OTHER;
	if (type->is_extended)
		type->align = reader->arch->abi->x87_align;
}

/* Makes a complex type of two elements; DWARF does not describe the elements' type. */
static void see_complex(struct type_reader *reader, struct data_type *type)
{
	struct data_type *part = type_memory(reader, sizeof(*part));

	if (!part)
		return;
	type->kind = DATA_COMPLEX;
	part->is_swapped = type->is_swapped;
	type->is_swapped = false;
	type->count = 2;
	part->size = type->size / 2;
	part->align = type_scalar_align(reader, part->size);
	/* see_float() examines the name. The element's own name is not known yet, so use the name of the complex type:
	 * "complex long double", or just "complex". */
	part->name = type->name;
	see_float(reader, part);
	part->name = part->size == 4 ? "float" : part->size == 8 ? "double" : part->is_extended ? "long double" : "";
	type->name = part->size == 4     ? "complex float"
		     : part->size == 8   ? "complex double"
		     : part->is_extended ? "complex long double"
					 : type->name;
	type->align = part->align;
	type->target = part;
}

void type_read_base(struct type_reader *reader, Dwarf_Die *die, struct data_type *type)
{
	uint64_t encoding = 0, order = DW_END_default;

	die_number(die, DW_AT_encoding, &encoding);
	die_number(die, DW_AT_endianity, &order);
	type->is_swapped = order == DW_END_big;
	type->align = type_scalar_align(reader, type->size);
	type->name = usual_name(type->name);
	switch (encoding) {
	case DW_ATE_boolean:
		type->kind = DATA_BOOL;
		break;
	case DW_ATE_UTF:
	case DW_ATE_ASCII:
	case DW_ATE_UCS:
		type->kind = DATA_CHAR;
		break;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
	case DW_ATE_signed:
	case DW_ATE_unsigned:
		type->is_signed = encoding == DW_ATE_signed_char || encoding == DW_ATE_signed;
		/* Most values of the types "unsigned char" and "signed char" are small numbers, not characters. */
		type->kind = type_is_character(type->name) ? DATA_CHAR : DATA_INT;
		break;
	case DW_ATE_address:
		type->kind = DATA_INT;
		break;
	case DW_ATE_float:
		see_float(reader, type);
		break;
	case DW_ATE_complex_float:
		see_complex(reader, type);
		break;
	case DW_ATE_decimal_float:
		type->kind = DATA_FLOAT_OTHER;
		break;
	default:
		break;
	}
}

/* ---- Enumerations ---- */

static bool read_enumerator(struct type_reader *reader, Dwarf_Die *die, struct data_word *word, bool *is_signed)
{
	Dwarf_Attribute value;
	Dwarf_Sword number;
	Dwarf_Word bits;

	if (!dwarf_attr(die, DW_AT_const_value, &value))
		return false;
	const unsigned form = dwarf_whatform(&value);

	if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
		if (dwarf_formsdata(&value, &number))
			return false;
		*is_signed |= number < 0;
		bits = (Dwarf_Word)number;
	} else if (dwarf_formudata(&value, &bits)) {
		return false;
	}
	word->name = die_string(reader, die, DW_AT_name);
	word->value = bits;
	return true;
}

static int type_scalar_by_number(const void *a, const void *b)
{
	const int64_t left = (int64_t)((const struct data_word *)a)->value;
	const int64_t right = (int64_t)((const struct data_word *)b)->value;

	return left < right ? -1 : left > right;
}

static int by_unsigned_value(const void *a, const void *b)
{
	return compare_u64(((const struct data_word *)a)->value, ((const struct data_word *)b)->value);
}

/* Returns true if the enumerators' values are single bits and combinations of them, and are not just numbered 0, 1,
 * 2... */
static bool are_flags(const struct data_type *type)
{
	uint64_t bits = 0;
	size_t singles = 0, steps = 0;

	if (type->is_signed && type->word_count && (int64_t)type->words[0].value < 0)
		return false;
	for (size_t i = 0; i < type->word_count; i++) {
		const uint64_t value = type->words[i].value;

		if (value && !(value & (value - 1))) {
			singles += !(bits & value);
			bits |= value;
		}
		steps += i && value - type->words[i - 1].value > 1;
	}
	for (size_t i = 0; i < type->word_count; i++)
		if (type->words[i].value & ~bits)
			return false;
	return singles > 1 && steps;
}

void type_read_enum(struct type_reader *reader, Dwarf_Die *die, const struct data_type *integer, struct data_type *type)
{
	Dwarf_Die child = {0};
	struct data_word *words = NULL;
	size_t count = 0, capacity = 0;
	bool is_signed = false;

	type->kind = DATA_ENUM;
	type->target = integer;
	while (count < TYPE_WORDS_MAX && die_next_child(reader, die, &child)) {
		if (dwarf_tag(&child) != DW_TAG_enumerator)
			continue;
		ARRAY_GROW(words, capacity, count);
		count += read_enumerator(reader, &child, &words[count], &is_signed);
	}
	type->is_signed = type->target ? type->target->is_signed : is_signed;
	if (!type->size && type->target)
		type->size = type->target->size;
	type->align = type_scalar_align(reader, type->size);
	if (count)
		qsort(words, count, sizeof(*words), type->is_signed ? type_scalar_by_number : by_unsigned_value);
	type->words = type_keep(reader, words, count, sizeof(*words));
	type->word_count = type->words ? count : 0;
	type->is_flags = are_flags(type);
}
