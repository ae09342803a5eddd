/* Finds calls in x86 code: whether a call precedes an address, and the call's target through procedure linkage. */
#include "config.h"
#include "arch/x86/x86_arithmetic.h"
#include "arch/x86/x86_insn.h"

#include <Zydis/Zydis.h>
#include <string.h>

/* ---- Breakpoints ---- */

unsigned x86_breakpoint(uint64_t address, unsigned char bytes[ARCH_BREAKPOINT_MAX])
{
	(void)address;
	bytes[0] = 0xcc;
	return 1;
}

uint64_t x86_breakpoint_address(uint64_t pc)
{
	return pc - 1;
}

/* ---- The call before an address ---- */

/* Returns the length of an indirect near call (ff /2) from its opcode on, or 0 for other code. `size` is at least 2. */
static size_t indirect_call_length(const unsigned char *code, size_t size)
{
	const unsigned char mod = code[1] >> 6, rm = code[1] & 7;
	size_t length = 2;

	if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
		return 0;
	if (mod == 3)
		return length;
	if (rm == 4) {
		if (size < 3)
			return 0;
		length++;
		if (mod == 0 && (code[2] & 7) == 5)
			length += 4;
	} else if (mod == 0 && rm == 5) {
		length += 4;
	}
	return length + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Returns the kind of call at the end of the code. Ignores prefixes, because they precede the opcode: a call ends with
 * the same bytes if it has REX, notrack (3e), bnd (f2), or the padding of a call to __tls_get_addr (66 66 48, 67). */
enum arch_call x86_follows_call(uint64_t address, const unsigned char *code, size_t size)
{
	enum arch_call call = size >= 5 && code[size - 5] == 0xe8 ? CALL_FIXED : CALL_NONE;

	(void)address;
	for (size_t length = 2; length <= 7 && length <= size; length++) {
		const unsigned char *start = code + size - length;

		if (indirect_call_length(start, length) != length)
			continue;
		if ((start[1] & 0xc7) != 5) /* form 5: the pointer is at a fixed address, or relative to the pc */
			return CALL_COMPUTED;
		call = CALL_FIXED;
	}
	return call;
}

/* Like x86_follows_call(), but returns CALL_SYSTEM for call *%gs:N, with which C libraries call the entry of the [vdso]
 * through a pointer in the thread's variables. */
enum arch_call i386_follows_call(uint64_t address, const unsigned char *code, size_t size)
{
	static const unsigned char by_thread[] = {0x65, 0xff, 0x15};
	const enum arch_call call = x86_follows_call(address, code, size);
	const size_t length = sizeof(by_thread) + sizeof(uint32_t);

	if (call == CALL_FIXED && size >= length && !memcmp(code + size - length, by_thread, sizeof(by_thread)))
		return CALL_SYSTEM;
	return call;
}

/* ---- The target of a call ---- */

#define INSNS_MAX 24    /* number of instructions after a direct call in which an indirect jump is searched for */
#define CODE_PAGE 4096u /* if the next page is unmapped, an instruction is read only up to a multiple of this */

static uint64_t displaced(uint64_t from, const unsigned char *displacement)
{
	int32_t distance;

	memcpy(&distance, displacement, sizeof(distance));
	return from + (uint64_t)(int64_t)distance;
}

static bool x86_calls_decode_at(const struct x86_mode *mode, uint64_t address, const struct arch_memory *code,
				unsigned char bytes[ARCH_INSN_MAX], ZydisDecodedInstruction *z)
{
	const size_t in_page = CODE_PAGE - address % CODE_PAGE;
	size_t size = ARCH_INSN_MAX;
	ZydisDecoder decoder;
	ZydisDecoderContext context;

	if (code->read(code->context, address, bytes, size)) {
		if (in_page >= size || code->read(code->context, address, bytes, in_page))
			return false;
		size = in_page;
	}
	ZydisDecoderInit(&decoder, mode->machine, mode->stack);
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes, size, z));
}

/* Returns true if the code always continues at the next instruction in memory. */
static bool falls_through(const ZydisDecodedInstruction *z)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
		return false;
	default:
		return z->meta.branch_type == ZYDIS_BRANCH_TYPE_NONE;
	}
}

/* The mode, and the address of the global offset table (GOT), from which the addresses of its slots are computed. */
struct linkage {
	const struct x86_mode *mode;
	uint64_t got;
};

/* Returns true if the base register of an operand may contain the address of the global offset table. In a stub of the
 * procedure linkage table, this register is ebx. A function that uses the global offset table without such a stub may
 * have the table's address in any register. The slots of functions are below that address, so with another register
 * than ebx the displacement must be negative: words above the register's value may be a table of functions. */
static bool is_got_based(const struct linkage *linkage, unsigned char form, int64_t displacement)
{
	const unsigned base = form & 7;

	return linkage->mode->bits == 32 && linkage->got && base != 4 && (base == 3 || displacement < 0);
}

/* Returns the GOT slot to which the operand of an indirect call or jump refers; 0 if there is none. `operand` begins
 * with the ModRM byte and has `size` bytes; `next` is the address after it. In 64-bit code, slots are relative to
 * `next`. In 32-bit code, they have absolute addresses, or are relative to the global offset table. */
static uint64_t operand_slot(const struct linkage *linkage, const unsigned char *operand, size_t size, uint64_t next)
{
	const unsigned char form = operand[0] & 0xc7;
	uint64_t from = linkage->got, distance = 0;

	if (size == 5)
		distance = displaced(0, operand + 1);
	else if (size == 2)
		distance = (uint64_t)(int64_t)(int8_t)operand[1];
	if (size == 5 && form == 0x05)
		from = linkage->mode->bits == 64 ? next : 0;
	else if (form >> 6 != (size == 5 ? 2 : size == 2 ? 1 : 3) || !is_got_based(linkage, form, (int64_t)distance))
		return 0;
	return (from + distance) & x86_mask(linkage->mode->bits);
}

static bool is_indirect_jump(const struct x86_mode *mode, const ZydisDecodedInstruction *z)
{
	return z->mnemonic == ZYDIS_MNEMONIC_JMP && z->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR &&
	       !z->raw.imm[0].is_relative && z->address_width == mode->bits &&
	       !(z->attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS));
}

/* Finds the GOT slot of the indirect jump that the code at `address` reaches. Returns false if the code does not always
 * reach an indirect jump through a GOT slot. */
static bool x86_calls_jump_slot(const struct linkage *linkage, uint64_t address, const struct arch_memory *code,
				uint64_t *slot)
{
	unsigned char bytes[ARCH_INSN_MAX];
	ZydisDecodedInstruction z;

	for (unsigned n = 0; n < INSNS_MAX && x86_calls_decode_at(linkage->mode, address, code, bytes, &z); n++) {
		const uint64_t next = (address + z.length) & x86_mask(linkage->mode->bits);
		const unsigned operand = z.raw.modrm.offset;

		if (is_indirect_jump(linkage->mode, &z)) {
			const uint64_t found = operand_slot(linkage, bytes + operand, z.length - operand, next);

			if (found)
				*slot = found;
			return found != 0;
		}
		if (z.mnemonic == ZYDIS_MNEMONIC_JMP && z.raw.imm[0].is_relative)
			address = (next + (uint64_t)z.raw.imm[0].value.s) & x86_mask(linkage->mode->bits);
		else if (falls_through(&z))
			address = next;
		else
			return false;
	}
	return false;
}

/* Finds the GOT slot of the call before a return address. A direct call is encoded as e8 and four bytes; an indirect
 * call as ff, the ModRM byte, and four bytes or one. */
bool x86_call_slot(const struct x86_mode *mode, uint64_t return_address, uint64_t got, const struct arch_memory *code,
		   uint64_t *slot)
{
	const struct linkage linkage = {mode, got};
	unsigned char call[5], before;
	uint64_t found = 0;

	if (code->read(code->context, return_address - sizeof(call), call, sizeof(call)))
		return false;
	if (call[0] == 0xe8)
		return x86_calls_jump_slot(&linkage, displaced(return_address, call + 1) & x86_mask(mode->bits), code,
					   slot);
	if ((call[0] & 0x38) == 0x10 && !code->read(code->context, return_address - sizeof(call) - 1, &before, 1) &&
	    before == 0xff)
		found = operand_slot(&linkage, call, sizeof(call), return_address);
	if (!found && call[2] == 0xff && (call[3] & 0x38) == 0x10)
		found = operand_slot(&linkage, call + 3, 2, return_address);
	if (found)
		*slot = found;
	return found != 0;
}
