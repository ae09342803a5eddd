/* Whether call frame information is harmless: libdw copes with malformed data, but allocates what a
 * well-formed instruction asks for, such as room for two thousand million registers. */
#ifndef FT_UNWIND_CFI_CHECK_H
#define FT_UNWIND_CFI_CHECK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* An .eh_frame_hdr as libdw uses it to reach FDEs. */
struct cfi_header {
	const unsigned char *bytes; /* NULL: there is none */
	size_t size;
	uint64_t address, eh_frame_address; /* of what bytes and data are */
};

/* All entries of a section (.eh_frame, or .debug_frame if !is_eh), which libdw reaches in sequence
 * or through the header's table: registers, sizes and nesting are of a sane magnitude, and the
 * table leads to entries only. open_end: where the section ends is not known; then there must be a
 * table, and what lies behind its last entry is not looked at. */
bool cfi_is_harmless(const unsigned char *ident, Elf_Data *data, bool is_eh, const struct cfi_header *header,
		     bool open_end);

#endif
