/* Decodes instructions of x86 under breakpoints, makes their copies, and emulates branches.
 *
 * Zydis decodes the instructions. How an instruction is handled is decided here once, when its breakpoint is
 * inserted, and stored in struct insn. */
#include "config.h"
#include "arch/x86/x86_insn.h"

#include <errno.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "arch/x86/x86_arithmetic.h"
#include "arch/x86/x86_emulate.h"

/* Values of insn.detail[DETAIL_OPERATION]: how an INSN_EMULATE instruction is emulated, or an INSN_COPY one is
 * copied. */
enum operation {
	OP_AS_IS,        /* copied unchanged */
	OP_RIP_RELATIVE, /* copied, with a new disp32 */
	OP_JCC,          /* copied as jcc rel32 */
	OP_NOP,
	OP_JMP_RELATIVE,
	OP_CALL_RELATIVE,
	OP_JMP_INDIRECT,
	OP_CALL_INDIRECT,
	OP_LOOP,
	OP_LOOPE,
	OP_LOOPNE,
	OP_JRCXZ,
};

enum {
	DETAIL_OPERATION,
	DETAIL_OPERAND,      /* OP_*_INDIRECT: the operand, see OPERAND(); OP_JCC: the condition */
	DETAIL_DISPLACEMENT, /* OP_RIP_RELATIVE: offset of the disp32 in the instruction */
	DETAIL_WIDTH,        /* bits of addresses, or of a loop's counter; the prefix 67h changes it */
};

/* The operand of an indirect branch. Registers have the processor's numbers. */
#define OPERAND(is_memory, base, index, scale, segment)                                                                \
	((uint32_t)(is_memory) << 31 | (base) | (index) << 8 | (scale) << 16 | (segment) << 24)
#define OPERAND_IS_MEMORY(operand) ((operand) >> 31)
#define OPERAND_BASE(operand)      ((operand)&0xff)
#define OPERAND_INDEX(operand)     ((operand) >> 8 & 0xff)
#define OPERAND_SCALE(operand)     ((operand) >> 16 & 0xff)
#define OPERAND_SEGMENT(operand)   ((operand) >> 24 & 0x7f)

enum {
	REGISTER_RIP = 16,
	REGISTER_NONE = 17,
	SEGMENT_FLAT = 0,
	SEGMENT_FS,
	SEGMENT_GS,
};

const struct x86_mode x86_mode_64 = {
	.machine = ZYDIS_MACHINE_MODE_LONG_64,
	.stack = ZYDIS_STACK_WIDTH_64,
	.bits = 64,
	.address_max = 0x00007fffffffefffu,
	.sp = ZYDIS_REGISTER_RSP,
	.has_bases = true,
};

const struct x86_mode x86_mode_32 = {
	.machine = ZYDIS_MACHINE_MODE_LEGACY_32,
	.stack = ZYDIS_STACK_WIDTH_32,
	.bits = 32,
	.address_max = UINT32_MAX,
	.sp = ZYDIS_REGISTER_ESP,
};

static uint32_t register_number(ZydisRegister reg)
{
	switch (reg) {
	case ZYDIS_REGISTER_NONE:
		return REGISTER_NONE;
	case ZYDIS_REGISTER_RIP:
		return REGISTER_RIP;
	default:
		return (uint32_t)ZydisRegisterGetId(reg) & 15;
	}
}

static void x86_insn_set_emulated(struct insn *insn, enum operation operation, bool pc_only)
{
	insn->kind = INSN_EMULATE;
	insn->pc_only = pc_only;
	insn->detail[DETAIL_OPERATION] = operation;
}

static uint64_t relative_target(const struct x86_mode *mode, const struct insn *insn)
{
	return (insn->address + insn->length + (uint64_t)insn->displacement) & x86_mask(mode->bits);
}

/* Returns true if the instruction has a repeat prefix. On some processors this prefix inverts the condition of loope
 * and loopne, although no manual says so. */
static bool has_repeat_prefix(const ZydisDecodedInstruction *z)
{
	for (unsigned i = 0; i < z->raw.prefix_count; i++)
		if (z->raw.prefixes[i].value == 0xf2 || z->raw.prefixes[i].value == 0xf3)
			return true;
	return false;
}

/* Sets the kind of jmp, jcc, call, loop and jrcxz with an immediate offset. Other instructions remain INSN_STEP, such
 * as xbegin, whose fallback address is relative. */
static void classify_relative(const struct x86_mode *mode, const ZydisDecodedInstruction *z, bool shadow_stack,
			      struct insn *insn)
{
	insn->displacement = z->raw.imm[0].value.s;
	insn->detail[DETAIL_WIDTH] = z->address_width;
	if (relative_target(mode, insn) > mode->address_max)
		return;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		x86_insn_set_emulated(insn, OP_JMP_RELATIVE, true);
		return;
	case ZYDIS_MNEMONIC_CALL:
		if (!shadow_stack)
			x86_insn_set_emulated(insn, OP_CALL_RELATIVE, false);
		return;
	case ZYDIS_MNEMONIC_LOOP:
		x86_insn_set_emulated(insn, OP_LOOP, false);
		return;
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		if (!has_repeat_prefix(z))
			x86_insn_set_emulated(insn, z->mnemonic == ZYDIS_MNEMONIC_LOOPE ? OP_LOOPE : OP_LOOPNE, false);
		return;
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JCXZ:
		x86_insn_set_emulated(insn, OP_JRCXZ, true);
		return;
	default:
		break;
	}
	if (z->meta.category != ZYDIS_CATEGORY_COND_BR ||
	    (z->opcode & 0xf0) != (z->opcode_map == ZYDIS_OPCODE_MAP_0F ? 0x80 : 0x70))
		return;
	insn->kind = INSN_COPY;
	insn->can_emulate = true;
	insn->pc_only = true;
	insn->detail[DETAIL_OPERATION] = OP_JCC;
	insn->detail[DETAIL_OPERAND] = z->opcode & 15;
}

static void classify_indirect(const struct x86_mode *mode, const ZydisDecodedInstruction *z,
			      const ZydisDecodedOperand *operand, bool shadow_stack, struct insn *insn)
{
	const bool is_call = z->mnemonic == ZYDIS_MNEMONIC_CALL;
	uint32_t segment = SEGMENT_FLAT;

	if (is_call && shadow_stack)
		return;
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		insn->detail[DETAIL_OPERAND] = OPERAND(false, register_number(operand->reg.value), REGISTER_NONE, 0, 0);
	} else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base != ZYDIS_REGISTER_EIP &&
		   !x86_is_misread(z, operand)) {
		if (operand->mem.segment == ZYDIS_REGISTER_FS)
			segment = SEGMENT_FS;
		else if (operand->mem.segment == ZYDIS_REGISTER_GS)
			segment = SEGMENT_GS;
		if (segment != SEGMENT_FLAT && !mode->has_bases)
			return;
		insn->detail[DETAIL_OPERAND] =
			OPERAND(true, register_number(operand->mem.base), register_number(operand->mem.index),
				operand->mem.scale, segment);
		insn->displacement = operand->mem.disp.value;
		insn->detail[DETAIL_WIDTH] = z->address_width;
	} else {
		return;
	}
	x86_insn_set_emulated(insn, is_call ? OP_CALL_INDIRECT : OP_JMP_INDIRECT, !is_call);
}

/* Returns true if an instruction without a relative operand depends on its address nevertheless, or is used for the
 * target's own debugging or transactions. Such instructions are stepped in place.
 *
 * Some instructions that depend on their address are copied nevertheless. `syscall` writes the next pc to rcx, which
 * the ABI does not preserve. A system call may sleep, so `syscall` must not be stepped, because all other tasks are
 * stopped during a step. If the kernel restarts the call (pc - 2), the new pc is the start of the copy. The same is
 * true of `int 0x80`. x87 instructions record their pc for fnstenv, which is read only by handlers of x87 faults. */
static bool x86_insn_is_bound_to_place(const ZydisDecodedInstruction *z)
{
	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return z->mnemonic == ZYDIS_MNEMONIC_JMP || z->mnemonic == ZYDIS_MNEMONIC_CALL;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_INT:
		return z->raw.imm[0].value.u != 0x80;
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INTO:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_XABORT:
	case ZYDIS_MNEMONIC_ENCLU:
		return true;
	default:
		return false;
	}
}

/* Returns the RIP- or EIP-relative memory operand, or NULL. */
static const ZydisDecodedOperand *find_pc_relative(const ZydisDecodedInstruction *z,
						   const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < z->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (operands[i].mem.base == ZYDIS_REGISTER_RIP || operands[i].mem.base == ZYDIS_REGISTER_EIP))
			return &operands[i];
	return NULL;
}

static void x86_insn_classify(const struct x86_mode *mode, const ZydisDecodedInstruction *z,
			      const ZydisDecodedOperand *operands, bool shadow_stack, struct insn *insn)
{
	const bool is_branch =
		z->mnemonic == ZYDIS_MNEMONIC_JMP || z->mnemonic == ZYDIS_MNEMONIC_CALL || z->raw.imm[0].is_relative;

	if (z->mnemonic == ZYDIS_MNEMONIC_NOP || z->mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
	    z->mnemonic == ZYDIS_MNEMONIC_ENDBR32 || z->mnemonic == ZYDIS_MNEMONIC_PAUSE) {
		x86_insn_set_emulated(insn, OP_NOP, true);
		return;
	}
	if (x86_insn_is_bound_to_place(z))
		return;
	if (is_branch) {
		/* jkzd and jknzd of Knights Corner have the opcodes of jcc after a VEX prefix. */
		if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
			return;
		/* A near branch with 66h is stepped: Intel's processors ignore this prefix, AMD's truncate the pc to 16
		 * bits. Both ignore it if REX.W is set, as in the padded call to __tls_get_addr. */
		if ((z->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && !z->raw.rex.W)
			return;
		if (z->raw.imm[0].is_relative)
			classify_relative(mode, z, shadow_stack, insn);
		else
			classify_indirect(mode, z, &operands[0], shadow_stack, insn);
		return;
	}

	const ZydisDecodedOperand *relative = find_pc_relative(z, operands);

	if (relative) {
		if (relative->mem.base != ZYDIS_REGISTER_RIP || z->raw.disp.size != 32)
			return;
		insn->detail[DETAIL_OPERATION] = OP_RIP_RELATIVE;
		insn->detail[DETAIL_DISPLACEMENT] = z->raw.disp.offset;
		insn->displacement = z->raw.disp.value;
	} else if (z->attributes & ZYDIS_ATTRIB_IS_RELATIVE) {
		return;
	}
	insn->is_syscall = z->mnemonic == ZYDIS_MNEMONIC_SYSCALL || z->mnemonic == ZYDIS_MNEMONIC_INT;
	insn->can_emulate = x86_can_emulate(mode, z, operands, shadow_stack);
	insn->kind = INSN_COPY;
}

bool x86_decode(const struct x86_mode *mode, uint64_t address, const unsigned char *code, size_t size,
		bool shadow_stack, struct insn *insn)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZyanStatus status;

	*insn = (struct insn){.kind = INSN_STEP, .address = address};
	ZydisDecoderInit(&decoder, mode->machine, mode->stack);
	status = ZydisDecoderDecodeInstruction(&decoder, &context, code, size, &z);
	if (status == ZYDIS_STATUS_NO_MORE_DATA || status == ZYDIS_STATUS_INSTRUCTION_TOO_LONG)
		return false;
	/* Other errors may mean that the instruction is newer than the decoder. Then it is stepped in place. */
	if (!ZYAN_SUCCESS(status) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &z, operands, z.operand_count)))
		return true;
	insn->length = z.length;
	memcpy(insn->bytes, code, z.length);
	x86_insn_classify(mode, &z, operands, shadow_stack, insn);
	return true;
}

/* Returns true if a distance from an instruction's end fits into a rel32 or disp32. In 32-bit code every distance
 * fits. */
static bool is_in_reach(const struct x86_mode *mode, uint64_t distance)
{
	return mode->bits == 32 || (uint64_t)(int64_t)(int32_t)distance == distance;
}

static void put_32(unsigned char *bytes, uint64_t value)
{
	const uint32_t low = (uint32_t)value; /* little-endian, because the ports for x86 are built only on x86 */

	memcpy(bytes, &low, sizeof(low));
}

/* Appends a jump to `target` to the copy: by rel32, or through the 8 bytes after the jump if the distance is too
 * large. */
static void x86_insn_put_jump(const struct x86_mode *mode, struct insn_copy *copy, uint64_t slot, uint64_t target)
{
	unsigned char *bytes = copy->bytes + copy->size;
	const uint64_t distance = target - (slot + copy->size + 5);

	copy->resume = copy->size;
	if (is_in_reach(mode, distance)) {
		bytes[0] = 0xe9;
		put_32(bytes + 1, distance);
		copy->size += 5;
		return;
	}
	memcpy(bytes, "\xff\x25\0\0\0\0", 6);
	memcpy(bytes + 6, &target, sizeof(target));
	copy->size += 6 + sizeof(target);
}

int x86_relocate(const struct x86_mode *mode, const struct insn *insn, uint64_t slot, struct insn_copy *copy)
{
	const uint64_t next = insn->address + insn->length;
	const uint64_t operand = next + (uint64_t)insn->displacement;
	uint64_t distance;

	if (insn->kind != INSN_COPY || !insn->length || insn->length > 15)
		return -EINVAL;
	*copy = (struct insn_copy){.size = insn->length};
	switch (insn->detail[DETAIL_OPERATION]) {
	case OP_JCC:
		copy->size = 6;
		distance = operand - (slot + copy->size);
		if (!is_in_reach(mode, distance))
			return -ERANGE;
		copy->bytes[0] = 0x0f;
		copy->bytes[1] = 0x80 | insn->detail[DETAIL_OPERAND];
		put_32(copy->bytes + 2, distance);
		break;
	case OP_RIP_RELATIVE:
		distance = operand - (slot + copy->size);
		if (!is_in_reach(mode, distance))
			return -ERANGE;
		memcpy(copy->bytes, insn->bytes, insn->length);
		put_32(copy->bytes + insn->detail[DETAIL_DISPLACEMENT], distance);
		break;
	default:
		memcpy(copy->bytes, insn->bytes, insn->length);
		break;
	}
	x86_insn_put_jump(mode, copy, slot, next);
	return 0;
}

static uint64_t effective_address(const struct insn *insn, const struct arch_regs *regs)
{
	const uint32_t operand = insn->detail[DETAIL_OPERAND];
	const uint32_t base = OPERAND_BASE(operand), index = OPERAND_INDEX(operand);
	uint64_t address = (uint64_t)insn->displacement;

	if (base == REGISTER_RIP)
		address += insn->address + insn->length;
	else if (base != REGISTER_NONE)
		address += regs->words[x86_register_words[base & 15]];
	if (index != REGISTER_NONE)
		address += regs->words[x86_register_words[index & 15]] * OPERAND_SCALE(operand);
	address &= x86_mask(insn->detail[DETAIL_WIDTH]);
	if (OPERAND_SEGMENT(operand) == SEGMENT_FS)
		address += regs->words[X86_FS_BASE];
	else if (OPERAND_SEGMENT(operand) == SEGMENT_GS)
		address += regs->words[X86_GS_BASE];
	return address;
}

/* Computes the target of an indirect branch. Returns -EFAULT if the address is not canonical, because the processor
 * may fault in the branch itself; then the target program executes the branch. */
static int branch_target(const struct x86_mode *mode, const struct insn *insn, const struct arch_regs *regs,
			 const struct arch_memory *mem, uint64_t *target)
{
	const uint32_t operand = insn->detail[DETAIL_OPERAND];

	if (OPERAND_IS_MEMORY(operand)) {
		*target = 0;
		const int error = mem->read(mem->context, effective_address(insn, regs), target, mode->bits / 8);

		if (error)
			return error;
	} else {
		*target = regs->words[x86_register_words[OPERAND_BASE(operand) & 15]];
	}
	return *target > mode->address_max ? -EFAULT : 0;
}

/* Emulates a call. Its return address is the address after the original instruction, so that unwinders, exceptions and
 * the return use the normal value. */
static int emulate_call(const struct x86_mode *mode, struct arch_regs *regs, const struct arch_memory *mem,
			uint64_t next, uint64_t target)
{
	const uint64_t sp = (regs->words[X86_RSP] - mode->bits / 8) & x86_mask(mode->bits);
	const int error = mem->write(mem->context, sp, &next, mode->bits / 8);

	if (error)
		return error;
	regs->words[X86_RSP] = sp;
	regs->words[X86_RIP] = target;
	return 0;
}

/* Returns the bits of rcx that a loop uses as its counter. */
static uint64_t counter(const struct insn *insn, uint64_t value)
{
	return value & x86_mask(insn->detail[DETAIL_WIDTH]);
}

static void emulate_loop(const struct insn *insn, struct arch_regs *regs, uint64_t next, uint64_t target)
{
	const uint32_t operation = insn->detail[DETAIL_OPERATION];
	const bool zero = regs->words[X86_EFLAGS] & FLAG_ZERO;
	const uint64_t count = counter(insn, regs->words[X86_RCX] - 1);

	if (insn->detail[DETAIL_WIDTH] == 16)
		regs->words[X86_RCX] = (regs->words[X86_RCX] & ~x86_mask(16)) | count;
	else
		regs->words[X86_RCX] = count;
	if (!count || (operation == OP_LOOPE && !zero) || (operation == OP_LOOPNE && zero))
		target = next;
	regs->words[X86_RIP] = target;
}

int x86_emulate(const struct x86_mode *mode, const struct insn *insn, struct arch_regs *regs,
		const struct arch_memory *mem)
{
	const uint64_t next = (insn->address + insn->length) & x86_mask(mode->bits);
	uint64_t target = relative_target(mode, insn);
	int error;

	if (insn->kind != INSN_EMULATE && !insn->can_emulate)
		return -EINVAL;
	switch (insn->detail[DETAIL_OPERATION]) {
	case OP_AS_IS:
	case OP_RIP_RELATIVE:
		return x86_emulate_copied(mode, insn, regs, mem);
	case OP_JCC:
		if (regs->words[X86_EFLAGS] & FLAG_TRAP)
			return -ENOTSUP;
		regs->words[X86_RIP] =
			x86_condition(insn->detail[DETAIL_OPERAND], regs->words[X86_EFLAGS]) ? target : next;
		return 0;
	case OP_NOP:
		regs->words[X86_RIP] = next;
		return 0;
	case OP_JMP_RELATIVE:
		regs->words[X86_RIP] = target;
		return 0;
	case OP_CALL_RELATIVE:
		return emulate_call(mode, regs, mem, next, target);
	case OP_JMP_INDIRECT:
	case OP_CALL_INDIRECT:
		error = branch_target(mode, insn, regs, mem, &target);
		if (error)
			return error;
		if (insn->detail[DETAIL_OPERATION] == OP_CALL_INDIRECT)
			return emulate_call(mode, regs, mem, next, target);
		regs->words[X86_RIP] = target;
		return 0;
	case OP_LOOP:
	case OP_LOOPE:
	case OP_LOOPNE:
		emulate_loop(insn, regs, next, target);
		return 0;
	case OP_JRCXZ:
		regs->words[X86_RIP] = counter(insn, regs->words[X86_RCX]) ? next : target;
		return 0;
	default:
		return -EINVAL;
	}
}
