/* How ARM's ELF files say how to unwind a function (EHABI): an index of functions, .ARM.exidx, and for each some bytes
 * of instructions, there or in .ARM.extab. They hold where the function has made a call, not in its prologue. */
#ifndef FT_UNWIND_EXIDX_H
#define FT_UNWIND_EXIDX_H

#include "unwind/rows.h"

#define EXIDX_BYTES_MAX     1024 /* of instructions; the format's own limit is 4 * 255 + 3 */
#define EXIDX_REGISTERS_MAX 16

#define EXIDX_SP 13
#define EXIDX_LR 14
#define EXIDX_PC 15

/* The entry of the function that holds an address. */
struct exidx_entry {
	uint64_t start, end;
	size_t size; /* of the instructions; 0: it cannot be unwound */
	unsigned char bytes[EXIDX_BYTES_MAX];
};

/* False: there is no index, or none for that address. */
bool exidx_find(struct cfi *cfi, const struct arch *arch, uint64_t address, struct exidx_entry *entry);

/* Whether code that cannot be unwound stands right behind the end of where threads start: glibc's clone() has there
 * what the child runs. */
bool exidx_continues_start(struct cfi *cfi, const struct arch *arch, uint64_t address);

/* A register's place: what another register, or sp, holds at that pc, plus an offset. */
struct exidx_place {
	unsigned char base;
	int32_t offset;
};

/* What the instructions come to: where the caller's registers lie, and its sp. */
struct exidx_rule {
	uint32_t saved;                                 /* mask of the registers that lie in memory */
	struct exidx_place places[EXIDX_REGISTERS_MAX]; /* of those */
	struct exidx_place sp;                          /* its value; if 13 is saved, it is there instead */
};

/* False: the function cannot be unwound, or the instructions make no sense. */
bool exidx_run(const unsigned char *bytes, size_t size, struct exidx_rule *rule);

/* Makes the row for an address; *allocated are the bytes beyond it. False, and it stays as it is: there is no rule. */
bool exidx_row(struct row *row, struct cfi *cfi, const struct arch *arch, uint64_t address, size_t *allocated);

#endif
