/* Finds blocks of the program that begin inside a block of the allocator. A program's own operator new puts a header
 * before its block; mimalloc allocates a larger block to get an alignment:
 *
 *	the allocator's block: padding or header | the program's block, aligned | the rest
 *
 * A trace contains the addresses that the program got. Without a trace, an address is taken as the start of the
 * program's block only if an alignment can explain it: it is the first multiple of a power of two in the block. */
#include "config.h"
#include "heap/heap_private.h"
#include "base/util.h"

#include <stdlib.h>

void starts_aligned(struct heap *heap, uint64_t start, uint64_t end)
{
	struct starts *const starts = &heap->starts;

	ARRAY_GROW(starts->aligned, starts->aligned_capacity, starts->aligned_count);
	starts->aligned[starts->aligned_count++] = (struct range){start, end};
}

static bool is_aligned_page(const struct starts *starts, uint64_t address)
{
	const size_t count = COUNT_UP_TO(starts->aligned, starts->aligned_count, .start, address);

	return count && address < starts->aligned[count - 1].end;
}

/* Returns true if an address is the first multiple of some power of two in the block. */
static bool is_aligned(const struct starts *starts, uint64_t block, uint64_t address)
{
	return is_aligned_page(starts, block) && address - block < (address & -address);
}

/* Records that a block of the program begins at `address` in the allocator's block `block`. If no other block of the
 * program begins in that block, and an alignment can explain the address, the memory before the address is padding.
 * Otherwise that memory may be a header, or the program divides the allocator's block itself, so all of the allocator's
 * block may contain pointers. */
static void note_first(struct starts *starts, uint64_t block, uint64_t address)
{
	const uint64_t *const other = hash_get(&starts->first, block);
	const bool is_only = other ? *other == address : is_aligned(starts, block, address);

	hash_set(&starts->first, block, is_only ? address : block);
}

bool heap_note_block(struct heap *heap, uint64_t address)
{
	const uint32_t index = heap_find(heap, address);

	if (index == HEAP_NONE)
		return false;
	const uint64_t block = block_address(&heap->blocks[index]);

	address = arch_data_address(heap->image->arch, address);
	if (is_aligned_page(&heap->starts, block))
		note_first(&heap->starts, block, address);
	if (block == address)
		return false;
	hash_set(&heap->starts.known, address, 1);
	return true;
}

bool starts_there(const struct heap *heap, const struct heap_block *block, uint64_t address)
{
	const struct starts *const starts = &heap->starts;

	if (starts->known.count && hash_get(&starts->known, address))
		return true;
	return starts->aligned_count && starts_first(heap, block->address) == block->address &&
	       is_aligned(starts, block->address, address);
}

uint64_t starts_first(const struct heap *heap, uint64_t block)
{
	const uint64_t *const first = heap->starts.first.count ? hash_get(&heap->starts.first, block) : NULL;

	return first ? *first : block;
}

void starts_free(struct starts *starts)
{
	hash_free(&starts->known);
	hash_free(&starts->first);
	free(starts->aligned);
}
