/* Formats values with members or elements (structs, unions, bit fields, arrays), and enumerations. */
#include "config.h"
#include "args/value.h"

#include <inttypes.h>

#define DEPTH_MAX    4  /* maximum number of levels shown of nested structs and arrays */
#define BASES_MAX    8  /* maximum number of levels shown of inherited classes */
#define VECTOR_ITEMS 16 /* number of elements of the largest vector that an ABI passes */

/* ---- Structs ---- */

/* Returns the number in a bit field of a struct whose byte order is not the processor's. In such a struct, bits are
 * counted from the highest bit of each byte. */
static uint64_t bits_from_highest(const struct value_view *held, unsigned shift, unsigned bits)
{
	uint64_t number = 0;

	for (unsigned at = shift; at < shift + bits; at++)
		number = number << 1 | (held->bytes[at / 8] >> (7 - at % 8) & 1);
	return number;
}

static uint64_t bits_from_lowest(const struct value_view *held, unsigned shift, unsigned bits)
{
	uint64_t number = view_number(held, sizeof(number), false) >> shift;

	if (shift + bits > 64)
		number |= (uint64_t)held->bytes[8] << (64 - shift);
	return bits < 64 ? number & (((uint64_t)1 << bits) - 1) : number;
}

/* Shows a bit field as a number of its type. */
static void show_bit_field(struct formatter *s, const struct data_member *member, const struct value_view *view,
			   unsigned depth)
{
	const struct data_type *type = member->type;
	const uint64_t first = member->offset + member->bit_offset / 8;
	const unsigned shift = member->bit_offset % 8, bits = member->bit_size;
	const struct value_view held = view_part(view, first, (shift + bits + 7) / 8);
	unsigned char bytes[16] = {0};

	if (!type || bits > 64 || type->size > sizeof(bytes)) {
		out_add(&s->out, "<bits>");
		return;
	}
	if (held.size * 8 < shift + bits) {
		show_missing(s, &held);
		return;
	}
	if (view_has_lost(&held, held.size)) {
		show_lost(s);
		return;
	}
	uint64_t number = (type->is_swapped ? bits_from_highest : bits_from_lowest)(&held, shift, bits);
	const struct data_type *integer = type->kind == DATA_ENUM && type->target ? type->target : type;
	const bool is_negative = (integer->is_signed || type->is_signed) && number >> (bits - 1);

	if (is_negative && bits < 64)
		number |= UINT64_MAX << bits;
	memset(bytes, is_negative ? 0xff : 0, sizeof(bytes));
	memcpy(bytes, &number, sizeof(number));
	const struct value_view value = {.bytes = bytes, .size = type->size};

	struct data_type plain = *type;

	plain.is_swapped = false;
	s->show(s, &plain, &value, depth, FOLLOW_NOT);
}

/* Returns true if the struct is a Rust tuple: its members are named __0, __1... */
static bool is_tuple(const struct data_type *type)
{
	return type->member_count && type->members[0].name && !strcmp(type->members[0].name, "__0");
}

/* The state of listing the members of one struct, including the inherited ones. */
struct listing {
	struct formatter *s;
	unsigned depth;
	const char *separator; /* text before the next member */
	/* The virtual bases that are listed already. Each one is listed once, although several classes may inherit it.
	 * Address 0: unknown. */
	struct {
		const char *name;
		uint64_t address;
	} bases[BASES_READ];
	unsigned base_count;
};

static void value_struct_add_members(struct listing *listing, const struct data_type *type,
				     const struct value_view *view, unsigned bases);

static bool value_struct_is_listed(struct listing *listing, const char *name, uint64_t address)
{
	for (unsigned i = 0; i < listing->base_count; i++)
		if (listing->bases[i].address == address && !strcmp(listing->bases[i].name, name))
			return true;
	if (listing->base_count < ARRAY_SIZE(listing->bases)) {
		listing->bases[listing->base_count].name = name;
		listing->bases[listing->base_count++].address = address;
	}
	return false;
}

static void add_virtual_base(struct listing *listing, const struct data_member *base, const struct value_view *view,
			     unsigned bases)
{
	struct formatter *const s = listing->s;
	const struct data_type *const type = base->type;
	const char *const name = type->name ? type->name : "";
	unsigned char bytes[VALUE_BYTES];
	uint64_t address = 0;
	struct value_view part;
	const bool is_known = virtual_base_find(s, base, view, &address);

	if (value_struct_is_listed(listing, name, address))
		return;
	if (!is_known) {
		out_printf(&s->out, "%s%s=<unknown place>", listing->separator, name);
		listing->separator = ", ";
		return;
	}
	if (address >= view->address && address - view->address < view->size &&
	    view->size - (address - view->address) >= type->size)
		part = view_part(view, address - view->address, type->size);
	else
		formatter_read(s, address, type->size, bytes, &part);
	value_struct_add_members(listing, type, &part, bases);
}

static void add_base(struct listing *listing, const struct data_member *base, const struct value_view *view,
		     unsigned bases)
{
	const struct value_view part = view_part(view, base->offset, base->type->size);

	if (base->is_virtual)
		add_virtual_base(listing, base, view, bases);
	else
		value_struct_add_members(listing, base->type, &part, bases);
}

/* Adds the members of a struct, and the members of its bases as if they were its own. */
static void value_struct_add_members(struct listing *listing, const struct data_type *type,
				     const struct value_view *view, unsigned bases)
{
	struct formatter *const s = listing->s;
	const bool has_no_names = is_tuple(type);

	for (size_t i = 0; i < type->member_count && out_step(&s->out); i++) {
		const struct data_member *member = &type->members[i];
		const uint64_t size = member->type ? member->type->size : 0;
		const struct value_view part = view_part(view, member->offset, size);

		if (member->is_base && member->type && member->type->kind != DATA_OTHER && bases) {
			add_base(listing, member, view, bases - 1);
			continue;
		}
		out_add(&s->out, listing->separator);
		listing->separator = ", ";
		if (member->is_virtual) {
			out_add(&s->out, "...");
			continue;
		}
		if (member->name && *member->name && !has_no_names)
			out_printf(&s->out, "%s=", member->name);
		if (member->bit_size)
			show_bit_field(s, member, view, listing->depth);
		else
			s->show(s, member->type, &part, listing->depth, FOLLOW_NOT);
		/* If a member is missing, all later members are missing, too. */
		if (type->kind != DATA_UNION && part.size < size && !member->bit_size) {
			s->out.is_full |= view->is_cut;
			return;
		}
	}
	if (type->is_cut || (type->has_variants && !type->variant_count)) {
		out_printf(&s->out, "%s...", listing->separator);
		listing->separator = ", ";
	}
}

static void show_plain(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth)
{
	struct listing listing = {.s = s, .depth = depth + 1, .separator = ""};
	const bool has_no_names = is_tuple(type);

	out_add(&s->out, has_no_names ? "(" : "{");
	if (depth >= DEPTH_MAX)
		out_add(&s->out, "...");
	else
		value_struct_add_members(&listing, type, view, BASES_MAX);
	out_end(&s->out, has_no_names ? ")" : "}");
}

/* Returns the variant that the value's discriminant selects; if there is none, the variant for all other discriminants.
 * Returns NULL if there is no such variant either, or if the discriminant is unknown. */
static const struct data_variant *find_variant(const struct data_type *type, const struct value_view *view)
{
	const struct data_member *discriminant = type->discriminant;
	const struct data_variant *other = NULL;

	if (!discriminant)
		return &type->variants[0];
	const uint64_t size = discriminant->type ? discriminant->type->size : 0;
	const struct value_view part = view_part(view, discriminant->offset, size);
	const struct value_view high = view_part(&part, sizeof(uint64_t), sizeof(uint64_t));
	const uint64_t number = view_number(&part, size, false), value = view_number(&part, size, true);
	const bool is_wide = high.size && view_number(&high, high.size, false); /* no variant's value is so large */

	if (!size || part.size < size || view_has_lost(&part, size))
		return NULL;
	for (size_t i = 0; i < type->variant_count; i++) {
		const struct data_variant *variant = &type->variants[i];

		if (variant->is_other)
			other = variant;
		else if (!is_wide && (variant->value == number || variant->value == value))
			return variant;
	}
	return other;
}

/* Shows a variant as in Rust's source: None, Some(5), Move{x=1, y=2}. */
static void show_variant(struct formatter *s, const struct data_type *type, const struct value_view *view,
			 unsigned depth)
{
	const struct data_variant *variant = find_variant(type, view);

	if (!variant) {
		out_add(&s->out, "{...}");
		return;
	}
	const struct value_view part = view_part(view, variant->offset, variant->type ? variant->type->size : 0);

	const bool is_named = variant->name && *variant->name;

	out_add(&s->out, is_named ? variant->name : "");
	if (variant->type && (variant->type->member_count || variant->type->is_cut))
		show_plain(s, variant->type, &part, depth);
	else if (!is_named)
		out_add(&s->out, "{}");
}

void show_members(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth)
{
	if (type->has_variants && type->variant_count)
		show_variant(s, type, view, depth);
	else
		show_plain(s, type, view, depth);
}

/* ---- Arrays ---- */

void show_elements(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth)
{
	const struct data_type *element = type->target;
	const uint64_t most = type->kind == DATA_VECTOR ? VECTOR_ITEMS : VALUE_ITEMS;
	uint64_t i = 0;

	if (type->kind == DATA_ARRAY && is_text_char(element)) {
		if (view_has_lost(view, type->size))
			show_lost(s);
		else
			show_char_array(s, type, view);
		return;
	}
	out_add(&s->out, "[");
	const bool is_unknown = !element || (element->kind == DATA_OTHER && !element->size);

	if (depth >= DEPTH_MAX || is_unknown || !type->count) { /* count 0: the length is unknown */
		out_add(&s->out, "...");
		out_end(&s->out, "]");
		return;
	}
	for (; i < type->count && i < most && element && element->size; i++) {
		const struct value_view part = view_part(view, i * element->size, element->size);

		out_add(&s->out, i ? ", " : "");
		s->show(s, element, &part, depth + 1, FOLLOW_NOT);
		if (part.size < element->size || s->out.is_full)
			break;
	}
	if (i == most && i < type->count)
		out_add(&s->out, ", ...");
	out_end(&s->out, "]");
}

/* ---- Enumerations ---- */

static bool has_name(const struct data_word *word)
{
	return word->name && *word->name;
}

/* Adds the names of the bits that are set in a number, in ascending order. Tries the type's constants (`words`, sorted
 * by value) from the greatest on, because a constant may consist of several bits. */
static void show_flags(struct formatter *s, const struct data_type *type, uint64_t number)
{
	const struct data_word *named[64];
	size_t count = 0;
	uint64_t left = number;

	for (size_t i = type->word_count; i-- > 0 && left && count < ARRAY_SIZE(named);) {
		const uint64_t bits = type->words[i].value;

		if (!bits || (left & bits) != bits || !has_name(&type->words[i]))
			continue;
		left &= ~bits;
		named[count++] = &type->words[i];
	}
	for (size_t i = count; i-- > 0;)
		out_printf(&s->out, "%s%s", named[i]->name, i ? "|" : "");
	if (left || !count)
		out_printf(&s->out, left ? "%s0x%" PRIx64 : "%s0", count ? "|" : "", left);
}

void show_enum(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	const bool is_signed = type->target ? type->target->is_signed : type->is_signed;
	const uint64_t number = view_number(view, type->size, is_signed);
	const uint64_t bits = view_number(view, type->size, false);

	for (size_t i = 0; i < type->word_count; i++)
		if (has_name(&type->words[i]) && (type->words[i].value == number || type->words[i].value == bits)) {
			out_add(&s->out, type->words[i].name);
			return;
		}
	if (type->is_flags)
		show_flags(s, type, bits);
	else if (is_signed)
		out_printf(&s->out, "%" PRId64, (int64_t)number);
	else
		out_printf(&s->out, "%" PRIu64, number);
}
