/* The call frame information (CFI) of one ELF file, opened from the file or from a tracee's memory. Addresses here
 * are the file's own (p_vaddr); mapped addresses are these plus the load bias. */
#ifndef FT_UNWIND_CFI_H
#define FT_UNWIND_CFI_H

#include "unwind/unwind_memory.h"

#include <elfutils/libdw.h>

/* The bytes of .eh_frame and of its search table. */
struct eh_frame {
	const unsigned char *bytes; /* NULL: no .eh_frame */
	uint64_t address;           /* address of the first byte */
	size_t size;
	uint64_t header; /* address of .eh_frame_hdr, to which the table's numbers are relative */
	uint64_t table;  /* address of its (start, FDE) pairs of 32-bit numbers */
	size_t count;
};

/* ARM's index of functions; see exidx.c. */
struct cfi_index {
	bool is_tried;
	unsigned char *bytes; /* `count` entries of two words; the first is at `address` */
	uint64_t address;
	size_t count;
};

struct cfi_range {
	uint64_t start, end;
};

/* .debug_frame of the file or of its separate debug file. */
struct cfi_debug {
	Dwarf_CFI *cfi; /* NULL: no .debug_frame */
	Dwarf *dwarf;   /* of the copy */
	bool has_copy;
	int copy;
};

struct cfi {
	int fd;               /* -1: opened from memory */
	unsigned char *image; /* if opened from memory, the data of `elf` */
	Elf *elf;
	Dwarf_CFI *eh_cfi; /* NULL: none */
	bool debug_tried;
	struct cfi_debug debug;

	bool eh_tried;
	struct eh_frame eh;
	unsigned char *eh_storage;

	struct cfi_index index;

	struct cfi_range starts[16]; /* entry points: code without CFI that nothing calls */
	size_t start_count;
};

/* Opens a file. Takes ownership of `fd`, also on failure. Returns 0 or -errno; -ENOEXEC: it is no ELF file for that
 * processor. */
int cfi_open_file(struct cfi *cfi, int fd, const struct arch *arch);
/* Opens an ELF image in memory, for [vdso] and files that cannot be opened. The ELF header is at `start`. Reads only
 * the segment with .eh_frame. */
int cfi_open_memory(struct cfi *cfi, struct stack_memory *memory, uint64_t start, const struct arch *arch);
void cfi_close(struct cfi *cfi);

/* Returns the rule for a frame whose pc is `address`, which the caller frees; NULL: there is no rule. */
Dwarf_Frame *cfi_frame(struct cfi *cfi, uint64_t address);

/* Reads the file's code. Returns how many bytes of [address, address + size) are in the executable segment that
 * contains `address`; 0 if none does; -ENOTSUP if the file cannot be read. */
ssize_t cfi_code(struct cfi *cfi, uint64_t address, void *data, size_t size);

/* Reads where threads start: the ELF entry point, and functions that are known to have no callers. */
void cfi_read_starts(struct cfi *cfi, Elf *elf);
/* True if `address`, which has no rule, is in code where a thread starts. */
bool cfi_find_start(const struct cfi *cfi, uint64_t address);

/* Gets the start of the function that contains `address`, by .eh_frame. False: .eh_frame does not describe it. */
bool cfi_function(struct cfi *cfi, uint64_t address, uint64_t *start);

/* Returns the .debug_frame, for addresses that .eh_frame does not describe: the file's own, else that of a separate
 * debug file with the same build-id. NULL: there is none. */
Dwarf_CFI *cfi_debug_frame(struct cfi *cfi);
void cfi_debug_close(struct cfi_debug *debug);

/* Fills cfi->eh on the first call; eh.bytes is NULL if there is no usable .eh_frame_hdr. */
const struct eh_frame *cfi_eh_frame(struct cfi *cfi);

#endif
