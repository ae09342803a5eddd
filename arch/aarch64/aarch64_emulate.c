/* Emulates the instructions of AArch64 whose effect depends on their own address: branches, adr, adrp, ldr of a
 * literal. (aarch64_plain.c emulates other instructions.)
 *
 * After br and blr the processor requires a landing pad if the page is marked as guarded. The tracer cannot see whether
 * a page is marked, so the emulation does not check for a pad. */
#include "config.h"
#include "arch/aarch64/aarch64.h"
#include "arch/arm_condition.h"

#include <errno.h>

#define ZERO_REGISTER 31

static uint64_t aarch64_emulate_get_register(const struct arch_regs *regs, unsigned number)
{
	return number == ZERO_REGISTER ? 0 : regs->words[number];
}

static void aarch64_emulate_set_register(struct arch_regs *regs, unsigned number, uint64_t value)
{
	if (number != ZERO_REGISTER)
		regs->words[number] = value;
}

/* Returns the address to which a branch goes. Clears the top byte of a user address (whose bit 55 is 0), because the
 * processor ignores this byte. Does not change kernel addresses. */
static uint64_t plain_target(uint64_t address)
{
	return address >> 55 & 1 ? address : address << 8 >> 8;
}

/* For b.cond, cbz, cbnz, tbz, tbnz: returns true if the branch is taken, and sets *words to its distance in words. */
static bool aarch64_emulate_is_taken(uint32_t word, const struct arch_regs *regs, int64_t *words)
{
	const uint64_t value = aarch64_emulate_get_register(regs, a64_bits(word, 0, 5));
	const bool if_not_zero = a64_bits(word, 24, 1);

	if (word >> 24 == 0x54) {
		*words = a64_signed(word, 5, 19);
		return arm_condition_holds(a64_bits(word, 0, 4), regs->words[A64_PSTATE]);
	}
	if (a64_bits(word, 25, 1)) {
		const unsigned bit = word >> 31 << 5 | a64_bits(word, 19, 5);

		*words = a64_signed(word, 5, 14);
		return (value >> bit & 1) == if_not_zero;
	}
	*words = a64_signed(word, 5, 19);
	return ((word >> 31 ? value : (uint32_t)value) != 0) == if_not_zero;
}

/* Emulates ldr and prfm of a literal. Bits 31 and 30 select a word, a double word, a signed word, or a prefetch. */
static int aarch64_emulate_load_literal(uint32_t word, uint64_t address, struct arch_regs *regs,
					const struct arch_memory *mem)
{
	const uint64_t place = address + ((uint64_t)a64_signed(word, 5, 19) << 2);
	const unsigned target = a64_bits(word, 0, 5), kind = word >> 30;
	unsigned char bytes[8] = {0};
	uint64_t value;

	if (kind == 3)
		return 0;
	const int error = mem->read(mem->context, place, bytes, kind == 1 ? 8 : 4);

	if (error)
		return error;
	value = a64_get(bytes) | (uint64_t)a64_get(bytes + 4) << 32;
	aarch64_emulate_set_register(regs, target, kind == 2 ? (uint64_t)(int64_t)(int32_t)(uint32_t)value : value);
	return 0;
}

int a64_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem)
{
	const uint32_t word = a64_get(insn->bytes);
	const uint64_t next = insn->address + A64_INSN_SIZE;
	int64_t words;

	if (insn->kind != INSN_EMULATE) {
		const int error = a64_emulate_plain(word, regs, mem);

		if (!error)
			a64_set_pc(regs, next);
		return error;
	}
	if (a64_is_adr(word)) {
		aarch64_emulate_set_register(regs, a64_bits(word, 0, 5), a64_adr_value(word, insn->address));
		a64_set_pc(regs, next);
		return 0;
	}
	if (a64_bits(word, 26, 3) != 5) {
		const int error = aarch64_emulate_load_literal(word, insn->address, regs, mem);

		if (!error)
			a64_set_pc(regs, next);
		return error;
	}
	if (word >> 24 == 0xd5) {
		a64_set_pc(regs, next);
		return 0;
	}
	if (word >> 24 == 0xd6) {
		const uint64_t target = plain_target(aarch64_emulate_get_register(regs, a64_bits(word, 5, 5)));

		if (a64_bits(word, 21, 4) == 1)
			regs->words[A64_LR] = next;
		a64_set_pc(regs, target);
		return 0;
	}
	if (a64_bits(word, 29, 2) == 0) {
		if (word >> 31)
			regs->words[A64_LR] = next;
		a64_set_pc(regs, a64_branch_target(word, insn->address));
		return 0;
	}
	const bool taken = aarch64_emulate_is_taken(word, regs, &words);

	a64_set_pc(regs, taken ? insn->address + ((uint64_t)words << 2) : next);
	return 0;
}
