/* Makes a heap from the ledger's list of blocks. This is done for allocators whose structures are unknown. */
#include "config.h"
#include "heap/heap_private.h"
#include "base/util.h"

#include <stdlib.h>

static int from_ledger_compare_extents(const void *one, const void *two)
{
	const struct heap_extent *a = one, *b = two;

	return compare_u64(a->address, b->address);
}

/* Adds a block as a region. A block of 0 bytes is added with one byte, so that it can be found by its address. A block
 * that overlaps the next one is cut off where the next one begins, because the first block's release was not seen, or a
 * part of the block was released. */
static void from_ledger_add(struct heap *heap, uint64_t address, uint64_t size, uint64_t next)
{
	const uint64_t most = next - address;

	size = size ? size : 1;
	size = size < most ? size : most;
	heap->regions[heap->region_count++] = (struct region){.start = address,
							      .begin = address,
							      .end = address + size,
							      .first = (uint32_t)heap->block_count,
							      .is_mapped = true};
	block_add(heap, address, size, HEAP_LOST);
}

struct heap *heap_of_blocks(const struct heap_image *image, struct heap_extent *extents, size_t count)
{
	if (count >= HEAP_NONE)
		return NULL;
	struct heap *heap = xcalloc(1, sizeof(*heap));

	heap->image = image;
	heap->words = (struct words){.image = image, .width = image->arch->pointer_size};
	heap->regions = xcalloc(count + 1, sizeof(*heap->regions));
	if (count)
		qsort(extents, count, sizeof(*extents), from_ledger_compare_extents);
	/* Addresses from BLOCK_ADDRESS on are not valid pointers. */
	for (size_t i = 0; i < count && extents[i].address < BLOCK_ADDRESS; i++)
		if (i + 1 == count || extents[i].address != extents[i + 1].address)
			from_ledger_add(heap, extents[i].address, extents[i].size,
					i + 1 < count ? extents[i + 1].address : UINT64_MAX);
	return heap;
}
