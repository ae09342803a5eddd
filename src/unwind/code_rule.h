/* The rule for a frame whose code no table describes, found by following the code to where the function returns. */
#ifndef FT_UNWIND_CODE_RULE_H
#define FT_UNWIND_CODE_RULE_H

#include "arch/path.h"
#include "unwind/rows.h"

/* Where the code is read. */
struct code_reader {
	/* How many of `size` bytes at an address have been read, or 0. */
	size_t (*read)(void *context, uint64_t address, unsigned char *data, size_t size);
	void *context;
};

/* What all paths from an address to a return agree on. The caller's sp is the base's value plus cfa. */
struct code_rule {
	unsigned char base;
	int32_t cfa;
	struct path_value pc;                        /* in memory, from that base on; or the register of dwarf.link */
	struct path_value registers[PATH_REGISTERS]; /* the caller's: of that base, as they are, or unknown */
	uint64_t start, end;                         /* the code that was read, of all paths */
};

/* Finds the rule for a pc behind a call, with the bits of code_state. False: the code does not show it, or can be read
 * in several ways. Bounded for any code. */
bool code_rule_find(const struct arch *arch, uint64_t pc, const struct code_reader *reader, struct code_rule *rule);

/* The same for a pc that a signal has interrupted, with the sp that it had. */
bool code_rule_find_interrupted(const struct arch *arch, uint64_t pc, uint64_t sp, const struct code_reader *reader,
				struct code_rule *rule);

#endif
