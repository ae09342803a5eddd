/* Declarations that the files of the AArch64 port share: indexes of registers, and fields of instructions. */
#ifndef FT_ARCH_AARCH64_AARCH64_H
#define FT_ARCH_AARCH64_AARCH64_H

#include "arch/arch.h"

/* Indexes of the words in NT_PRSTATUS (struct user_pt_regs): x0 to x30, sp, pc, pstate. DWARF's numbers are the same,
 * up to the pc. */
enum aarch64_word {
	A64_X0,
	A64_X8 = 8, /* contains the number of a system call */
	A64_LR = 30,
	A64_SP,
	A64_PC,
	A64_PSTATE,
	A64_WORDS,
};

#define A64_INSN_SIZE 4u
#define A64_SVC_0     0xd4000001u

extern const struct arch arch_aarch64;

/* The kind of branch by which the processor has reached the next instruction. If these bits are not 0 and the page is
 * guarded, that instruction must be a landing pad (BTI). */
#define PSTATE_BTYPE 0xc00u

/* Sets the pc, and clears PSTATE_BTYPE, which an indirect branch of the task may have set. Otherwise the processor
 * would require a landing pad at the new pc (the copy of an instruction, or code after a landing pad). A breakpoint in
 * place of a pad (paciasp) raises no BTI exception, because the processor accepts brk like a pad. */
static inline void a64_set_pc(struct arch_regs *regs, uint64_t pc)
{
	regs->words[A64_PC] = pc;
	regs->words[A64_PSTATE] &= ~(uint64_t)PSTATE_BTYPE;
}

/* Instructions are little-endian, even if data is not. */
static inline uint32_t a64_get(const unsigned char *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void a64_put(unsigned char *bytes, uint32_t word)
{
	for (unsigned i = 0; i < A64_INSN_SIZE; i++)
		bytes[i] = (unsigned char)(word >> 8 * i);
}

/* Return `count` bits of a word from bit `first` on, as an unsigned and as a signed number. */
static inline uint32_t a64_bits(uint32_t word, unsigned first, unsigned count)
{
	return word >> first & ((1u << count) - 1);
}

static inline int64_t a64_signed(uint32_t word, unsigned first, unsigned count)
{
	return (int64_t)((uint64_t)word << (64 - first - count)) >> (64 - count);
}

/* a64_is_adr() returns true for adr and adrp; a64_adr_value() returns the value that they write to a register. */
static inline bool a64_is_adr(uint32_t word)
{
	return (word & 0x1f000000) == 0x10000000;
}

static inline uint64_t a64_adr_value(uint32_t word, uint64_t address)
{
	const int64_t offset = (int64_t)((uint64_t)a64_signed(word, 5, 19) << 2 | a64_bits(word, 29, 2));

	if (word >> 31)
		return (address & ~(uint64_t)0xfff) + ((uint64_t)offset << 12);
	return address + (uint64_t)offset;
}

/* Returns the target of b and bl. */
static inline uint64_t a64_branch_target(uint32_t word, uint64_t address)
{
	return address + ((uint64_t)a64_signed(word, 0, 26) << 2);
}

/* For the contracts see the functions with these names in struct arch. */
bool a64_decode(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn);
int a64_relocate(const struct insn *insn, uint64_t slot, struct insn_copy *copy);
int a64_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem);
/* For instructions that otherwise run from a copy: a64_can_emulate() returns true if the instruction can be emulated,
 * and a64_emulate_plain() emulates it without changing the pc. */
bool a64_can_emulate(uint32_t word);
int a64_emulate_plain(uint32_t word, struct arch_regs *regs, const struct arch_memory *mem);
struct path_state;
struct path_step;
bool a64_follow(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step);
enum arch_call a64_follows_call(uint64_t address, const unsigned char *code, size_t size);
bool a64_call_slot(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot);
bool a64_is_constant(uint64_t address, const struct arch_memory *code);
bool a64_sets_sp(const unsigned char *code, size_t size, bool *ever);

/* Returns the number of bits in a user address. of_ones: the result of xpaclri for a word in which only bits 0 to 54
 * are set. */
unsigned a64_address_bits(uint64_t of_ones);
/* Clears all bits of a return address except the lowest `bits`. */
uint64_t a64_strip(uint64_t return_address, unsigned bits);

/* Returns true if the processor always continues at the next instruction in memory after this instruction. */
bool a64_falls_through(uint32_t word);
/* a64_is_nop() returns true for nop, yield and bti, which change no register; a64_is_bti() for bti only. */
bool a64_is_nop(uint32_t word);
bool a64_is_bti(uint32_t word);

#endif
