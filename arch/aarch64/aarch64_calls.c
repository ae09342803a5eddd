/* Analyses AArch64 code near a call: finds the call's target, and changes of the stack pointer. */
#include "config.h"
#include "arch/aarch64/aarch64.h"

#define INSNS_MAX 24 /* number of instructions after a direct call in which an indirect jump is searched for */
#define STACK     31 /* the register number that means sp as a base or a result */

/* Returns true for blr, and its variants with authentication. */
static bool is_register_call(uint32_t word)
{
	return (word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfffff81f) == 0xd63f081f ||
	       (word & 0xfffff800) == 0xd73f0800;
}

static bool is_direct_call(uint32_t word)
{
	return (word & 0xfc000000) == 0x94000000;
}

enum arch_call a64_follows_call(uint64_t address, const unsigned char *code, size_t size)
{
	if (size < A64_INSN_SIZE || address % A64_INSN_SIZE)
		return CALL_NONE;
	const uint32_t word = a64_get(code + size - A64_INSN_SIZE);

	return is_direct_call(word) ? CALL_FIXED : is_register_call(word) ? CALL_COMPUTED : CALL_NONE;
}

/* ---- Procedure linkage: adrp x16, page; ldr x17, [x16, #offset]; add x16, x16, #offset; br x17 ---- */

/* The known content of a register: nothing is known, or it contains `address`, or the word at `address`. */
struct aarch64_calls_known {
	enum { KNOWN_NOTHING, KNOWN_ADDRESS, KNOWN_LOADED } what;
	uint64_t address;
};

/* Returns true if an instruction may write registers that its fields do not name: those after a named register (casp,
 * pairs of system registers, ld64b), or fixed registers (autia1716, chkfeat). */
static bool has_hidden_results(uint32_t word)
{
	return word >> 24 == 0xd5 || (word & 0x3e000000) == 0x08000000 || (word & 0x3b200c00) == 0x38200000;
}

/* Marks as unknown all registers that an instruction may write: those in the fields that may name a result, and all
 * registers if it has hidden results. */
static void aarch64_calls_forget_results(struct aarch64_calls_known *registers, uint32_t word)
{
	static const unsigned char fields[] = {0, 5, 10, 16};

	for (size_t i = 0; i <= STACK && has_hidden_results(word); i++)
		registers[i].what = KNOWN_NOTHING;
	for (size_t i = 0; i < sizeof(fields); i++)
		registers[a64_bits(word, fields[i], 5)].what = KNOWN_NOTHING;
}

static void aarch64_calls_follow(struct aarch64_calls_known *registers, uint32_t word, uint64_t address)
{
	const unsigned to = a64_bits(word, 0, 5);
	const struct aarch64_calls_known base = registers[a64_bits(word, 5, 5)];
	struct aarch64_calls_known result = {KNOWN_NOTHING, 0};

	if (a64_is_nop(word))
		return;
	if (a64_is_adr(word)) {
		result = (struct aarch64_calls_known){KNOWN_ADDRESS, a64_adr_value(word, address)};
	} else if ((word & 0xff800000) == 0x91000000 && base.what == KNOWN_ADDRESS) { /* add of an immediate */
		const unsigned shift = a64_bits(word, 22, 1) ? 12 : 0;

		result = (struct aarch64_calls_known){KNOWN_ADDRESS,
						      base.address + ((uint64_t)a64_bits(word, 10, 12) << shift)};
	} else if ((word & 0xffc00000) == 0xf9400000 && base.what == KNOWN_ADDRESS) { /* ldr, of 64 bits */
		result = (struct aarch64_calls_known){KNOWN_LOADED,
						      base.address + ((uint64_t)a64_bits(word, 10, 12) << 3)};
	} else {
		aarch64_calls_forget_results(registers, word);
		return;
	}
	registers[to] = result;
	registers[STACK].what = KNOWN_NOTHING;
}

bool a64_call_slot(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot)
{
	(void)got;
	struct aarch64_calls_known registers[STACK + 1] = {0};
	unsigned char bytes[A64_INSN_SIZE];
	uint64_t address = return_address - A64_INSN_SIZE;

	if (code->read(code->context, address, bytes, sizeof(bytes)) || !is_direct_call(a64_get(bytes)))
		return false;
	address = a64_branch_target(a64_get(bytes), address);
	for (unsigned n = 0; n < INSNS_MAX && !code->read(code->context, address, bytes, sizeof(bytes)); n++) {
		const uint32_t word = a64_get(bytes);

		if ((word & 0xfffffc1f) == 0xd61f0000) { /* br */
			const struct aarch64_calls_known target = registers[a64_bits(word, 5, 5)];

			*slot = target.address;
			return target.what == KNOWN_LOADED;
		}
		if ((word & 0xfc000000) == 0x14000000) { /* b */
			address = a64_branch_target(word, address);
			continue;
		}
		if (!a64_falls_through(word))
			return false;
		aarch64_calls_follow(registers, word, address);
		address += A64_INSN_SIZE;
	}
	return false;
}

/* ---- The stack pointer ---- */

static bool aarch64_calls_is_sp(uint32_t word, unsigned first)
{
	return a64_bits(word, first, 5) == STACK;
}

/* Returns true if the instruction sets sp to a value that is not sp plus a constant. Loads and stores with writeback
 * only add a constant to their base register, except the vector loads and stores ld1 to st4, which may add a
 * register. */
static bool aarch64_calls_gives_value(uint32_t word)
{
	if ((word & 0x9f800000) == 0x0c800000) /* ld1 to st4 with writeback */
		return aarch64_calls_is_sp(word, 5) && a64_bits(word, 16, 5) != STACK;
	if (!aarch64_calls_is_sp(word, 0))
		return false;
	if ((word & 0x3f800000) == 0x11000000) /* add, sub of an immediate without flags; mov to sp */
		return !aarch64_calls_is_sp(word, 5);
	if ((word & 0xbfc00000) == 0x91800000) /* addg, subg */
		return !aarch64_calls_is_sp(word, 5);
	if ((word & 0x1f800000) == 0x12000000)            /* logical, of an immediate */
		return (word & 0x60000000) != 0x60000000; /* ands to register 31 is tst, which does not write sp */
	if ((word & 0x3fe00000) == 0x0b200000)            /* add, sub of an extended register, without flags */
		return true;
	if ((word & 0xffe0fc00) == 0x9ac01000) /* irg */
		return true;
	return (word & 0xffa0f000) == 0x04205000; /* addvl, addpl; not rdvl, which cannot write sp */
}

/* Returns true for instructions after which the code does not continue at the next one: br, ret and their variants, b,
 * udf, brk, retaasppc and retabsppc. */
static bool aarch64_calls_goes_elsewhere(uint32_t word)
{
	if ((word & 0xffc0001f) == 0x5500001f)
		return true;
	if ((word & 0xfc000000) == 0x14000000 || word >> 16 == 0 || (word & 0xffe0001f) == 0xd4200000)
		return true;
	return word >> 25 == 0x6b && !(word & 0x00200000); /* br, ret and the like; blr and its variants set bit 21 */
}

bool a64_sets_sp(const unsigned char *code, size_t size, bool *ever)
{
	bool is_set = false;

	*ever = false;
	for (size_t at = 0; at + A64_INSN_SIZE <= size; at += A64_INSN_SIZE) {
		const uint32_t word = a64_get(code + at);

		is_set = !aarch64_calls_goes_elsewhere(word) && (is_set || aarch64_calls_gives_value(word));
		*ever |= is_set;
	}
	return is_set;
}
