/* Determines the kinds of AArch64 instructions under breakpoints, and makes copies of the instructions. All
 * instructions have 4 bytes. Instructions whose effect depends on their own address have separate encodings (Arm
 * Architecture Reference Manual for A-profile, chapter C4). Most of these are emulated, and most other instructions are
 * copied. */
#include "config.h"
#include "arch/aarch64/aarch64.h"

#include <errno.h>
#include <string.h>

#define HINT_MASK             0xfffff01fu
#define HINT                  0xd503201fu
#define IS(word, mask, value) (((word) & (mask)) == (value))

enum hint {
	HINT_NOP = 0,
	HINT_YIELD = 1,
	HINT_BTI_FIRST = 32, /* bti, bti c, bti j and bti jc have every second number from here on */
	HINT_BTI_LAST = 38,
	HINT_PACM = 39,
};

bool a64_is_bti(uint32_t word)
{
	const uint32_t hint = a64_bits(word, 5, 7);

	return IS(word, HINT_MASK, HINT) && hint >= HINT_BTI_FIRST && hint <= HINT_BTI_LAST && !(hint & 1);
}

bool a64_is_nop(uint32_t word)
{
	const uint32_t hint = a64_bits(word, 5, 7);

	return IS(word, HINT_MASK, HINT) && (hint == HINT_NOP || hint == HINT_YIELD || a64_is_bti(word));
}

/* Returns false for udf, and for branches and exceptions, which have 101 in bits 28 to 26. Returns true for system
 * instructions, which also have 101 there, and for all other instructions. */
bool a64_falls_through(uint32_t word)
{
	if (a64_bits(word, 26, 3) == 5)
		return word >> 24 == 0xd5;
	return word >> 16 != 0; /* udf */
}

/* Returns true for ldxr, stxr, their pairs, and their variants with acquire and release. casp, which has a similar
 * encoding, is not one of them. */
static bool aarch64_insn_is_exclusive(uint32_t word)
{
	return IS(word, 0x3e800000, 0x08000000) && (!(word & 0x00200000) || word >> 31);
}

static bool is_store_exclusive(uint32_t word)
{
	return aarch64_insn_is_exclusive(word) && !(word & 0x00400000);
}

/* Returns true for b.cond, bc.cond, cbz, cbnz, tbz, tbnz. */
static bool aarch64_insn_is_conditional(uint32_t word)
{
	return IS(word, 0xff000000, 0x54000000) || IS(word, 0x7c000000, 0x34000000);
}

/* Returns true if the code begins at a store-exclusive, or between a load-exclusive and its store. A stop there makes
 * the store fail. If a breakpoint made the store fail in each try, the loop would never end, so this code gets no
 * breakpoints. (The load itself may get a breakpoint: its copy only adds a jump between load and store. But the load
 * must not be single-stepped, because the step stops after it.) */
static bool aarch64_insn_is_between_exclusives(const unsigned char *code, size_t size)
{
	for (size_t i = 0; i + A64_INSN_SIZE <= size; i += A64_INSN_SIZE) {
		const uint32_t word = a64_get(code + i);

		if (aarch64_insn_is_exclusive(word))
			return is_store_exclusive(word);
		if (!a64_falls_through(word) && !aarch64_insn_is_conditional(word))
			return false;
	}
	return false;
}

/* Returns true for instructions at which a program stops by itself: its own breakpoints (brk), hlt, udf. */
static bool aarch64_insn_is_trap(uint32_t word)
{
	return word >> 16 == 0 || (IS(word, 0xff000000, 0xd4000000) && !IS(word, 0xffe0001f, A64_SVC_0));
}

static bool is_ldr_literal(uint32_t word)
{
	return IS(word, 0x3b000000, 0x18000000);
}

static bool aarch64_insn_is_vector(uint32_t word)
{
	return word & 1u << 26;
}

/* Returns true if an instruction depends on its address in a way that is not decoded here, or belongs to a sequence
 * that must stay together. Such instructions are stepped in place. */
static bool aarch64_insn_is_bound_to_place(uint32_t word)
{
	/* movprfx, with and without a predicate */
	if (IS(word, 0xfffffc00, 0x0420bc00) || IS(word, 0xff3ee000, 0x04102000))
		return true;
	/* cpyfp, cpyfm, cpyfe, and similar sequences of three. If a task has moved to a processor that implements them
	 * differently, the kernel moves the pc back to the first of the three by a fixed distance. */
	if (IS(word, 0x3b200c00, 0x19000400))
		return true;
	/* paciasppc, autiasppc and others sign with the pc; pacm modifies the next instruction */
	return IS(word, 0xffffdbff, 0xdac183fe) || IS(word, 0xffc00000, 0xf3800000) || word == (HINT | HINT_PACM << 5);
}

/* Returns true if the encoding is not allocated (C4.1). Such an instruction is stepped in place, because it may be a
 * newer one whose effect depends on its address. */
static bool is_unallocated(uint32_t word)
{
	/* Not allocated, although the encodings are similar to those of system instructions (the first condition), and
	 * of loads of 128-bit vector literals (the second). */
	if (word >> 23 == 0xd5800000 >> 23 || IS(word, 0xff000000, 0xdc000000))
		return true;
	switch (a64_bits(word, 25, 4)) {
	case 0:
		return !(word >> 31); /* if bit 31 is set, it is SME */
	case 1:
	case 3:
		return true;
	default:
		return false;
	}
}

static void aarch64_insn_set_emulated(struct insn *insn, bool pc_only)
{
	insn->kind = INSN_EMULATE;
	insn->pc_only = pc_only;
}

static void set_copied(struct insn *insn)
{
	insn->kind = INSN_COPY;
}

/* Sets the kind of a branch to a register. br is emulated, and without a shadow stack also blr and ret. With a shadow
 * stack, ret is copied; retaa and retab are always copied, because returns have the same effect at any address. Other
 * branches remain INSN_STEP, such as blraa, which also writes the return address. */
static void classify_register_branch(uint32_t word, bool shadow_stack, struct insn *insn)
{
	if (IS(word, 0xfffffc1f, 0xd61f0000))
		aarch64_insn_set_emulated(insn, true);
	else if (IS(word, 0xfffffc1f, 0xd65f0000) && !shadow_stack)
		aarch64_insn_set_emulated(insn, true);
	else if (IS(word, 0xfffffc1f, 0xd65f0000))
		set_copied(insn); /* the copy pops the shadow stack, too */
	else if (IS(word, 0xfffffc1f, 0xd63f0000) && !shadow_stack)
		aarch64_insn_set_emulated(insn, false);
	else if (IS(word, 0xfffffbff, 0xd65f0bff))
		set_copied(insn);
}

/* Sets the kind of a branch or system instruction. Unknown instructions remain INSN_STEP. */
static void classify_branch(uint32_t word, bool shadow_stack, struct insn *insn)
{
	switch (word >> 24) {
	case 0xd4: /* svc */
		insn->is_syscall = true;
		set_copied(insn);
		return;
	case 0xd5:
		if (a64_is_nop(word))
			aarch64_insn_set_emulated(insn, true);
		else
			set_copied(insn);
		return;
	case 0xd6:
	case 0xd7:
		classify_register_branch(word, shadow_stack, insn);
		return;
	default:
		break;
	}
	if (aarch64_insn_is_conditional(word) || IS(word, 0xfc000000, 0x14000000))
		aarch64_insn_set_emulated(insn, true);
	else if (IS(word, 0xfc000000, 0x94000000) && !shadow_stack)
		aarch64_insn_set_emulated(insn, false);
}

static void aarch64_insn_classify(uint32_t word, bool shadow_stack, struct insn *insn)
{
	if (aarch64_insn_is_bound_to_place(word) || is_unallocated(word))
		return;
	if (a64_bits(word, 26, 3) == 5)
		classify_branch(word, shadow_stack, insn);
	else if (a64_is_adr(word) || (is_ldr_literal(word) && !aarch64_insn_is_vector(word)))
		aarch64_insn_set_emulated(insn, false);
	else
		set_copied(insn);
	insn->can_emulate = insn->kind == INSN_COPY && a64_can_emulate(word);
	insn->cannot_step = aarch64_insn_is_exclusive(word);
}

bool a64_decode(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn)
{
	*insn = (struct insn){.kind = INSN_STEP, .address = address};
	if (size < A64_INSN_SIZE || address % A64_INSN_SIZE)
		return false;
	const uint32_t word = a64_get(code);

	if (aarch64_insn_is_trap(word) || aarch64_insn_is_between_exclusives(code, size))
		return false;
	insn->length = A64_INSN_SIZE;
	memcpy(insn->bytes, code, A64_INSN_SIZE);
	aarch64_insn_classify(word, shadow_stack, insn);
	return true;
}

/* ---- Copies ---- */

/* Returns true if a distance in bytes fits a signed field of `bits` bits whose unit is a word. */
static bool aarch64_insn_fits(uint64_t distance, unsigned bits)
{
	const int64_t words = (int64_t)distance / 4, limit = (int64_t)1 << (bits - 1);

	return words >= -limit && words < limit;
}

/* Appends to the copy a jump to `target`. Only b changes no register; it reaches 128 MiB in both directions. */
static int aarch64_insn_put_jump(struct insn_copy *copy, uint64_t slot, uint64_t target)
{
	const uint64_t distance = target - (slot + copy->size);

	if (!aarch64_insn_fits(distance, 26))
		return -ERANGE;
	copy->resume = copy->size;
	a64_put(copy->bytes + copy->size, 0x14000000 | (uint32_t)(distance >> 2 & 0x3ffffff));
	copy->size += A64_INSN_SIZE;
	return 0;
}

int a64_relocate(const struct insn *insn, uint64_t slot, struct insn_copy *copy)
{
	uint32_t word = a64_get(insn->bytes);

	if (insn->kind != INSN_COPY || insn->length != A64_INSN_SIZE)
		return -EINVAL;
	if (is_ldr_literal(word)) {
		const uint64_t distance = insn->address + ((uint64_t)a64_signed(word, 5, 19) << 2) - slot;

		if (!aarch64_insn_fits(distance, 19))
			return -ERANGE;
		word = (word & ~0x00ffffe0u) | (uint32_t)(distance >> 2 & 0x7ffff) << 5;
	}
	*copy = (struct insn_copy){.size = A64_INSN_SIZE};
	a64_put(copy->bytes, word);
	return aarch64_insn_put_jump(copy, slot, insn->address + A64_INSN_SIZE);
}
