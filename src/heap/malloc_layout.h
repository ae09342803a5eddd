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
static inline unsigned header_size(const struct arch_malloc *layout)
{
	return 2 * layout->word;
}

static inline unsigned chunk_min(const struct arch_malloc *layout)
{
	return 4 * layout->word;
}

/* Returns the first address from `address` on at which a chunk can begin. */
static inline uint64_t chunk_start(const struct arch_malloc *layout, uint64_t address)
{
	return align_up(address + header_size(layout), layout->align) - header_size(layout);
}

static inline unsigned bins_bytes(const struct arch_malloc *layout)
{
	return BINS * header_size(layout);
}

/* The members of a malloc_state after the bins and after the map of bins, which has 16 bytes. Each is a word. */
enum state_member { STATE_NEXT, STATE_NEXT_FREE, STATE_THREADS, STATE_SYSTEM, STATE_MAX, STATE_END };

static inline uint64_t state_member(const struct arch_malloc *layout, uint64_t bins, enum state_member member)
{
	return bins + bins_bytes(layout) + 16 + member * layout->word;
}

/* Returns true if the bins have the offset that they have from glibc 2.43 on. Arenas then have no fastbins: only two
 * pointers are between the flags and the bins. */
static inline bool is_newest(const struct arch_malloc *layout, uint64_t state_offset)
{
	return state_offset == 8 + 2 * layout->word;
}

#endif
