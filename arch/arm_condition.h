/* The conditions of ARM's instructions, which are the same in all three instruction sets (A32, Thumb, A64). */
#ifndef FT_ARCH_ARM_CONDITION_H
#define FT_ARCH_ARM_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of cpsr and pstate. */
#define FLAG_N 0x80000000u
#define FLAG_Z 0x40000000u
#define FLAG_C 0x20000000u
#define FLAG_V 0x10000000u

/* Returns true if a condition, 0 (eq) to 15, holds with the flags in a cpsr or pstate. */
static inline bool arm_condition_holds(unsigned condition, uint64_t state)
{
	const bool n = state & FLAG_N, z = state & FLAG_Z, c = state & FLAG_C, v = state & FLAG_V;
	bool result = true;

	switch (condition >> 1) {
	case 0:
		result = z;
		break;
	case 1:
		result = c;
		break;
	case 2:
		result = n;
		break;
	case 3:
		result = v;
		break;
	case 4:
		result = c && !z;
		break;
	case 5:
		result = n == v;
		break;
	case 6:
		result = n == v && !z;
		break;
	default:
		return true; /* 14 and 15 both mean "always" */
	}
	return result != (condition & 1);
}

#endif
