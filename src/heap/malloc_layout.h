/* Sizes and offsets in glibc's malloc, computed from the processor's word size and alignment. */
#ifndef FT_HEAP_MALLOC_LAYOUT_H
#define FT_HEAP_MALLOC_LAYOUT_H

#include "arch/arch.h"
#include "base/util.h"

#define BINS 127

/* Members of struct malloc_state. */
#define FLAGS_AT    4 /* offset of `flags` in a malloc_state */
#define FLAG_PIECES 2 /* the memory from sbrk(2) is not contiguous (NONCONTIGUOUS_BIT) */

/* Returns the number of bytes of a chunk's header. The header consists of the previous chunk's size and the chunk's own
 * size, and the block follows it. */
static inline unsigned header_size(const struct arch_malloc *form)
{
	return 2 * form->word;
}

static inline unsigned chunk_min(const struct arch_malloc *form)
{
	return 4 * form->word;
}

/* Returns the first address from `address` on at which a chunk can begin. */
static inline uint64_t chunk_start(const struct arch_malloc *form, uint64_t address)
{
	return align_up(address + header_size(form), form->align) - header_size(form);
}

static inline unsigned bins_bytes(const struct arch_malloc *form)
{
	return BINS * header_size(form);
}

/* The members of a malloc_state after the bins and after the map of bins, which has 16 bytes. Each is a word. */
enum state_member { STATE_NEXT, STATE_NEXT_FREE, STATE_THREADS, STATE_SYSTEM, STATE_MAX, STATE_END };

static inline uint64_t state_member(const struct arch_malloc *form, uint64_t bins, enum state_member member)
{
	return bins + bins_bytes(form) + 16 + member * form->word;
}

/* Returns true if the bins have the offset that they have from glibc 2.43 on. Arenas then have no fastbins: only two
 * pointers are between the flags and the bins. */
static inline bool is_newest(const struct arch_malloc *form, uint64_t state_offset)
{
	return state_offset == 8 + 2 * form->word;
}

#endif
