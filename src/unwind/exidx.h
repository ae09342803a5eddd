/* The unwinding tables of ARM's ELF files (EHABI): an index of functions, .ARM.exidx, and for each function some
 * bytes of instructions, in the index or in .ARM.extab. The instructions are valid at a function's calls, not in its
 * prologue. */
#ifndef FT_UNWIND_EXIDX_H
#define FT_UNWIND_EXIDX_H

#include "unwind/cfi_rows.h"

#define EXIDX_BYTES_MAX     1024 /* maximum bytes of instructions in an entry; the format allows 4 * 255 + 3 */
#define EXIDX_REGISTERS_MAX 16

#define EXIDX_SP 13
#define EXIDX_LR 14
#define EXIDX_PC 15

/* The entry of the function that contains an address. */
struct exidx_entry {
	uint64_t start, end;
	size_t size; /* number of instruction bytes; 0: the function cannot be unwound */
	unsigned char bytes[EXIDX_BYTES_MAX];
};

/* Finds the entry for an address. Returns false if the file has no index, or the index no entry. */
bool exidx_find(struct cfi *cfi, const struct arch *arch, uint64_t address, struct exidx_entry *entry);

/* Returns true if the address is in code that cannot be unwound and directly follows code where threads start. The
 * child's code in glibc's clone() is such code. */
bool exidx_continues_start(struct cfi *cfi, const struct arch *arch, uint64_t address);

/* The address of a saved register: the value of register `base` at the frame's pc, plus an offset in bytes. */
struct exidx_place {
	unsigned char base;
	int32_t offset;
};

/* The result of an entry's instructions: the addresses of the caller's registers, and the caller's sp. */
struct exidx_rule {
	uint32_t saved;                                 /* mask of the registers that are saved in memory */
	struct exidx_place places[EXIDX_REGISTERS_MAX]; /* addresses of the saved registers */
	struct exidx_place sp; /* the caller's sp; if register 13 is saved, its saved value is used instead */
};

/* Executes an entry's instructions. Returns false if the function cannot be unwound, or the instructions are
 * invalid. */
bool exidx_run(const unsigned char *bytes, size_t size, struct exidx_rule *rule);

/* Makes the row for an address. *allocated: the number of bytes that were allocated in addition to the row. Returns
 * false, and does not change the row, if there is no rule. */
bool exidx_row(struct row *row, struct cfi *cfi, const struct arch *arch, uint64_t address, size_t *allocated);

#endif
