/* Helpers that the processors' rules of parameter passing share. */
#include "config.h"
#include "arch/abi_rules.h"

#include <math.h>
#include <string.h>

void abi_add(struct abi_place *place, enum abi_piece_kind kind, unsigned index, uint64_t offset, uint64_t size,
	     uint64_t at)
{
	place->is_known = true;
	place->pieces[place->piece_count++] = (struct abi_piece){
		.kind = (unsigned char)kind,
		.index = (unsigned char)index,
		.size = (uint32_t)size,
		.offset = (uint32_t)offset,
		.at = (uint32_t)at,
	};
}

void abi_in_registers(struct abi_place *place, uint64_t size, unsigned word, unsigned first)
{
	for (uint64_t done = 0; done < size; done += word)
		abi_add(place, PIECE_INTEGER, first++, done, size - done < word ? size - done : word, 0);
}

void abi_on_stack(struct abi_place *place, uint64_t size, uint64_t at)
{
	abi_add(place, PIECE_STACK, 0, 0, size, at);
}

bool abi_is_sane(const struct abi_value *value)
{
	if (value->size > ABI_SIZE_MAX || (value->align & (value->align - 1)))
		return false;
	for (unsigned i = 0; i < value->field_count && i < ABI_FIELDS; i++)
		if (!value->fields[i].size || value->fields[i].offset > value->size ||
		    value->size - value->fields[i].offset < value->fields[i].size)
			return false;
	return value->is_struct || (value->field_count >= 1 && value->field_count <= 2);
}

unsigned abi_homogeneous(const struct abi_value *value, unsigned *element_size)
{
	const struct abi_field *first = value->fields;
	unsigned seen = 0;

	if (!value->field_count || value->field_count > ABI_FIELDS || value->is_open || !abi_is_sane(value))
		return 0;
	if (first->kind != ABI_FLOAT && first->kind != ABI_VECTOR)
		return 0;
	const uint64_t count = value->size / first->size;

	if (count > 4 || value->size % first->size)
		return 0;
	for (unsigned i = 0; i < value->field_count; i++) {
		const struct abi_field *field = &value->fields[i];

		if (field->kind != first->kind || field->size != first->size || field->offset % first->size)
			return 0;
		seen |= 1u << field->offset / first->size;
	}
	*element_size = first->size;
	return seen == (1u << count) - 1 ? (unsigned)count : 0;
}

unsigned abi_natural_align(const struct abi_value *value, unsigned most)
{
	unsigned align = 1;
	bool is_packed = false;

	for (unsigned i = 0; i < value->field_count && i < ABI_FIELDS; i++) {
		const struct abi_field *field = &value->fields[i];

		if (field->kind != ABI_BITS && field->size > align)
			align = field->size;
		is_packed = is_packed || (field->kind != ABI_BITS && field->offset % field->size);
	}
	if (align > most)
		align = most;
	if (!value->is_struct)
		return align;
	if (!value->align)
		return value->field_count <= ABI_FIELDS ? align : 0;
	return (value->align <= align && !is_packed) || value->align < most ? value->align : 0;
}

/* Converts an x87 number, which consists of a fraction of 64 bits (the highest bit is 1), the exponent and the sign.
 * Rounds as the processor does when it stores the number. */
void abi_x87_value(const unsigned char *x87, unsigned char *value, size_t size)
{
	uint64_t fraction;
	uint16_t head;

	memcpy(&fraction, x87, sizeof(fraction));
	memcpy(&head, x87 + sizeof(fraction), sizeof(head));
	if (size >= sizeof(fraction) + sizeof(head)) {
		memset(value, 0, size);
		memcpy(value, x87, sizeof(fraction) + sizeof(head));
		return;
	}
	/* A denormal result is rounded twice: by the cast to the result's type, and by ldexp() or ldexpf() to the fewer
	 * bits of a denormal number. That seldom matters, because the cast seldom removes bits of such a small
	 * number. */
	const int exponent = head & 0x7fff, shift = exponent - 16383 - 63;
	const double sign = head & 0x8000 ? -1 : 1;
	const bool is_finite = exponent != 0x7fff;
	const double beyond = fraction << 1 ? NAN : INFINITY;
	const double number = copysign(is_finite ? ldexp((double)fraction, shift) : beyond, sign);
	const float narrow = copysignf(is_finite ? ldexpf((float)fraction, shift) : (float)beyond, (float)sign);

	if (size == sizeof(narrow))
		memcpy(value, &narrow, sizeof(narrow));
	else
		memcpy(value, &number, sizeof(number));
}
