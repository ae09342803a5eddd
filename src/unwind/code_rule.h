/* Finds the rule for a frame that no table describes, by following the frame's code to the function's returns. */
#ifndef FT_UNWIND_CODE_RULE_H
#define FT_UNWIND_CODE_RULE_H

#include "arch/path.h"
#include "unwind/cfi_rows.h"

/* How the code is read. */
struct code_reader {
	/* Reads `size` bytes at an address. Returns the number of bytes read, or 0. */
	size_t (*read)(void *context, uint64_t address, unsigned char *data, size_t size);
	void *context;
};

/* A rule that code shows: where a frame's return address and the caller's registers are. The caller's sp is the value
 * of register `base` plus `cfa`. */
struct code_rule {
	unsigned char base;
	int32_t cfa;
	struct path_value pc; /* location of the return address: memory relative to `base`, or register dwarf.link */
	/* for each register, location of the caller's value: in memory relative to `base`, unchanged, or unknown */
	struct path_value registers[PATH_REGISTERS];
	uint64_t start, end; /* range of the code that was read on all paths */
};

/* Finds the rule for a pc after a call. `pc` includes the bits of code_state. Returns false if the code does not
 * show a rule, or shows several. The time is bounded for any code. */
bool code_rule_find(const struct arch *arch, uint64_t pc, const struct code_reader *reader, struct code_rule *rule);

/* Does the same as code_rule_find() for a pc that a signal has interrupted. sp: the stack pointer at that pc. */
bool code_rule_find_interrupted(const struct arch *arch, uint64_t pc, uint64_t sp, const struct code_reader *reader,
				struct code_rule *rule);

#endif
