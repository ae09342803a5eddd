/* Follows how x86 code changes its frame (arch/path.h). */
#include "config.h"
#include "arch/path.h"
#include "arch/x86/x86_insn.h"

#include <string.h>
#include <Zydis/Zydis.h>

#define NO_REGISTER   PATH_REGISTERS
#define ARGUMENTS_MAX 128 /* the largest n of `ret n` that is followed; with a larger n, the bytes are not real code */

/* The instruction that is being followed. */
struct x86_path_following {
	const struct x86_mode *mode;
	struct path_state *state;
	struct path_step *step;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static const struct path_value unknown = {PATH_UNKNOWN, 0, 0};

/* Returns the DWARF number of a general register, or of the register that contains it. */
static unsigned x86_path_number_of(const struct x86_path_following *f, ZydisRegister reg)
{
	/* The index is the processor's number: ax, cx, dx, bx, sp, bp, si, di. */
	static const unsigned char of_64[] = {0, 2, 1, 3, 7, 6, 4, 5};
	const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(f->mode->machine, reg);
	const ZydisRegisterClass class = ZydisRegisterGetClass(whole);

	if (class != ZYDIS_REGCLASS_GPR64 && class != ZYDIS_REGCLASS_GPR32)
		return NO_REGISTER;
	const unsigned id = (unsigned)ZydisRegisterGetId(whole);

	return f->mode->bits == 64 && id < 8 ? of_64[id] : id;
}

/* Like x86_path_number_of(), but only for registers of full width; returns NO_REGISTER for others. */
static unsigned whole_number(const struct x86_path_following *f, ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(f->mode->machine, reg) == reg ? x86_path_number_of(f, reg)
									      : NO_REGISTER;
}

static struct path_value x86_path_value_of(const struct x86_path_following *f, unsigned number)
{
	return number < PATH_REGISTERS ? f->state->registers[number] : unknown;
}

static void x86_path_set(struct x86_path_following *f, unsigned number, struct path_value value)
{
	if (number < PATH_REGISTERS)
		f->state->registers[number] = value;
	if (number == f->state->arch->dwarf.sp)
		path_move_sp(f->state, 0);
}

/* Returns the address of a memory operand. */
static struct path_value x86_path_place_of(const struct x86_path_following *f, const ZydisDecodedOperand *operand)
{
	const ZydisDecodedOperandMem *mem = &operand->mem;

	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || mem->index != ZYDIS_REGISTER_NONE ||
	    mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS)
		return unknown;
	return path_sum(x86_path_value_of(f, whole_number(f, mem->base)),
			mem->disp.has_displacement ? mem->disp.value : 0);
}

/* Returns the value of an operand if it is as wide as an address, else unknown. */
static struct path_value operand_value(const struct x86_path_following *f, const ZydisDecodedOperand *operand)
{
	if (operand->size != f->mode->bits)
		return unknown;
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		return x86_path_value_of(f, whole_number(f, operand->reg.value));
	return path_load(f->state, x86_path_place_of(f, operand));
}

static void x86_path_end(struct x86_path_following *f)
{
	f->step->next = PATH_END;
}

static void x86_path_push(struct x86_path_following *f, struct path_value value)
{
	const unsigned sp = f->state->arch->dwarf.sp;

	path_move_sp(f->state, -(int64_t)(f->mode->bits / 8));
	if (!path_store(f->state, f->state->registers[sp], value))
		x86_path_end(f);
}

static struct path_value x86_path_pop(struct x86_path_following *f)
{
	const struct path_value value = path_load(f->state, f->state->registers[f->state->arch->dwarf.sp]);

	path_move_sp(f->state, f->mode->bits / 8);
	return value;
}

/* Marks all registers as unknown that the instruction writes. */
static void x86_path_forget_results(struct x86_path_following *f)
{
	for (unsigned i = 0; i < f->z.operand_count; i++)
		if (f->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    f->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			path_forget(f->state, x86_path_number_of(f, f->operands[i].reg.value));
}

static void x86_path_follow_sum(struct x86_path_following *f)
{
	const unsigned to = f->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER
				    ? whole_number(f, f->operands[0].reg.value)
				    : NO_REGISTER;
	const bool is_down = f->z.mnemonic == ZYDIS_MNEMONIC_SUB || f->z.mnemonic == ZYDIS_MNEMONIC_DEC;
	int64_t number = 1;

	if (f->z.mnemonic == ZYDIS_MNEMONIC_ADD || f->z.mnemonic == ZYDIS_MNEMONIC_SUB) {
		if (f->operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			x86_path_forget_results(f);
			return;
		}
		number = f->operands[1].imm.value.s;
	}
	if (to == f->state->arch->dwarf.sp)
		path_move_sp(f->state, is_down ? -number : number);
	else if (to < PATH_REGISTERS)
		x86_path_set(f, to, path_sum(x86_path_value_of(f, to), is_down ? -number : number));
	else
		x86_path_forget_results(f);
}

static void follow_mov(struct x86_path_following *f)
{
	const struct path_value value = operand_value(f, &f->operands[1]);

	x86_path_forget_results(f);
	if (f->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && f->operands[0].size >= 32 &&
	    f->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		x86_path_set(f, x86_path_number_of(f, f->operands[0].reg.value),
			     (struct path_value){PATH_NUMBER, 0, (int32_t)f->operands[1].imm.value.s});
	else if (f->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		x86_path_set(f, whole_number(f, f->operands[0].reg.value), value);
	else if (f->operands[0].size == f->mode->bits &&
		 !path_store(f->state, x86_path_place_of(f, &f->operands[0]), value))
		x86_path_end(f);
}

static void follow_push(struct x86_path_following *f)
{
	/* Only pushes of the mode's width are followed; a push of 16 bits ends the path. */
	if (f->z.operand_width != f->mode->bits)
		x86_path_end(f);
	else
		x86_path_push(f, operand_value(f, &f->operands[0]));
}

static void follow_pop(struct x86_path_following *f)
{
	if (f->z.operand_width != f->mode->bits) {
		x86_path_end(f);
		return;
	}
	const struct path_value value = x86_path_pop(f);

	if (f->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		x86_path_set(f, whole_number(f, f->operands[0].reg.value), value);
}

static uint64_t target_of(const struct x86_path_following *f, uint64_t next)
{
	const uint64_t target = next + (uint64_t)f->z.raw.imm[0].value.s;

	return f->mode->bits == 32 ? (uint32_t)target : target;
}

/* Follows syscall, int, and i386's call of the vdso's entry through gs. The number of the system call is in eax. */
static void x86_path_follow_system(struct x86_path_following *f)
{
	static const unsigned short last_64[] = {15 /* rt_sigreturn */, 60 /* exit */, 231 /* exit_group */};
	static const unsigned short last_32[] = {1 /* exit */, 119 /* sigreturn */, 173 /* rt_sigreturn */,
						 252 /* exit_group */};
	const unsigned eax = x86_path_number_of(f, ZYDIS_REGISTER_EAX);

	if (f->mode->bits == 64 ? path_ends(x86_path_value_of(f, eax), last_64, sizeof(last_64) / sizeof(last_64[0]))
				: path_ends(x86_path_value_of(f, eax), last_32, sizeof(last_32) / sizeof(last_32[0])))
		x86_path_end(f);
	path_forget(f->state, eax);
}

static bool is_vdso_call(const struct x86_path_following *f)
{
	return f->mode->bits == 32 && f->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       f->operands[0].mem.segment == ZYDIS_REGISTER_GS;
}

static void follow_call(struct x86_path_following *f, uint64_t next)
{
	if (is_vdso_call(f)) /* the call preserves all registers except eax */
		x86_path_follow_system(f);
	else if (f->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && target_of(f, next) == next)
		x86_path_push(f, unknown); /* 32-bit code gets its pc in this way */
	else
		path_call(f->state, f->state->arch->dwarf.preserved);
}

static void follow_return(struct x86_path_following *f)
{
	const uint64_t taken = f->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? f->operands[0].imm.value.u : 0;

	if (f->z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || f->z.mnemonic != ZYDIS_MNEMONIC_RET ||
	    taken > ARGUMENTS_MAX) {
		x86_path_end(f);
		return;
	}
	f->step->pc = x86_path_pop(f);
	path_move_sp(f->state, (int64_t)taken);
	f->step->next = PATH_RETURN;
}

/* Follows jmp, jcc, loop, jrcxz, and xbegin, which may continue at its fallback address. */
static void x86_path_follow_jump(struct x86_path_following *f, uint64_t next)
{
	if (f->operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !f->operands[0].imm.is_relative) {
		/* An indirect jump is treated as a tail call, whose function returns to the address at sp. is_jump says
		 * that it may be the jump of a switch instead. At such a jump, sp is usually not aligned as at a tail
		 * call. */
		f->step->pc = x86_path_pop(f);
		f->step->next = PATH_RETURN;
		f->step->is_jump = true;
		return;
	}
	f->step->next = f->z.mnemonic == ZYDIS_MNEMONIC_JMP ? PATH_JUMP : PATH_BRANCH;
	f->step->target = target_of(f, next);
}

static void x86_path_follow_one(struct x86_path_following *f, uint64_t next)
{
	const unsigned sp = f->state->arch->dwarf.sp, fp = x86_path_number_of(f, ZYDIS_REGISTER_EBP);
	struct path_value place;

	switch (f->z.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		follow_push(f);
		return;
	case ZYDIS_MNEMONIC_POP:
		follow_pop(f);
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		x86_path_set(f, sp, x86_path_value_of(f, fp));
		x86_path_set(f, fp, x86_path_pop(f));
		return;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		x86_path_follow_sum(f);
		return;
	case ZYDIS_MNEMONIC_MOV:
		follow_mov(f);
		return;
	case ZYDIS_MNEMONIC_LEA:
		place = x86_path_place_of(f, &f->operands[1]);
		x86_path_set(f, x86_path_number_of(f, f->operands[0].reg.value),
			     f->operands[0].size == f->mode->bits ? place : unknown);
		return;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_HLT:
		x86_path_end(f);
		return;
	default:
		break;
	}
	switch (f->z.meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		x86_path_forget_results(f);
		x86_path_follow_system(f);
		break;
	case ZYDIS_CATEGORY_CALL:
		follow_call(f, next);
		break;
	case ZYDIS_CATEGORY_RET:
		follow_return(f);
		break;
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		x86_path_follow_jump(f, next);
		break;
	default:
		x86_path_forget_results(f);
		break;
	}
}

bool x86_follow(const struct x86_mode *mode, struct path_state *state, const unsigned char *code, size_t size,
		struct path_step *step)
{
	struct x86_path_following f = {.mode = mode, .state = state, .step = step};
	const uint64_t address = state->address;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, mode->machine, mode->stack);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &f.z, f.operands)))
		return false;
	step->next = PATH_NEXT;
	step->is_jump = false;
	x86_path_follow_one(&f, address + f.z.length);
	state->address = address + f.z.length;
	return true;
}

/* Returns true if code begins by saving the frame pointer (32 or 64 bits wide, and in either encoding of mov), or with
 * endbr32 or endbr64. */
static bool x86_path_is_first(const unsigned char *code, size_t size)
{
	static const struct {
		unsigned char size, bytes[4];
	} first[] = {
		{4, {0x55, 0x48, 0x89, 0xe5}}, {4, {0x55, 0x48, 0x8b, 0xec}}, {3, {0x55, 0x89, 0xe5}},
		{3, {0x55, 0x8b, 0xec}},       {4, {0xf3, 0x0f, 0x1e, 0xfa}}, {4, {0xf3, 0x0f, 0x1e, 0xfb}},
	};

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (size >= first[i].size && !memcmp(code, first[i].bytes, first[i].size))
			return true;
	return false;
}

/* Returns true if the code before `end` probably does not continue at `end`: if it ends with ret, jmp, int3, ud2,
 * padding, or a call, which may never return. */
static bool x86_path_is_last(const unsigned char *end)
{
	if (end[-1] == 0xc3 || end[-1] == 0xcc || end[-1] == 0x90 || end[-5] == 0xe9 || end[-5] == 0xe8 ||
	    end[-2] == 0xeb || (end[-2] == 0x0f && end[-1] == 0x0b))
		return true;
	for (int length = 3; length <= 9 && !end[-1]; length++)
		if (end[-length] == 0x0f && end[1 - length] == 0x1f)
			return true;
	return false;
}

#define FUNCTION_ALIGNMENT 16

bool x86_may_begin(uint64_t address, const unsigned char *code, size_t size)
{
	return x86_path_is_first(code, size) || (address % FUNCTION_ALIGNMENT == 0 && x86_path_is_last(code));
}

/* Like x86_may_begin(), but also accepts any address after a return or a jump: gcc -Os does not align functions. */
bool x86_64_may_begin(uint64_t address, const unsigned char *code, size_t size)
{
	return x86_may_begin(address, code, size) || code[-1] == 0xc3 || code[-5] == 0xe9 || code[-2] == 0xeb;
}
