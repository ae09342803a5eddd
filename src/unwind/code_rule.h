/* Finds the rule for a frame that no table describes, by following its code to the function's returns. */
#ifndef FT_UNWIND_CODE_RULE_H
#define FT_UNWIND_CODE_RULE_H

#include "arch/path.h"
#include "unwind/rows.h"

/* The source of the code. */
struct code_reader {
	/* Reads `size` bytes at an address. Returns how many were read, or 0. */
	size_t (*read)(void *context, uint64_t address, unsigned char *data, size_t size);
	void *context;
};

/* The rule that all paths from an address to a return agree on. The caller's sp is the base's value plus cfa. */
struct code_rule {
	unsigned char base;
	int32_t cfa;
	struct path_value pc; /* in memory, relative to that base; or the register dwarf.link */
	/* the caller's: in memory relative to that base, unchanged, or unknown */
	struct path_value registers[PATH_REGISTERS];
	uint64_t start, end; /* range of the code that was read, for all paths */
};

/* Finds the rule for a pc after a call, with the bits of code_state. Returns false if the code does not show a rule
 * or is ambiguous. The time is bounded for any code. */
bool code_rule_find(const struct arch *arch, uint64_t pc, const struct code_reader *reader, struct code_rule *rule);

/* The same for a pc that a signal has interrupted, with the sp at that pc. */
bool code_rule_find_interrupted(const struct arch *arch, uint64_t pc, uint64_t sp, const struct code_reader *reader,
				struct code_rule *rule);

#endif
