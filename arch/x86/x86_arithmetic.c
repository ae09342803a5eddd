/* Arithmetic of x86: see x86_arithmetic.h. The flags are those of the Intel SDM, volume 1, appendix A. */
#include "config.h"
#include "arch/x86/x86_arithmetic.h"

#define FLAGS_RESULT (FLAG_PARITY | FLAG_ZERO | FLAG_SIGN)

static void x86_arithmetic_set_flags(uint64_t *all, uint64_t which, uint64_t flags)
{
	*all = (*all & ~which) | (flags & which);
}

/* Returns SF, ZF and PF, which depend only on the result. Parity is that of the lowest byte. */
static uint64_t flags_of_result(uint64_t result, unsigned bits)
{
	return (result & x86_sign(bits) ? FLAG_SIGN : 0) | (result ? 0 : FLAG_ZERO) |
	       (__builtin_parity(result & 0xff) ? 0 : FLAG_PARITY);
}

uint64_t x86_add(uint64_t a, uint64_t b, unsigned bits, uint64_t *flags)
{
	const uint64_t result = (a + b) & x86_mask(bits);

	x86_arithmetic_set_flags(flags, FLAGS_RESULT | FLAG_CARRY | FLAG_AUXILIARY | FLAG_OVERFLOW,
				 flags_of_result(result, bits) | (result < a ? FLAG_CARRY : 0) |
					 ((a ^ b ^ result) & FLAG_AUXILIARY) |
					 ((a ^ result) & (b ^ result) & x86_sign(bits) ? FLAG_OVERFLOW : 0));
	return result;
}

uint64_t x86_subtract(uint64_t a, uint64_t b, unsigned bits, uint64_t *flags)
{
	const uint64_t result = (a - b) & x86_mask(bits);

	x86_arithmetic_set_flags(flags, FLAGS_RESULT | FLAG_CARRY | FLAG_AUXILIARY | FLAG_OVERFLOW,
				 flags_of_result(result, bits) | (a < b ? FLAG_CARRY : 0) |
					 ((a ^ b ^ result) & FLAG_AUXILIARY) |
					 ((a ^ b) & (a ^ result) & x86_sign(bits) ? FLAG_OVERFLOW : 0));
	return result;
}

uint64_t x86_logic(uint64_t result, unsigned bits, uint64_t *flags)
{
	x86_arithmetic_set_flags(flags, FLAGS_RESULT | FLAG_CARRY | FLAG_OVERFLOW, flags_of_result(result, bits));
	return result;
}

uint64_t x86_count(uint64_t value, bool up, unsigned bits, uint64_t *flags)
{
	const uint64_t carry = *flags;
	const uint64_t result = up ? x86_add(value, 1, bits, flags) : x86_subtract(value, 1, bits, flags);

	x86_arithmetic_set_flags(flags, FLAG_CARRY, carry);
	return result;
}

uint64_t x86_shift(ZydisMnemonic how, uint64_t value, unsigned places, unsigned bits, uint64_t *flags)
{
	const uint64_t wide = x86_sign_extend(value, bits);
	uint64_t result, overflow, which = FLAGS_RESULT;
	bool carry;

	places &= bits == 64 ? 63 : 31;
	if (!places)
		return value;
	if (how == ZYDIS_MNEMONIC_SHL) {
		result = value << places & x86_mask(bits);
		carry = places <= bits && (value >> (bits - places) & 1);
		overflow = (value ^ value << 1) & x86_sign(bits);
	} else if (how == ZYDIS_MNEMONIC_SHR) {
		result = value >> places;
		carry = value >> (places - 1) & 1;
		overflow = value & x86_sign(bits);
	} else {
		/* The sign is shifted in by unsigned operations, whose results C defines. */
		result = (wide >> places | (wide >> 63 ? ~(UINT64_MAX >> places) : 0)) & x86_mask(bits);
		carry = wide >> (places - 1) & 1;
		overflow = 0;
	}
	which |= FLAG_CARRY | (places == 1 ? FLAG_OVERFLOW : 0);
	x86_arithmetic_set_flags(flags, which,
				 flags_of_result(result, bits) | (carry ? FLAG_CARRY : 0) |
					 (overflow ? FLAG_OVERFLOW : 0));
	return result;
}

bool x86_condition(unsigned condition, uint64_t flags)
{
	const bool is_less = !(flags & FLAG_SIGN) != !(flags & FLAG_OVERFLOW);
	bool holds;

	switch (condition >> 1 & 7) {
	case 0:
		holds = flags & FLAG_OVERFLOW;
		break;
	case 1:
		holds = flags & FLAG_CARRY;
		break;
	case 2:
		holds = flags & FLAG_ZERO;
		break;
	case 3:
		holds = flags & (FLAG_CARRY | FLAG_ZERO);
		break;
	case 4:
		holds = flags & FLAG_SIGN;
		break;
	case 5:
		holds = flags & FLAG_PARITY;
		break;
	case 6:
		holds = is_less;
		break;
	default:
		holds = is_less || (flags & FLAG_ZERO);
		break;
	}
	return holds != (condition & 1);
}
