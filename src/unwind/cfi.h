/* The call frame information (CFI) of one ELF file, opened from the file or from the target's memory. Addresses here
 * are those in the file (p_vaddr); a mapped address is such an address plus the load bias. */
#ifndef FT_UNWIND_CFI_H
#define FT_UNWIND_CFI_H

#include "unwind/unwind_memory.h"

#include <elfutils/libdw.h>

/* The bytes of .eh_frame and of its search table. */
struct eh_frame {
	const unsigned char *bytes; /* NULL if there is no usable .eh_frame_hdr */
	uint64_t address;           /* address of the first byte */
	size_t size;
	uint64_t header; /* address of .eh_frame_hdr; the numbers in the table are relative to it */
	uint64_t table;  /* address of the table's pairs (start, FDE), each two 32-bit numbers */
	size_t count;
};

/* ARM's index of functions; see exidx.c. */
struct cfi_index {
	bool is_tried;
	unsigned char *bytes; /* `count` entries of two words; the first entry is at `address` */
	uint64_t address;
	size_t count;
};

struct cfi_range {
	uint64_t start, end;
};

/* The .debug_frame of the file or of its separate debug file. */
struct cfi_debug {
	Dwarf_CFI *cfi; /* NULL if no usable .debug_frame was found */
	Dwarf *dwarf;   /* libdw's handle of a private copy of the file */
	bool has_copy;
	int copy;
};

struct cfi {
	int fd;               /* -1 if opened from memory */
	unsigned char *image; /* if opened from memory, the bytes that `elf` uses */
	Elf *elf;
	Dwarf_CFI *eh_cfi; /* NULL if there is no usable .eh_frame */
	bool debug_tried;
	struct cfi_debug debug;

	bool eh_tried;
	struct eh_frame eh;
	unsigned char *eh_storage;

	struct cfi_index index;

	struct cfi_range starts[16]; /* ranges of entry points: code without CFI that no code calls */
	size_t start_count;
};

/* Opens a file. Takes ownership of `fd`, also on failure. Returns 0 or -errno; -ENOEXEC if the file is no ELF file
 * for that processor. */
int cfi_open_file(struct cfi *cfi, int fd, const struct arch *arch);
/* Opens an ELF image in memory, for [vdso] and files that cannot be opened. The ELF header is at address `start`. Reads
 * only the segment with .eh_frame. Returns 0 or -ENOEXEC. */
int cfi_open_memory(struct cfi *cfi, struct stack_memory *memory, uint64_t start, const struct arch *arch);
void cfi_close(struct cfi *cfi);

/* Returns the rule for a frame whose pc is `address`, or NULL if there is none. The caller frees it. */
Dwarf_Frame *cfi_frame(struct cfi *cfi, uint64_t address);

/* Copies code of the file to `data`: the bytes of [address, address + size) in the executable segment that contains
 * `address`. Returns their number; 0 if there is no such segment; -ENOTSUP if there is no file, or if it cannot be
 * read. */
ssize_t cfi_code(struct cfi *cfi, uint64_t address, void *data, size_t size);

/* Notes the code where threads start: the ELF entry point, and functions that have the name of such code in a C
 * library. */
void cfi_read_starts(struct cfi *cfi, Elf *elf);
/* Returns true if `address`, for which there is no rule, is in code where a thread starts. */
bool cfi_find_start(const struct cfi *cfi, uint64_t address);

/* Sets *start to the start of the function that contains `address`, according to .eh_frame. Returns false if
 * .eh_frame does not describe the address. */
bool cfi_function(struct cfi *cfi, uint64_t address, uint64_t *start);

/* Returns the .debug_frame, for addresses that .eh_frame does not describe. Prefers the one in the file itself to the
 * one in a separate debug file with the same build-id. Returns NULL if there is none. */
Dwarf_CFI *cfi_debug_frame(struct cfi *cfi);
void cfi_debug_close(struct cfi_debug *debug);

/* Fills cfi->eh on the first call; eh.bytes is NULL if there is no usable .eh_frame_hdr. */
const struct eh_frame *cfi_eh_frame(struct cfi *cfi);

#endif
