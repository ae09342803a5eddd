/* Declarations that the files of the 32-bit ARM port share: indexes of registers, and the form in which the decoders
 * of both states (A32, Thumb) pass instructions to copying and emulation. The architecture is ARMv7-A with Thumb-2. */
#ifndef FT_ARCH_ARM_ARM_INSN_H
#define FT_ARCH_ARM_ARM_INSN_H

#include "arch/arch.h"

#include <string.h>

/* Indexes of the narrow words in NT_PRSTATUS (struct pt_regs of <asm/ptrace.h>). */
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

#define ARM_ALWAYS      14 /* the condition "always" */
#define ARM_NO_REGISTER 16 /* as number of the base register: there is none, and the immediate is the address */
/* Mask of the state of an IT block in the cpsr: bits 1 and 0 of the state are bits 26 and 25 of the cpsr, bits 7 to
 * 2 are bits 15 to 10. */
#define CPSR_IT    0x0600fc00u
#define CPSR_THUMB 0x20u /* set in Thumb state; code addresses then have bit 0 set (code_state) */

enum arm_kind {
	OP_PLAIN,   /* does not use the pc */
	OP_LITERAL, /* loads a vector register relative to the pc; the literal is copied with the instruction */
	OP_NOP,
	OP_BRANCH,          /* branches to `immediate`, a code address; with OP_LINK it is a call */
	OP_BRANCH_REGISTER, /* bx, blx: branch to register m */
	OP_COMPARE_BRANCH,  /* cbz, cbnz: compares register n; code 1: branches if it is not zero */
	OP_TABLE_BRANCH,    /* tbb, tbh: n contains the table's address, m the index; code: bytes of an entry */
	OP_LOAD,            /* loads register d, and s if there are two, from base n; code: number of bytes */
	OP_STORE,           /* stores one register */
	OP_LOAD_MANY,       /* loads the registers in `list` from base n */
	OP_STORE_MANY,
	OP_DATA, /* code: number of the operation in A32: and, eor, sub, ... mvn */
	OP_IT,   /* code: condition and mask of the block */
};

enum arm_flag {
	OP_THUMB = 1,
	OP_LINK = 2,
	OP_BEFORE = 4,     /* the offset is added before the access (pre-index) */
	OP_UP = 8,         /* the offset is added, not subtracted */
	OP_WRITEBACK = 16, /* base plus offset is written to the base */
	OP_SIGNED = 32,    /* the loaded value is sign-extended */
	OP_REGISTER = 64,  /* the offset or second operand is register m, shifted */
	OP_SETS_FLAGS = 128,
};

/* A decoded operation, which is stored in struct insn's detail. */
struct arm_op {
	uint8_t kind, condition, code, flags;
	uint8_t d, n, m, s;
	uint8_t shift, amount; /* 0 lsl, 1 lsr, 2 asr, 3 ror (by 0: rrx); amount: also the rotation of an immediate */
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

/* Read and write little-endian half words (2 bytes) and words (4 bytes) at any address. */
static inline uint32_t arm_half_at(const unsigned char *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8;
}

static inline uint32_t arm_word_at(const unsigned char *bytes)
{
	return arm_half_at(bytes) | arm_half_at(bytes + 2) << 16;
}

static inline void arm_put_half(unsigned char *to, uint32_t half)
{
	to[0] = (unsigned char)half;
	to[1] = (unsigned char)(half >> 8);
}

static inline void arm_put_word(unsigned char *to, uint32_t word)
{
	arm_put_half(to, word);
	arm_put_half(to + 2, word >> 16);
}

/* Returns the value of the pc that the instruction reads. */
static inline uint32_t arm_pc_read(const struct insn *insn, const struct arm_op *op)
{
	return (uint32_t)insn->address + (op->flags & OP_THUMB ? 4 : 8);
}

/* Decode an instruction of A32 (4 bytes), or of Thumb (2 or 4 bytes). *insn already contains address, bytes and
 * length; the functions set its kind, and *op. */
void arm_decode_a32(struct insn *insn, struct arm_op *op, uint32_t word);
void arm_decode_t16(struct insn *insn, struct arm_op *op, uint32_t half);
void arm_decode_t32(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second);
/* Decode Thumb instructions that do not use the pc; set *op if the instruction can be emulated. */
void thumb_plain_t16(struct insn *insn, struct arm_op *op, uint32_t half);
void thumb_plain_t32(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second);
/* Returns the number that a Thumb data processing instruction of four bytes encodes in twelve bits: a byte that is
 * repeated in one, two or four places, or a rotated byte. *amount: the rotation. */
uint32_t thumb_number(uint32_t number, uint8_t *amount);
/* Decodes coprocessor instructions, vector loads and vector stores, which have the same encoding in both states. */
void arm_decode_coprocessor(struct insn *insn, struct arm_op *op, uint32_t word);

/* Decodes an instruction as arm_decode() does, but also accepts an instruction between a load-exclusive and its store,
 * at which arm_decode() returns false. */
bool arm_read(uint64_t address, const unsigned char *code, size_t size, struct insn *insn);

/* For the contracts see the functions with these names in struct arch. */
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
