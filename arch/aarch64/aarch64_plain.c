/* Emulates the most frequent instructions of AArch64 whose effect does not depend on their address: functions begin
 * with such instructions, and calls are followed by them. functrace emulates them where there is no room for copies. */
#include "config.h"
#include "arch/aarch64/aarch64.h"
#include "arch/arm_condition.h"

#include <errno.h>

#define LAST_REGISTER 31 /* means sp or zero, depending on the field */
#define STACK_ALIGN   16u

enum aarch64_plain_form {
	FORM_NONE,
	FORM_ADD_IMMEDIATE, /* add, sub, cmp, cmn; also mov from and to sp */
	FORM_ADD_REGISTER,  /* the same instructions with a shifted register; neg */
	FORM_LOGIC,         /* and, orr, eor, ands and their negated variants, with a shifted register; mov, mvn, tst */
	FORM_WIDE,          /* movz, movn, movk */
	FORM_PAIR,          /* ldp, stp of general registers */
	FORM_SINGLE,        /* ldr, str of a general register, of all widths, without a register offset */
};

/* ---- Registers ---- */

static bool is_wide(uint32_t word)
{
	return word >> 31;
}

static uint64_t get_or_sp(const struct arch_regs *regs, unsigned number)
{
	return regs->words[number];
}

static uint64_t get_or_zero(const struct arch_regs *regs, unsigned number)
{
	return number == LAST_REGISTER ? 0 : regs->words[number];
}

static void set_or_zero(struct arch_regs *regs, unsigned number, uint64_t value)
{
	if (number != LAST_REGISTER)
		regs->words[number] = value;
}

static uint64_t cut_to_width(uint64_t value, bool wide)
{
	return wide ? value : (uint32_t)value;
}

/* ---- Arithmetic ---- */

static void aarch64_plain_set_flags(struct arch_regs *regs, bool n, bool z, bool c, bool v)
{
	const uint64_t others = regs->words[A64_PSTATE] & ~(uint64_t)(FLAG_N | FLAG_Z | FLAG_C | FLAG_V);

	regs->words[A64_PSTATE] = others | (n ? FLAG_N : 0) | (z ? FLAG_Z : 0) | (c ? FLAG_C : 0) | (v ? FLAG_V : 0);
}

static bool is_negative(uint64_t value, bool wide)
{
	return value >> (wide ? 63 : 31) & 1;
}

/* Adds, or subtracts if bit 30 is set; sets the flags if bit 29 is set. a and b have the operation's width. */
static uint64_t aarch64_plain_add(uint32_t word, struct arch_regs *regs, uint64_t a, uint64_t b)
{
	const bool wide = is_wide(word), subtracts = a64_bits(word, 30, 1);
	const uint64_t result = cut_to_width(subtracts ? a - b : a + b, wide);

	if (a64_bits(word, 29, 1)) {
		const bool carry = subtracts ? a >= b : result < a;
		const uint64_t other = subtracts ? ~b : b;

		aarch64_plain_set_flags(regs, is_negative(result, wide), !result, carry,
					is_negative((a ^ result) & (other ^ result), wide));
	}
	return result;
}

static void add_immediate(uint32_t word, struct arch_regs *regs)
{
	const bool wide = is_wide(word), sets_flags = a64_bits(word, 29, 1);
	const unsigned to = a64_bits(word, 0, 5);
	const uint64_t immediate = (uint64_t)a64_bits(word, 10, 12) << (a64_bits(word, 22, 1) ? 12 : 0);
	const uint64_t result =
		aarch64_plain_add(word, regs, cut_to_width(get_or_sp(regs, a64_bits(word, 5, 5)), wide), immediate);

	if (!sets_flags || to != LAST_REGISTER)
		regs->words[to] = result;
}

static uint64_t aarch64_plain_shifted(uint32_t word, const struct arch_regs *regs)
{
	const bool wide = is_wide(word);
	const uint64_t value = cut_to_width(get_or_zero(regs, a64_bits(word, 16, 5)), wide);
	const unsigned amount = a64_bits(word, 10, 6), width = wide ? 64 : 32;

	switch (a64_bits(word, 22, 2)) {
	case 0:
		return cut_to_width(value << amount, wide);
	case 1:
		return value >> amount;
	case 2:
		return cut_to_width((uint64_t)((wide ? (int64_t)value : (int32_t)value) >> amount), wide);
	default:
		return amount ? cut_to_width(value >> amount | value << (width - amount), wide) : value;
	}
}

static void aarch64_plain_add_register(uint32_t word, struct arch_regs *regs)
{
	const uint64_t a = cut_to_width(get_or_zero(regs, a64_bits(word, 5, 5)), is_wide(word));

	set_or_zero(regs, a64_bits(word, 0, 5), aarch64_plain_add(word, regs, a, aarch64_plain_shifted(word, regs)));
}

static void logic(uint32_t word, struct arch_regs *regs)
{
	const bool wide = is_wide(word);
	const uint64_t a = cut_to_width(get_or_zero(regs, a64_bits(word, 5, 5)), wide);
	uint64_t b = aarch64_plain_shifted(word, regs), result;

	if (a64_bits(word, 21, 1))
		b = cut_to_width(~b, wide);
	switch (a64_bits(word, 29, 2)) {
	case 1:
		result = a | b;
		break;
	case 2:
		result = a ^ b;
		break;
	default:
		result = a & b;
		break;
	}
	if (a64_bits(word, 29, 2) == 3)
		aarch64_plain_set_flags(regs, is_negative(result, wide), !result, false, false);
	set_or_zero(regs, a64_bits(word, 0, 5), result);
}

static void move_wide(uint32_t word, struct arch_regs *regs)
{
	const unsigned to = a64_bits(word, 0, 5), shift = 16 * a64_bits(word, 21, 2);
	const uint64_t part = (uint64_t)a64_bits(word, 5, 16) << shift, mask = (uint64_t)0xffff << shift;
	const unsigned what = a64_bits(word, 29, 2);
	const uint64_t value = what == 0 ? ~part : what == 2 ? part : (get_or_zero(regs, to) & ~mask) | part;

	set_or_zero(regs, to, cut_to_width(value, is_wide(word)));
}

/* ---- Memory ---- */

/* A load or a store. */
struct access {
	unsigned registers[2], count, base;
	unsigned size; /* bytes of each register */
	bool is_load, is_signed, wide;
	bool writes_back, is_after; /* the base is changed; is_after: the address is the old base (post-index) */
	int64_t offset;
};

static struct access aarch64_plain_pair_of(uint32_t word)
{
	const bool wide = is_wide(word);
	const unsigned mode = a64_bits(word, 23, 2);

	return (struct access){.registers = {a64_bits(word, 0, 5), a64_bits(word, 10, 5)},
			       .count = 2,
			       .base = a64_bits(word, 5, 5),
			       .size = wide ? 8 : 4,
			       .is_load = a64_bits(word, 22, 1),
			       .wide = wide,
			       .writes_back = mode == 1 || mode == 3,
			       .is_after = mode == 1,
			       .offset = a64_signed(word, 15, 7) * (wide ? 8 : 4)};
}

static struct access single_of(uint32_t word)
{
	const unsigned log = word >> 30, how = a64_bits(word, 22, 2), mode = a64_bits(word, 10, 2);
	const bool is_scaled = a64_bits(word, 24, 1);

	return (struct access){.registers = {a64_bits(word, 0, 5)},
			       .count = 1,
			       .base = a64_bits(word, 5, 5),
			       .size = 1u << log,
			       .is_load = how,
			       .is_signed = how >= 2,
			       .wide = how == 2 || log == 3,
			       .writes_back = !is_scaled && mode,
			       .is_after = !is_scaled && mode == 1,
			       .offset = is_scaled ? (int64_t)a64_bits(word, 10, 12) << log : a64_signed(word, 12, 9)};
}

static void aarch64_plain_put(unsigned char *bytes, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t aarch64_plain_get(const unsigned char *bytes, const struct access *a)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < a->size; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	if (a->is_signed)
		value = (uint64_t)((int64_t)(value << (64 - 8 * a->size)) >> (64 - 8 * a->size));
	return cut_to_width(value, a->wide);
}

static int transfer(const struct access *a, struct arch_regs *regs, const struct arch_memory *mem)
{
	const uint64_t base = get_or_sp(regs, a->base), moved = base + (uint64_t)a->offset;
	const uint64_t address = a->is_after ? base : moved;
	unsigned char bytes[16];
	int error;

	/* Two cases are not emulated: an address with a tag, which the processor may check, and a misaligned stack
	 * pointer, which faults. */
	if (address >> 56 || (a->base == LAST_REGISTER && base % STACK_ALIGN))
		return -EFAULT;
	if (a->is_load) {
		error = mem->read(mem->context, address, bytes, (size_t)a->size * a->count);
	} else {
		for (unsigned i = 0; i < a->count; i++)
			aarch64_plain_put(bytes + i * a->size, get_or_zero(regs, a->registers[i]), a->size);
		error = mem->write(mem->context, address, bytes, (size_t)a->size * a->count);
	}
	if (error)
		return error;
	for (unsigned i = 0; a->is_load && i < a->count; i++)
		set_or_zero(regs, a->registers[i], aarch64_plain_get(bytes + i * a->size, a));
	if (a->writes_back)
		regs->words[a->base] = moved;
	return 0;
}

/* Returns true if the architecture does not define the effect: the base is written back and also transferred, or one
 * register is loaded twice. */
static bool is_open(const struct access *a)
{
	const bool is_base = a->registers[0] == a->base || (a->count == 2 && a->registers[1] == a->base);

	if (a->writes_back && a->base != LAST_REGISTER && is_base)
		return true;
	return a->is_load && a->count == 2 && a->registers[0] == a->registers[1];
}

/* ---- Dispatch ---- */

static enum aarch64_plain_form pair_form(uint32_t word)
{
	const struct access a = aarch64_plain_pair_of(word);

	/* excludes ldpsw, stgp; stnp, ldnp */
	return a64_bits(word, 30, 1) || !a64_bits(word, 23, 2) || is_open(&a) ? FORM_NONE : FORM_PAIR;
}

static enum aarch64_plain_form single_form(uint32_t word)
{
	const unsigned log = word >> 30, how = a64_bits(word, 22, 2), mode = a64_bits(word, 10, 2);
	const struct access a = single_of(word);

	if (how >= 2 && log + how >= 5) /* a prefetch, or an encoding that is not allocated */
		return FORM_NONE;
	if (!a64_bits(word, 24, 1) && (a64_bits(word, 21, 1) || mode == 2)) /* register offset, atomic, unprivileged */
		return FORM_NONE;
	return is_open(&a) ? FORM_NONE : FORM_SINGLE;
}

static enum aarch64_plain_form form_of(uint32_t word)
{
	const bool fits = is_wide(word) || !a64_bits(word, 15, 1); /* the shift amount is in range */

	if ((word & 0x1f800000) == 0x11000000)
		return FORM_ADD_IMMEDIATE;
	if ((word & 0x1f200000) == 0x0b000000)
		return fits && a64_bits(word, 22, 2) != 3 ? FORM_ADD_REGISTER : FORM_NONE;
	if ((word & 0x1f000000) == 0x0a000000)
		return fits ? FORM_LOGIC : FORM_NONE;
	if ((word & 0x1f800000) == 0x12800000)
		return a64_bits(word, 29, 2) != 1 && (is_wide(word) || !a64_bits(word, 22, 1)) ? FORM_WIDE : FORM_NONE;
	if ((word & 0x3e000000) == 0x28000000)
		return pair_form(word);
	if ((word & 0x3e000000) == 0x38000000)
		return single_form(word);
	return FORM_NONE;
}

bool a64_can_emulate(uint32_t word)
{
	return form_of(word) != FORM_NONE;
}

int a64_emulate_plain(uint32_t word, struct arch_regs *regs, const struct arch_memory *mem)
{
	struct access access;

	switch (form_of(word)) {
	case FORM_ADD_IMMEDIATE:
		add_immediate(word, regs);
		return 0;
	case FORM_ADD_REGISTER:
		aarch64_plain_add_register(word, regs);
		return 0;
	case FORM_LOGIC:
		logic(word, regs);
		return 0;
	case FORM_WIDE:
		move_wide(word, regs);
		return 0;
	case FORM_PAIR:
		access = aarch64_plain_pair_of(word);
		return transfer(&access, regs, mem);
	case FORM_SINGLE:
		access = single_of(word);
		return transfer(&access, regs, mem);
	default:
		return -EINVAL;
	}
}
