/* Blocks that begin later than the room that the allocator has for them. An operator new of the program's own puts a
 * header there; mimalloc has no room of an alignment's, but a larger one:
 *
 *	room | before | the program's block, aligned | the rest
 *
 * A trace knows the addresses that the program got. Without one, only those are known that an alignment may have given:
 * the first multiple of a power of two. */
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

/* Whether it is the first multiple of some power of two in a block. */
static bool is_aligned(const struct starts *starts, uint64_t block, uint64_t address)
{
	return is_aligned_page(starts, block) && address - block < (address & -address);
}

/* What lies before the one address that the program has of a block is the alignment's. Of several, the program divides
 * the block itself, and all of it may have pointers. */
static void note_first(struct starts *starts, uint64_t block, uint64_t address)
{
	const uint64_t *const other = hash_get(&starts->first, block);
	const bool is_only = other ? *other == address : is_aligned(starts, block, address);

	hash_set(&starts->first, block, is_only ? address : block);
}

bool heap_know(struct heap *heap, uint64_t address)
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
