/* Locations of parameters and results on AArch64: Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64),
 * sections 6.8.2 "Parameter passing rules", whose steps the comments name, and 6.9 "Result return". */
#include "config.h"
#include "arch/aarch64/aarch64.h"
#include "arch/abi_rules.h"

#include <elf.h>

#define WORD      8u
#define REGISTERS 8u /* number of argument registers: x0 to x7, and v0 to v7 */
#define RESULT_AT 8u /* number of the register with a result's address: x8 */
#define V_SIZE    16u

#ifndef NT_ARM_TLS
#define NT_ARM_TLS 0x401
#endif

struct abi_aarch64_state {
	unsigned ngrn, nsrn;
	uint64_t nsaa;
	bool is_lost; /* the location of an argument, and of all later ones, is unknown */
};

/* Returns true if the value contains a vector of another size than 8 or 16 bytes (the short vectors). */
static bool has_odd_vector(const struct abi_value *value)
{
	for (unsigned i = 0; i < value->field_count && i < ABI_FIELDS; i++)
		if (value->fields[i].kind == ABI_VECTOR && value->fields[i].size != 8 && value->fields[i].size != 16)
			return true;
	return false;
}

static bool abi_aarch64_is_clear(const struct abi_value *value)
{
	return value->by_address || !value->size || (abi_is_sane(value) && !has_odd_vector(value));
}

static void to_v(struct abi_place *place, unsigned count, unsigned size, unsigned first)
{
	for (unsigned i = 0; i < count; i++)
		abi_add(place, PIECE_FLOAT, 0, (uint64_t)i * size, size, (uint64_t)(first + i) * V_SIZE);
}

static void abi_aarch64_to_stack(struct abi_aarch64_state *state, uint64_t size, unsigned align,
				 struct abi_place *place)
{
	const uint64_t at = abi_round(state->nsaa, align > WORD ? align : WORD);

	state->nsaa = at + abi_round(size, WORD);
	state->is_lost = state->nsaa > ABI_SIZE_MAX;
	if (!state->is_lost)
		abi_on_stack(place, size, at);
}

/* Passes an integer, or a composite value of up to two words, as steps C.9 (C.7 in older editions) to C.17 say. */
static void abi_aarch64_pass_words(struct abi_aarch64_state *state, uint64_t size, unsigned align,
				   struct abi_place *place)
{
	const unsigned words = (unsigned)(abi_round(size, WORD) / WORD);
	const unsigned first = align == 2 * WORD ? (state->ngrn + 1) & ~1u : state->ngrn;

	if (first + words <= REGISTERS) {
		abi_in_registers(place, size, WORD, first);
		state->ngrn = first + words;
		return;
	}
	state->ngrn = REGISTERS;
	abi_aarch64_to_stack(state, size, align, place);
}

static void abi_aarch64_pass(const struct abi_value *value, struct abi_aarch64_state *state, struct abi_place *place)
{
	unsigned element = 0;

	if (!abi_aarch64_is_clear(value))
		state->is_lost = true;
	if (state->is_lost)
		return;
	if (!value->size && !value->by_address) { /* an empty struct of GNU C; in C++ it has one byte, and is passed */
		place->is_known = true;
		return;
	}
	const unsigned count = value->by_address ? 0 : abi_homogeneous(value, &element);
	const unsigned align = value->by_address ? WORD : abi_natural_align(value, 2 * WORD);
	const bool is_on_stack = count || state->ngrn >= REGISTERS;
	const bool is_seen =
		abi_packing_moves(value, align, WORD, is_on_stack ? state->nsaa : (uint64_t)state->ngrn * WORD);

	if (count) { /* C.1 to C.6 */
		const bool fits = state->nsrn + count <= REGISTERS;

		if (fits)
			to_v(place, count, element, state->nsrn);
		state->nsrn = fits ? state->nsrn + count : REGISTERS;
		if (!fits && align && !is_seen)
			abi_aarch64_to_stack(state, value->size, align, place);
		state->is_lost = state->is_lost || (!fits && (!align || is_seen));
	} else if (value->by_address || value->size > 2 * WORD) { /* B.4: passed as the address of a copy */
		place->is_address = true;
		abi_aarch64_pass_words(state, WORD, WORD, place);
	} else if (align && !is_seen) {
		abi_aarch64_pass_words(state, value->size, align, place);
	} else {
		state->is_lost = true;
	}
}

static void aarch64_arguments(const struct abi_function *function, struct abi_place *places)
{
	/* The address of a result in memory is in x8, so it takes no argument register. */
	struct abi_aarch64_state state = {0};

	for (size_t i = 0; i < function->count; i++) {
		places[i] = (struct abi_place){0};
		abi_aarch64_pass(&function->values[i], &state, &places[i]);
	}
}

static void aarch64_place_result(const struct abi_function *function, struct abi_place *place)
{
	const struct abi_value *value = function->result;
	unsigned element, count;

	*place = (struct abi_place){0};
	if (!abi_aarch64_is_clear(value))
		return;
	if (!value->by_address && !value->size) {
		place->is_known = true;
	} else if (!value->by_address && (count = abi_homogeneous(value, &element))) {
		to_v(place, count, element, 0);
	} else if (value->by_address || value->size > 2 * WORD) {
		place->is_address = true;
		abi_add(place, PIECE_INTEGER, RESULT_AT, 0, WORD, 0);
	} else {
		abi_in_registers(place, value->size, WORD, 0);
	}
}

static uint64_t aarch64_register(const struct arch_regs *regs, unsigned index)
{
	return index <= RESULT_AT ? regs->words[index] : 0;
}

/* Implements arch_abi.thread_field. Recognises this code, also after bti c: mrs x0, tpidr_el0; up to two add or sub x0,
 * x0, #n; ret. */
static bool aarch64_thread_field(const unsigned char *code, size_t size, uint64_t state, int64_t *offset)
{
	enum { MRS = 0xd53bd040, RET = 0xd65f03c0, ADD = 0x91000000, SUB = 0xd1000000, SHIFTED = 0x400000, SUMS = 2 };
	enum { BTI_C = 0xd503245f };
	size_t at = size >= A64_INSN_SIZE && a64_get(code) == (uint32_t)BTI_C ? A64_INSN_SIZE : 0;

	(void)state;
	*offset = 0;
	if (size - at < A64_INSN_SIZE || a64_get(code + at) != (uint32_t)MRS)
		return false;
	for (unsigned i = 0; i <= SUMS; i++) {
		at += A64_INSN_SIZE;
		if (size - at < A64_INSN_SIZE)
			return false;
		const uint32_t word = a64_get(code + at);
		const uint32_t operation = word & 0xff8003ffu; /* the operation and both registers, which must be x0 */
		const int64_t number = (int64_t)a64_bits(word, 10, 12) << (word & SHIFTED ? 12 : 0);

		if (word == (uint32_t)RET)
			return true;
		if (operation == (uint32_t)ADD)
			*offset += number;
		else if (operation == (uint32_t)SUB)
			*offset -= number;
		else
			return false;
	}
	return false;
}

/* Returns `index`, because x0 to x30 have the DWARF numbers 0 to 30 (DWARF for the Arm 64-bit Architecture, 4.1). */
static unsigned aarch64_argument_dwarf(unsigned index)
{
	return index;
}

/* Returns the offset of v0 to v31, whose DWARF numbers are 64 to 95 (DWARF for the Arm 64-bit Architecture, 4.1); -1
 * for other registers. */
static int aarch64_float_at(unsigned dwarf_register)
{
	return dwarf_register >= 64 && dwarf_register <= 95 ? 16 * ((int)dwarf_register - 64) : -1;
}

const struct arch_abi abi_aarch64 = {
	.floats_set = NT_PRFPREG, /* struct user_fpsimd_state: v0 to v31 */
	.arguments = aarch64_arguments,
	.result = aarch64_place_result,
	.argument_register = aarch64_register,
	.result_register = aarch64_register,
	.by_address_above = 16,
	.argument_dwarf = aarch64_argument_dwarf,
	.float_at = aarch64_float_at,
	.thread_set = NT_ARM_TLS,
	.reloc_tpoff = R_AARCH64_TLS_TPREL,
	.thread_field = aarch64_thread_field,
};
