/* Arithmetic of x86 on values of 8 to 64 bits. Each function returns the result and sets the flags. The bits of a value
 * above its size are zero. Flags that the processor leaves undefined are not changed, except the carry in
 * x86_shift(). */
#ifndef FT_ARCH_X86_X86_ARITHMETIC_H
#define FT_ARCH_X86_X86_ARITHMETIC_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdint.h>

#define FLAG_CARRY     0x001u
#define FLAG_PARITY    0x004u
#define FLAG_AUXILIARY 0x010u
#define FLAG_ZERO      0x040u
#define FLAG_SIGN      0x080u
#define FLAG_TRAP      0x100u
#define FLAG_OVERFLOW  0x800u
#define FLAG_ALIGNMENT 0x40000u

static inline uint64_t x86_mask(unsigned bits)
{
	return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static inline uint64_t x86_sign(unsigned bits)
{
	return UINT64_C(1) << (bits - 1);
}

static inline uint64_t x86_sign_extend(uint64_t value, unsigned bits)
{
	return (value ^ x86_sign(bits)) - x86_sign(bits);
}

uint64_t x86_add(uint64_t a, uint64_t b, unsigned bits, uint64_t *flags);
uint64_t x86_subtract(uint64_t a, uint64_t b, unsigned bits, uint64_t *flags);
/* Sets the flags for a result of and, or, xor or test. The auxiliary carry is undefined. */
uint64_t x86_logic(uint64_t result, unsigned bits, uint64_t *flags);
/* Computes inc (up) or dec, which do not change the carry. */
uint64_t x86_count(uint64_t value, bool up, unsigned bits, uint64_t *flags);
/* Computes shl, shr or sar. A count of 0 changes no flags. The carry is the last bit shifted out, and is undefined for
 * shl and shr by `bits` or more. The overflow is defined only for a count of 1, the auxiliary carry never. */
uint64_t x86_shift(ZydisMnemonic how, uint64_t value, unsigned places, unsigned bits, uint64_t *flags);

/* Returns true if the condition of a jcc, cmovcc or setcc holds. condition: the low four bits of the opcode. */
bool x86_condition(unsigned condition, uint64_t flags);

#endif
