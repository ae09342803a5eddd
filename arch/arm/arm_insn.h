/* What the files of the port of 32-bit ARM share: the places of the registers, and instructions as the decoders of both
 * states (A32, Thumb) leave them for copying and emulation. ARMv7-A, with Thumb-2. */
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

#define ARM_ALWAYS      14    /* the condition */
#define ARM_NO_REGISTER 16    /* as a base: the immediate is the address */
#define CPSR_THUMB      0x20u /* code_state's bit is 1 */

enum arm_kind {
	OP_PLAIN,   /* has no use of the pc */
	OP_LITERAL, /* loads a vector register from beside the pc: the copy takes the literal along */
	OP_NOP,
	OP_BRANCH,          /* to `immediate`, a code address; with OP_LINK a call */
	OP_BRANCH_REGISTER, /* bx, blx: to register m */
	OP_COMPARE_BRANCH,  /* cbz, cbnz: register n; code 1: if not zero */
	OP_TABLE_BRANCH,    /* tbb, tbh: base n, index m, entries of `code` bytes */
	OP_LOAD,            /* register d (and s, of two) from base n; `code` bytes */
	OP_STORE,           /* of one register */
	OP_LOAD_MANY,       /* the list from base n */
	OP_STORE_MANY,
	OP_DATA, /* code: the operation as A32 numbers it, and, sub, ... mvn */
	OP_IT,   /* code: its condition and mask */
};

enum arm_flag {
	OP_THUMB = 1,
	OP_LINK = 2,
	OP_BEFORE = 4,     /* the address is that with the offset */
	OP_UP = 8,         /* the offset is added */
	OP_WRITEBACK = 16, /* the base gets the address with the offset */
	OP_SIGNED = 32,    /* what is loaded is extended by its sign */
	OP_REGISTER = 64,  /* the offset or second operand is register m, shifted */
	OP_SETS_FLAGS = 128,
};

/* Lies in struct insn's detail. */
struct arm_op {
	uint8_t kind, condition, code, flags;
	uint8_t d, n, m, s;
	uint8_t shift, amount; /* 0 lsl, 1 lsr, 2 asr, 3 ror (by 0: rrx); of an immediate: how far it was rotated */
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

/* What code reads as its pc. */
static inline uint32_t arm_pc_read(const struct insn *insn, const struct arm_op *op)
{
	return (uint32_t)insn->address + (op->flags & OP_THUMB ? 4 : 8);
}

/* The decoders of one instruction of 4 bytes of A32 or of 2 or 4 of Thumb, whose address, bytes and length are known:
 * the kind, and the operation. */
void arm_decode_a32(struct insn *insn, struct arm_op *op, uint32_t word);
void arm_decode_t16(struct insn *insn, struct arm_op *op, uint32_t half);
void arm_decode_t32(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second);
/* Of Thumb's instructions without a use of the pc: the operation, where that one can be emulated. */
void thumb_plain_t16(struct insn *insn, struct arm_op *op, uint32_t half);
void thumb_plain_t32(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second);
/* A number as data processing of four bytes has it in twelve bits: one byte, in one to four places, or anywhere;
 * *amount is how far it was rotated. */
uint32_t thumb_number(uint32_t number, uint8_t *amount);
/* Coprocessors' and vector loads and stores, whose bits are the same in both. */
void arm_decode_coprocessor(struct insn *insn, struct arm_op *op, uint32_t word);

/* Decodes an instruction as arm_decode() does, also one that no breakpoint may be at. */
bool arm_read(uint64_t address, const unsigned char *code, size_t size, struct insn *insn);

/* Contracts as those of struct arch's functions of these names. */
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
