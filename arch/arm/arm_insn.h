/* Declarations that the files of the 32-bit ARM port share: the places of registers, and instructions in the form in
 * which the decoders of both states (A32, Thumb) pass them to copying and emulation. The architecture is ARMv7-A
 * with Thumb-2. */
#ifndef FT_ARCH_ARM_ARM_INSN_H
#define FT_ARCH_ARM_ARM_INSN_H

#include "arch/arch.h"

#include <string.h>

/* The narrow words of NT_PRSTATUS (struct pt_regs of <asm/ptrace.h>). */
enum arm_word {
	ARM_R0,
	ARM_R7 = 7,
	ARM_FP = 11,
	ARM_IP = 12,
	ARM_SP = 13,
	ARM_LR = 14,
	ARM_PC = 15,
	ARM_CPSR = 16,
	ARM_ORIG_R0 = 17,
	ARM_WORDS = 18,
};

#define ARM_ALWAYS      14    /* the condition "always" */
#define ARM_NO_REGISTER 16    /* as a base: the immediate is the address */
#define CPSR_THUMB      0x20u /* set in Thumb state, in which code addresses have bit 0 set (code_state) */

enum arm_kind {
	OP_PLAIN,   /* does not use the pc */
	OP_LITERAL, /* loads a vector register relative to the pc; the copy has the literal with it */
	OP_NOP,
	OP_BRANCH,          /* to `immediate`, a code address; a call with OP_LINK */
	OP_BRANCH_REGISTER, /* bx, blx: to register m */
	OP_COMPARE_BRANCH,  /* cbz, cbnz: register n; code 1: if not zero */
	OP_TABLE_BRANCH,    /* tbb, tbh: table at n, index m, entries of `code` bytes */
	OP_LOAD,            /* register d (and s, if two) from base n; `code` bytes */
	OP_STORE,           /* one register */
	OP_LOAD_MANY,       /* the registers in `list` from base n */
	OP_STORE_MANY,
	OP_DATA, /* code: the operation by A32's numbers: and, eor, sub, ... mvn */
	OP_IT,   /* code: the block's condition and mask */
};

enum arm_flag {
	OP_THUMB = 1,
	OP_LINK = 2,
	OP_BEFORE = 4,     /* the address includes the offset (pre-index) */
	OP_UP = 8,         /* the offset is added, not subtracted */
	OP_WRITEBACK = 16, /* the base becomes base plus offset */
	OP_SIGNED = 32,    /* the loaded value is sign-extended */
	OP_REGISTER = 64,  /* the offset or second operand is register m, shifted */
	OP_SETS_FLAGS = 128,
};

/* One decoded operation; it is kept in struct insn's detail. */
struct arm_op {
	uint8_t kind, condition, code, flags;
	uint8_t d, n, m, s;
	uint8_t shift, amount; /* 0 lsl, 1 lsr, 2 asr, 3 ror (by 0: rrx); amount: also an immediate's rotation */
	uint16_t list;
	uint32_t immediate;
};

_Static_assert(sizeof(struct arm_op) == sizeof(((struct insn *)0)->detail), "an operation fits");

static inline struct arm_op arm_op_of(const struct insn *insn)
{
	struct arm_op op;

	memcpy(&op, insn->detail, sizeof(op));
	return op;
}

/* Returns the pc as the instruction reads it. */
static inline uint32_t arm_pc_read(const struct insn *insn, const struct arm_op *op)
{
	return (uint32_t)insn->address + (op->flags & OP_THUMB ? 4 : 8);
}

/* Decode one instruction: of A32 (4 bytes), or of Thumb (2 or 4 bytes). Address, bytes and length are set in *insn;
 * the functions set its kind, and the operation. */
void arm_decode_a32(struct insn *insn, struct arm_op *op, uint32_t word);
void arm_decode_t16(struct insn *insn, struct arm_op *op, uint32_t half);
void arm_decode_t32(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second);
/* Decode Thumb instructions that do not use the pc: set the operation if it can be emulated. */
void thumb_plain_t16(struct insn *insn, struct arm_op *op, uint32_t half);
void thumb_plain_t32(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second);
/* Returns the number that data processing of four bytes encodes in twelve bits: one byte in one to four places, or a
 * rotated byte. *amount: the rotation. */
uint32_t thumb_number(uint32_t number, uint8_t *amount);
/* Decodes coprocessor instructions, and vector loads and stores, whose bits are the same in both states. */
void arm_decode_coprocessor(struct insn *insn, struct arm_op *op, uint32_t word);

/* Decodes an instruction as arm_decode() does, but also one that must not get a breakpoint. */
bool arm_read(uint64_t address, const unsigned char *code, size_t size, struct insn *insn);

/* The contracts are those of the functions of struct arch with these names. */
bool arm_decode(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn);
int arm_relocate(const struct insn *insn, uint64_t slot, struct insn_copy *copy);
int arm_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem);
enum arch_call arm_follows_call(uint64_t address, const unsigned char *code, size_t size);
bool arm_is_constant(uint64_t address, const struct arch_memory *code);
struct path_state;
struct path_step;
bool arm_follow(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step);
bool arm_call_slot(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot);

#endif
