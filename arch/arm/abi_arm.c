/* Locations of parameters and results on 32-bit ARM: Procedure Call Standard for the Arm Architecture (AAPCS32),
 * sections 6.5 "Parameter Passing" and 6.4 "Result Return", and, for the variant with VFP registers, 7.1.2 "Procedure
 * calling". The comments name the steps of these sections. */
#include "config.h"
#include "arch/abi_rules.h"
#include "arch/arm/arm_insn.h"

#include <elf.h>

#define WORD          4u
#define REGISTERS     4u  /* number of core argument registers: r0 to r3 */
#define VFP_REGISTERS 16u /* number of VFP argument registers: s0 to s15 */
#define DOUBLE        8u  /* the strictest alignment in bytes */

#ifndef NT_ARM_VFP
#define NT_ARM_VFP 0x400
#endif
#ifndef NT_ARM_TLS
#define NT_ARM_TLS 0x401
#endif
#define REQUEST_GET_THREAD_AREA 22 /* PTRACE_GET_THREAD_AREA of 32-bit kernels */

struct abi_arm_state {
	bool is_base; /* floating point values are passed in core registers, as in the base standard */
	bool is_gcc;
	unsigned ncrn;      /* number of the next core register */
	unsigned vfp_taken; /* bit mask of s0 to s15; 1: the register is used */
	uint64_t nsaa;      /* next address on the stack, relative to the stack pointer */
	bool is_lost;       /* the location of an argument, and of all later ones, is unknown */
};

/* Returns true if the base standard is used. Variadic functions use it (section 7.1.2), and functions with soft
 * float. */
static bool abi_arm_is_base(const struct abi_function *function)
{
	return function->is_variadic || function->is_soft_float;
}

/* Returns how many elements of *size bytes a "VFP co-processor register candidate" has, or 0 for other values. (An
 * element of 2 bytes, _Float16, takes a register of 4.) *is_clear: false if compilers disagree about the value. */
static unsigned vfp_candidate(const struct abi_value *value, unsigned *size, bool *is_clear)
{
	const unsigned count = value->by_address ? 0 : abi_homogeneous(value, size);

	/* Compilers disagree about packed structs, and about structs of _Float16. */
	*is_clear = !count || !value->is_struct || (*size >= WORD && (!value->align || value->align >= WORD));
	return count && (*size == 2 || *size == 4 || *size == 8 || *size == 16) ? count : 0;
}

static bool abi_arm_is_clear(const struct abi_value *value, bool is_gcc)
{
	if (value->by_address || !value->size)
		return true;
	/* Compilers disagree whether C++'s empty struct is passed. */
	if (!abi_is_sane(value) || !value->field_count)
		return false;
	for (unsigned i = 0; i < value->field_count && i < ABI_FIELDS; i++) {
		const struct abi_field *field = &value->fields[i];

		/* If a bit field occupies more bytes than the struct's alignment, the struct is packed. The struct's
		 * location is then uncertain. */
		if (field->kind == ABI_BITS && value->align && field->size > value->align)
			return false;
		/* LLVM passes the elements of a vector one by one if the processor may lack NEON. */
		if (field->kind == ABI_X87 ||
		    (field->kind == ABI_VECTOR && (!is_gcc || (field->size != 8 && field->size != 16))) ||
		    (field->kind == ABI_FLOAT && field->size > 8) || (field->kind == ABI_INTEGER && field->size > 8))
			return false;
	}
	return true;
}

/* C.1.vfp: takes the lowest free consecutive registers, including registers that were skipped before. Returns the
 * first, or -1 if there are none. */
static int take_vfp(struct abi_arm_state *state, unsigned count, unsigned size)
{
	const unsigned each = size > WORD ? size / WORD : 1, all = each * count;

	for (unsigned first = 0; first + all <= VFP_REGISTERS; first += each) {
		const unsigned wanted = ((1u << all) - 1) << first;

		if (!(state->vfp_taken & wanted)) {
			state->vfp_taken |= wanted;
			return (int)first;
		}
	}
	return -1;
}

static void to_vfp(struct abi_place *place, unsigned count, unsigned size, unsigned first)
{
	const unsigned each = size > WORD ? size : WORD;

	for (unsigned i = 0; i < count; i++)
		abi_add(place, PIECE_FLOAT, 0, (uint64_t)i * size, size, first * WORD + (uint64_t)i * each);
}

/* C.7 and C.8: passes the rest of a value on the stack. done: number of bytes that are in registers. */
static void abi_arm_to_stack(struct abi_arm_state *state, uint64_t size, uint64_t done, unsigned align,
			     struct abi_place *place)
{
	const uint64_t at = abi_round(state->nsaa, align == DOUBLE ? DOUBLE : WORD);

	state->nsaa = at + abi_round(size - done, WORD);
	state->is_lost = state->nsaa > ABI_SIZE_MAX;
	if (!state->is_lost)
		abi_add(place, PIECE_STACK, 0, done, size - done, at);
}

/* C.3 to C.8: passes a value in core registers, on the stack, or in both. */
static void abi_arm_pass_words(struct abi_arm_state *state, uint64_t size, unsigned align, struct abi_place *place)
{
	const unsigned first = align == DOUBLE ? (state->ncrn + 1) & ~1u : state->ncrn;
	const uint64_t words = abi_round(size, WORD) / WORD;
	const bool fits = first + words <= REGISTERS, is_split = !fits && first < REGISTERS && !state->nsaa;
	const uint64_t done = fits ? size : is_split ? (REGISTERS - first) * WORD : 0;

	abi_in_registers(place, done, WORD, first);
	state->ncrn = fits ? first + (unsigned)words : REGISTERS;
	if (!fits)
		abi_arm_to_stack(state, size, done, align, place);
}

static void abi_arm_pass(const struct abi_value *value, struct abi_arm_state *state, struct abi_place *place)
{
	bool candidate_is_clear = true;
	unsigned size = 0;

	if (!abi_arm_is_clear(value, state->is_gcc))
		state->is_lost = true;
	if (state->is_lost)
		return;
	if (!value->size && !value->by_address) {
		place->is_known = true;
		return;
	}
	if (value->by_address) {
		place->is_address = true;
		abi_arm_pass_words(state, WORD, WORD, place);
		return;
	}
	const unsigned count = state->is_base ? 0 : vfp_candidate(value, &size, &candidate_is_clear);
	const unsigned align = abi_natural_align(value, DOUBLE);
	const int first = count && candidate_is_clear ? take_vfp(state, count, size) : -1;
	const uint64_t next = count || state->ncrn >= REGISTERS ? state->nsaa : (uint64_t)state->ncrn * WORD;

	if (first >= 0) {
		to_vfp(place, count, size, (unsigned)first);
	} else if (!align || !candidate_is_clear || abi_packing_moves(value, align, WORD, next)) {
		state->is_lost = true;
	} else if (count) { /* C.2.vfp */
		state->vfp_taken = (1u << VFP_REGISTERS) - 1;
		abi_arm_to_stack(state, value->size, 0, align, place);
	} else {
		abi_arm_pass_words(state, value->size, align, place);
	}
}

/* Returns true if the result is in memory. Section 6.4: composite values of more than a word, and complex numbers of
 * more than a word, are returned in memory. */
static bool abi_arm_returns_in_memory(const struct abi_function *function)
{
	const struct abi_value *value = function->result;
	bool clear;
	unsigned size;

	if (value->by_address)
		return true;
	if (!abi_arm_is_base(function) && vfp_candidate(value, &size, &clear))
		return false;
	return (value->is_struct || value->field_count > 1) && value->size > WORD;
}

static void arm_arguments(const struct abi_function *function, struct abi_place *places)
{
	struct abi_arm_state state = {.is_base = abi_arm_is_base(function), .is_gcc = function->is_gcc};
	bool clear = true;
	unsigned size;

	if (function->result) {
		if (!state.is_base)
			vfp_candidate(function->result, &size, &clear);
		state.is_lost = !clear || (!abi_arm_is_clear(function->result, function->is_gcc) &&
					   function->result->field_count);
		state.ncrn = abi_arm_returns_in_memory(function) ? 1 : 0; /* A.4 */
	}
	for (size_t i = 0; i < function->count; i++) {
		places[i] = (struct abi_place){0};
		abi_arm_pass(&function->values[i], &state, &places[i]);
	}
}

static void arm_place_result(const struct abi_function *function, struct abi_place *place)
{
	const struct abi_value *value = function->result;
	unsigned size, count = 0;
	bool clear = true;

	*place = (struct abi_place){0};
	if (!value->by_address && abi_is_empty(value)) {
		place->is_known = true;
		return;
	}
	if (!abi_arm_is_clear(value, function->is_gcc))
		return;
	if (!abi_arm_is_base(function))
		count = vfp_candidate(value, &size, &clear);
	if (!clear)
		return;
	if (abi_arm_returns_in_memory(function)) {
		place->is_address = true;
		abi_in_registers(place, WORD, WORD, 0);
	} else if (count) {
		to_vfp(place, count, size, 0);
	} else {
		abi_in_registers(place, value->size, WORD, 0);
	}
}

static uint64_t arm_register(const struct arch_regs *regs, unsigned index)
{
	return index < REGISTERS ? regs->narrow[ARM_R0 + index] : 0;
}

/* The next two functions recognise this code in Thumb and in A32: mrc p15, 0, r0, c13, c0, 3; add or sub r0, r0, #n; bx
 * lr. */
static bool thumb_thread_field(const unsigned char *code, size_t size, int64_t *offset)
{
	if (size < 8 || arm_half_at(code) != 0xee1d || arm_half_at(code + 2) != 0x0f70 ||
	    arm_half_at(code + 6) != 0x4770)
		return false;
	const uint32_t half = arm_half_at(code + 4);
	const int64_t number = half & 0xff;

	*offset = half >> 8 == 0x30 ? number : -number;
	return half >> 8 == 0x30 || half >> 8 == 0x38;
}

static bool a32_thread_field(const unsigned char *code, size_t size, int64_t *offset)
{
	uint32_t words[3];

	if (size < sizeof(words))
		return false;
	for (unsigned i = 0; i < 3; i++)
		words[i] = arm_word_at(code + 4 * i);
	/* An immediate has 8 bits, which are rotated right by twice the number in the next 4 bits. */
	const unsigned rotated = words[1] >> 7 & 0x1e;
	const uint32_t byte = words[1] & 0xff;
	const int64_t number = rotated ? byte >> rotated | byte << (32 - rotated) : byte;
	const uint32_t operation = words[1] & 0xffeff000;

	*offset = operation == 0xe2800000 ? number : -number;
	return words[0] == 0xee1d0f70 && words[2] == 0xe12fff1e && (operation == 0xe2800000 || operation == 0xe2400000);
}

static bool arm_thread_field(const unsigned char *code, size_t size, uint64_t state, int64_t *offset)
{
	return state ? thumb_thread_field(code, size, offset) : a32_thread_field(code, size, offset);
}

#define IS_32_BIT (sizeof(long) == 4)

/* Returns `index`, because r0 to r15 have the DWARF numbers 0 to 15 (DWARF for the Arm Architecture, 4.1). */
static unsigned arm_argument_dwarf(unsigned index)
{
	return index;
}

/* Returns the offset of a register: s0 to s31 by their older numbers 64 to 95, or d0 to d31 by 256 to 287 (DWARF for
 * the Arm Architecture, 4.1). */
static int arm_float_at(unsigned dwarf_register)
{
	if (dwarf_register >= 64 && dwarf_register <= 95)
		return 4 * ((int)dwarf_register - 64);
	return dwarf_register >= 256 && dwarf_register <= 287 ? 8 * ((int)dwarf_register - 256) : -1;
}

const struct arch_abi abi_arm = {
	.floats_set = NT_ARM_VFP, /* struct user_vfp: d0 to d31; the same in 64-bit kernels */
	.arguments = arm_arguments,
	.result = arm_place_result,
	.argument_register = arm_register,
	.result_register = arm_register,
	.argument_dwarf = arm_argument_dwarf,
	.float_at = arm_float_at,
	/* 32-bit kernels lack this register set. 64-bit kernels do not accept this request from a 64-bit tracer. */
	.thread_set = IS_32_BIT ? 0 : NT_ARM_TLS,
	.thread_request = IS_32_BIT ? REQUEST_GET_THREAD_AREA : 0,
	.reloc_tpoff = R_ARM_TLS_TPOFF32,
	.thread_field = arm_thread_field,
};
