/* The call frame information of one ELF file, opened from the file or from a tracee's memory.
 * Addresses here are the file's own (p_vaddr); the mapped ones are these plus the load bias. */
#ifndef FT_UNWIND_CFI_H
#define FT_UNWIND_CFI_H

#include "unwind/memory.h"

#include <elfutils/libdw.h>

/* .eh_frame and the search table before it, as bytes. */
struct eh_frame {
	const unsigned char *bytes; /* NULL: there is none */
	uint64_t address;           /* of the first byte */
	size_t size;
	uint64_t header; /* address of .eh_frame_hdr, which the table's numbers are relative to */
	uint64_t table;  /* address of its (start, FDE) pairs of 32-bit numbers */
	size_t count;
};

/* ARM's index of functions: exidx.c. */
struct cfi_index {
	bool is_tried;
	unsigned char *bytes; /* of count entries, each of two words; the first lies at `address` */
	uint64_t address;
	size_t count;
};

struct cfi_range {
	uint64_t start, end;
};

/* .debug_frame, of the file or of its separate debug file. */
struct cfi_debug {
	Dwarf_CFI *cfi; /* NULL: there is none */
	Dwarf *dwarf;   /* of a copy */
	bool has_copy;
	int copy;
};

struct cfi {
	int fd;               /* -1: from memory */
	unsigned char *image; /* from memory: what elf reads */
	Elf *elf;
	Dwarf_CFI *eh_cfi; /* NULL: none */
	bool debug_tried;
	struct cfi_debug debug;

	bool eh_tried;
	struct eh_frame eh;
	unsigned char *eh_storage;

	struct cfi_index index;

	struct cfi_range starts[16]; /* code without CFI that nothing calls: entry points */
	size_t start_count;
};

/* Opens a file's. Takes over `fd`, also on failure. 0 or -errno: -ENOEXEC when it is no ELF file
 * for that processor. */
int cfi_open_file(struct cfi *cfi, int fd, const struct arch *arch);
/* Takes it from memory, for [vdso] and files that cannot be opened: the ELF header is at `start`. Takes in only the
 * segment with .eh_frame. */
int cfi_open_memory(struct cfi *cfi, struct stack_memory *memory, uint64_t start, const struct arch *arch);
void cfi_close(struct cfi *cfi);

/* The rule for a frame whose pc is `address`; the caller frees it. NULL: there is no rule. */
Dwarf_Frame *cfi_frame(struct cfi *cfi, uint64_t address);

/* Reads code of the file's: how many bytes of [address, address + size) are in the executable segment that holds
 * `address`; 0 if none does; -ENOTSUP where the file is not there to be read. */
ssize_t cfi_code(struct cfi *cfi, uint64_t address, void *data, size_t size);

/* Reads where threads start: the ELF entry point, and functions that are known to be called by none. */
void cfi_read_starts(struct cfi *cfi, Elf *elf);
/* Whether code without a rule is where a thread starts. */
bool cfi_find_start(const struct cfi *cfi, uint64_t address);

/* Where the function begins that .eh_frame says the code at `address` is in. False: it does not say so. */
bool cfi_function(struct cfi *cfi, uint64_t address, uint64_t *start);

/* The .debug_frame, which is only asked where .eh_frame has no answer: the file's own, else that of a separate debug
 * file of the same build-id. NULL: there is none. */
Dwarf_CFI *cfi_debug_frame(struct cfi *cfi);
void cfi_debug_close(struct cfi_debug *debug);

/* Fills cfi->eh, once; eh.bytes is NULL if there is no usable .eh_frame_hdr. */
const struct eh_frame *cfi_eh_frame(struct cfi *cfi);

#endif
