/* Checks that call frame information is harmless. libdw handles malformed data, but a well-formed instruction can make
 * it allocate any amount of memory, such as room for two thousand million registers. */
#ifndef FT_UNWIND_CFI_CHECK_H
#define FT_UNWIND_CFI_CHECK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* An .eh_frame_hdr as libdw uses it to reach FDEs. */
struct cfi_header {
	const unsigned char *bytes; /* NULL if there is no header */
	size_t size;
	uint64_t address, eh_frame_address; /* addresses of the header and of the section's data */
};

/* Checks a section that libdw reads in sequence or through the header's table: .eh_frame, or .debug_frame if !is_eh.
 * Returns true if registers, sizes and nesting in all entries are within sane limits, and the table points only to
 * entries. open_end: true if the section's end is unknown; then there must be a table, and bytes after the last entry
 * in the table are not checked. */
bool cfi_is_harmless(const unsigned char *ident, Elf_Data *data, bool is_eh, const struct cfi_header *header,
		     bool open_end);

#endif
