/* Emulates common instructions of x86: moves, arithmetic without carry-in, shifts by immediates, pushes and pops,
 * returns. They are emulated only if no slot is free for a copy. Because this is rare, the instruction is decoded again
 * each time. Effects and flags are those of the Intel SDM, volume 2, and volume 1, appendix A. */
#include "config.h"
#include "arch/x86/x86_arithmetic.h"
#include "arch/x86/x86_emulate.h"

#include <errno.h>

const unsigned char x86_register_words[16] = {
	X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI,
	X86_R8,  X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

/* The emulation of an instruction. `regs` is a copy; the task's registers are changed when everything has succeeded. */
struct work {
	const struct x86_mode *mode;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t next; /* address of the next instruction */
	struct arch_regs regs;
	const struct arch_memory *mem;
};

/* --- instructions that can be emulated --- */

static bool is_general(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return true;
	default:
		return false;
	}
}

bool x86_is_misread(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operand)
{
	return (z->attributes & ZYDIS_ATTRIB_HAS_SIB) && z->raw.modrm.mod == 0 && z->raw.sib.base == 5 &&
	       operand->mem.base != ZYDIS_REGISTER_NONE;
}

/* Returns true if the base of a segment is known. If the registers do not contain the bases, only those of flat data
 * segments are known; cs is excluded because it is not writable. */
static bool is_base_known(const struct x86_mode *mode, ZydisRegister segment)
{
	return mode->has_bases ||
	       (segment != ZYDIS_REGISTER_FS && segment != ZYDIS_REGISTER_GS && segment != ZYDIS_REGISTER_CS);
}

static bool is_plain_operand(const struct x86_mode *mode, const ZydisDecodedInstruction *z,
			     const ZydisDecodedOperand *operand)
{
	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return is_general(operand->reg.value);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return true;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
			(operand->mem.type == ZYDIS_MEMOP_TYPE_MEM && is_base_known(mode, operand->mem.segment))) &&
		       operand->mem.base != ZYDIS_REGISTER_EIP && !x86_is_misread(z, operand);
	default:
		return false;
	}
}

static bool x86_emulate_is_conditional(const ZydisDecodedInstruction *z)
{
	return z->opcode_map == ZYDIS_OPCODE_MAP_0F && ((z->opcode & 0xf0) == 0x40 || (z->opcode & 0xf0) == 0x90);
}

static bool x86_emulate_is_known(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands,
				 bool shadow_stack)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_CBW:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_CWD:
	case ZYDIS_MNEMONIC_CDQ:
	case ZYDIS_MNEMONIC_CQO:
		return true;
	case ZYDIS_MNEMONIC_MOVSXD:
		return operands[0].size > 16; /* with the prefix 66h, processors read different numbers of bytes */
	case ZYDIS_MNEMONIC_POP:
		return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
	case ZYDIS_MNEMONIC_XCHG: /* exchanges with memory are atomic */
		return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		return operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	case ZYDIS_MNEMONIC_RET: /* with the prefix 66h, the address's size depends on the processor */
		return z->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR && !shadow_stack &&
		       !(z->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE);
	case ZYDIS_MNEMONIC_LEAVE:
		return !(z->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE);
	default:
		return x86_emulate_is_conditional(z);
	}
}

bool x86_can_emulate(const struct x86_mode *mode, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands,
		     bool shadow_stack)
{
	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || (z->attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
	    !x86_emulate_is_known(z, operands, shadow_stack))
		return false;
	for (unsigned i = 0; i < z->operand_count_visible; i++)
		if (!is_plain_operand(mode, z, &operands[i]))
			return false;
	return true;
}

/* --- operands: values have the operand's size; higher bits are zero --- */

/* Returns the word that contains a general register. *shift: number of the register's first bit in this word. The
 * decoder numbers the 8-bit registers al, cl, dl, bl, ah, ch, dh, bh, spl, bpl and so on. */
static uint64_t *register_place(struct arch_regs *regs, ZydisRegister reg, unsigned *shift)
{
	unsigned number = (unsigned)ZydisRegisterGetId(reg);

	*shift = 0;
	if (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR8 && number >= 4) {
		*shift = number < 8 ? 8 : 0;
		number -= 4;
	}
	return &regs->words[x86_register_words[number & 15]];
}

static uint64_t x86_emulate_get_register(struct work *work, ZydisRegister reg)
{
	unsigned shift;
	const uint64_t *word = register_place(&work->regs, reg, &shift);

	return *word >> shift & x86_mask(ZydisRegisterGetWidth(work->mode->machine, reg));
}

/* Sets a register. A write of 32 bits clears the higher bits; a write of 8 or 16 bits does not. */
static void x86_emulate_set_register(struct work *work, ZydisRegister reg, uint64_t value)
{
	const unsigned bits = ZydisRegisterGetWidth(work->mode->machine, reg);
	unsigned shift;
	uint64_t *word = register_place(&work->regs, reg, &shift);

	if (bits >= 32)
		*word = value & x86_mask(bits);
	else
		*word = (*word & ~(x86_mask(bits) << shift)) | (value & x86_mask(bits)) << shift;
}

/* Returns the address of an operand without the base of its segment. */
static uint64_t x86_emulate_offset_of(struct work *work, const ZydisDecodedOperand *operand)
{
	uint64_t offset = (uint64_t)operand->mem.disp.value;

	if (operand->mem.base == ZYDIS_REGISTER_RIP)
		offset += work->next;
	else if (operand->mem.base != ZYDIS_REGISTER_NONE)
		offset += x86_emulate_get_register(work, operand->mem.base);
	if (operand->mem.index != ZYDIS_REGISTER_NONE)
		offset += x86_emulate_get_register(work, operand->mem.index) * operand->mem.scale;
	return offset & x86_mask(work->z.address_width);
}

static uint64_t x86_emulate_address_of(struct work *work, const ZydisDecodedOperand *operand)
{
	uint64_t address = x86_emulate_offset_of(work, operand);

	if (operand->mem.segment == ZYDIS_REGISTER_FS)
		address += work->regs.words[X86_FS_BASE];
	else if (operand->mem.segment == ZYDIS_REGISTER_GS)
		address += work->regs.words[X86_GS_BASE];
	return address;
}

static int get_memory(const struct work *work, uint64_t address, unsigned bits, uint64_t *value)
{
	*value = 0;
	return work->mem->read(work->mem->context, address, value, bits / 8);
}

static int set_memory(const struct work *work, uint64_t address, unsigned bits, uint64_t value)
{
	return work->mem->write(work->mem->context, address, &value, bits / 8);
}

static int get_operand(struct work *work, unsigned n, uint64_t *value)
{
	const ZydisDecodedOperand *operand = &work->operands[n];

	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		*value = x86_emulate_get_register(work, operand->reg.value);
		return 0;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE: /* extended to the destination's width */
		*value = operand->imm.value.u & x86_mask(work->operands[0].size);
		return 0;
	default:
		return get_memory(work, x86_emulate_address_of(work, operand), operand->size, value);
	}
}

/* Writes a result. An instruction must do this after all other steps that can fail, so that a failure changes
 * nothing. */
static int set_operand(struct work *work, unsigned n, uint64_t value)
{
	const ZydisDecodedOperand *operand = &work->operands[n];

	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return set_memory(work, x86_emulate_address_of(work, operand), operand->size, value);
	x86_emulate_set_register(work, operand->reg.value, value);
	return 0;
}

/* --- arithmetic --- */

/* Emulates instructions whose first operand is read, changed and (except by cmp and test) written. */
static int run_arithmetic(struct work *work)
{
	const unsigned bits = work->operands[0].size;
	uint64_t *flags = &work->regs.words[X86_EFLAGS];
	uint64_t a = 0, b = 0;
	int error = get_operand(work, 0, &a);

	if (!error && work->z.operand_count_visible > 1)
		error = get_operand(work, 1, &b);
	if (error)
		return error;
	switch (work->z.mnemonic) {
	case ZYDIS_MNEMONIC_TEST:
		x86_logic(a & b, bits, flags);
		return 0;
	case ZYDIS_MNEMONIC_CMP:
		x86_subtract(a, b, bits, flags);
		return 0;
	case ZYDIS_MNEMONIC_ADD:
		return set_operand(work, 0, x86_add(a, b, bits, flags));
	case ZYDIS_MNEMONIC_SUB:
		return set_operand(work, 0, x86_subtract(a, b, bits, flags));
	case ZYDIS_MNEMONIC_AND:
		return set_operand(work, 0, x86_logic(a & b, bits, flags));
	case ZYDIS_MNEMONIC_OR:
		return set_operand(work, 0, x86_logic(a | b, bits, flags));
	case ZYDIS_MNEMONIC_XOR:
		return set_operand(work, 0, x86_logic(a ^ b, bits, flags));
	case ZYDIS_MNEMONIC_INC:
		return set_operand(work, 0, x86_count(a, true, bits, flags));
	case ZYDIS_MNEMONIC_DEC:
		return set_operand(work, 0, x86_count(a, false, bits, flags));
	case ZYDIS_MNEMONIC_NEG:
		return set_operand(work, 0, x86_subtract(0, a, bits, flags));
	case ZYDIS_MNEMONIC_NOT:
		return set_operand(work, 0, ~a & x86_mask(bits));
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		return set_operand(work, 0, x86_shift(work->z.mnemonic, a, (unsigned)b, bits, flags));
	default:
		return -ENOTSUP;
	}
}

/* --- moves --- */

static int run_move(struct work *work)
{
	const ZydisMnemonic mnemonic = work->z.mnemonic;
	uint64_t value;
	const int error = get_operand(work, 1, &value);

	if (error)
		return error;
	if (mnemonic == ZYDIS_MNEMONIC_MOVSX || mnemonic == ZYDIS_MNEMONIC_MOVSXD)
		value = x86_sign_extend(value, work->operands[1].size);
	return set_operand(work, 0, value);
}

static int run_exchange(struct work *work)
{
	const ZydisRegister a = work->operands[0].reg.value, b = work->operands[1].reg.value;
	const uint64_t value_a = x86_emulate_get_register(work, a), value_b = x86_emulate_get_register(work, b);

	x86_emulate_set_register(work, a, value_b);
	x86_emulate_set_register(work, b, value_a);
	return 0;
}

/* Emulates cmovcc and setcc. cmovcc always reads its source, and always clears the upper half of a 32-bit
 * destination. */
static int run_conditional(struct work *work)
{
	const bool holds = x86_condition(work->z.opcode & 15, work->regs.words[X86_EFLAGS]);
	uint64_t value, old;
	int error;

	if ((work->z.opcode & 0xf0) == 0x90)
		return set_operand(work, 0, holds);
	error = get_operand(work, 1, &value);
	if (!error)
		error = get_operand(work, 0, &old);
	return error ? error : set_operand(work, 0, holds ? value : old);
}

/* Emulates cbw, cwde and cdqe, which extend the lower half of ax, eax or rax, and cwd, cdq and cqo, which fill dx, edx
 * or rdx with the sign of ax, eax or rax. */
static int run_extension(struct work *work)
{
	const unsigned bits = work->z.operand_width;
	const ZydisRegisterClass whole = bits == 64   ? ZYDIS_REGCLASS_GPR64
					 : bits == 32 ? ZYDIS_REGCLASS_GPR32
						      : ZYDIS_REGCLASS_GPR16;
	const uint64_t value = work->regs.words[X86_RAX];

	if (work->z.opcode == 0x98)
		x86_emulate_set_register(work, ZydisRegisterEncode(whole, 0),
					 x86_sign_extend(value & x86_mask(bits / 2), bits / 2));
	else
		x86_emulate_set_register(work, ZydisRegisterEncode(whole, 2), value & x86_sign(bits) ? UINT64_MAX : 0);
	return 0;
}

/* --- the stack --- */

/* Emulates push. The pushed value is the one that the operand had before rsp was changed: push %rsp, push 8(%rsp). */
static int run_push(struct work *work)
{
	const unsigned bits = work->z.operand_width;
	uint64_t *sp = &work->regs.words[X86_RSP];
	uint64_t value;
	int error = 0;

	if (work->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		value = work->operands[0].imm.value.u;
	else
		error = get_operand(work, 0, &value);
	if (error)
		return error;
	*sp = (*sp - bits / 8) & x86_mask(work->mode->bits);
	return set_memory(work, *sp, bits, value);
}

/* Emulates pop. After pop %rsp, rsp contains the popped value. */
static int run_pop(struct work *work)
{
	const unsigned bits = work->z.operand_width;
	uint64_t *sp = &work->regs.words[X86_RSP];
	uint64_t value;
	const int error = get_memory(work, *sp, bits, &value);

	if (error)
		return error;
	*sp += bits / 8;
	x86_emulate_set_register(work, work->operands[0].reg.value, value);
	return 0;
}

static int run_leave(struct work *work)
{
	uint64_t *bp = &work->regs.words[X86_RBP];
	const uint64_t sp = *bp + work->mode->bits / 8;
	const int error = get_memory(work, *bp, work->mode->bits, bp);

	work->regs.words[X86_RSP] = sp;
	return error;
}

static int run_return(struct work *work)
{
	uint64_t *sp = &work->regs.words[X86_RSP];
	const int error = get_memory(work, *sp, work->mode->bits, &work->next);

	if (error || work->next > work->mode->address_max)
		return error ? error : -EFAULT;
	*sp += work->mode->bits / 8;
	if (work->z.operand_count_visible)
		*sp += work->operands[0].imm.value.u & 0xffff;
	return 0;
}

static int x86_emulate_run(struct work *work)
{
	switch (work->z.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return run_move(work);
	case ZYDIS_MNEMONIC_LEA:
		return set_operand(work, 0, x86_emulate_offset_of(work, &work->operands[1]));
	case ZYDIS_MNEMONIC_XCHG:
		return run_exchange(work);
	case ZYDIS_MNEMONIC_CBW:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_CWD:
	case ZYDIS_MNEMONIC_CDQ:
	case ZYDIS_MNEMONIC_CQO:
		return run_extension(work);
	case ZYDIS_MNEMONIC_PUSH:
		return run_push(work);
	case ZYDIS_MNEMONIC_POP:
		return run_pop(work);
	case ZYDIS_MNEMONIC_LEAVE:
		return run_leave(work);
	case ZYDIS_MNEMONIC_RET:
		return run_return(work);
	default:
		return x86_emulate_is_conditional(&work->z) ? run_conditional(work) : run_arithmetic(work);
	}
}

int x86_emulate_copied(const struct x86_mode *mode, const struct insn *insn, struct arch_regs *regs,
		       const struct arch_memory *mem)
{
	struct work work = {.mode = mode, .next = insn->address + insn->length, .regs = *regs, .mem = mem};
	ZydisDecoder decoder;
	int error;

	if (regs->words[X86_EFLAGS] & (FLAG_TRAP | FLAG_ALIGNMENT))
		return -ENOTSUP;
	ZydisDecoderInit(&decoder, mode->machine, mode->stack);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, insn->bytes, insn->length, &work.z, work.operands)))
		return -ENOTSUP;
	error = x86_emulate_run(&work);
	if (error)
		return error;
	*regs = work.regs;
	regs->words[X86_RIP] = work.next;
	return 0;
}
