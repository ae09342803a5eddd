/* Returns true if a copy of the instruction must be near it. */
#ifndef FT_TESTS_ARCH_REACH_H
#define FT_TESTS_ARCH_REACH_H

#include "arch/arch.h"

#include <errno.h>

static inline bool needs_reach(const struct arch *arch, const struct insn *insn)
{
	struct insn_copy copy;

	return arch->insns.relocate(insn, insn->address + (UINT64_C(1) << 44), &copy) == -ERANGE;
}

#endif
