/* Adds the ledger's list of blocks to a heap. This is done for blocks of allocators whose structures are unknown. */
#include "config.h"
#include "heap/heap_private.h"
#include "base/util.h"

#include <stdlib.h>

static int from_ledger_compare_extents(const void *one, const void *two)
{
	const struct heap_extent *a = one, *b = two;

	return compare_u64(a->address, b->address);
}

static int from_ledger_compare_regions(const void *one, const void *two)
{
	const struct region *a = one, *b = two;

	return compare_u64(a->begin, b->begin);
}

/* Adds a block as a region. A block of 0 bytes is added with one byte, so that it can be found by its address. If the
 * block overlaps the next block, or a region of the heap, it is cut off where that block or region begins. Such an
 * overlap means that the block's release was not seen, or that a part of the block was released. */
static void from_ledger_add(struct heap *heap, uint64_t address, uint64_t size, uint64_t next)
{
	const uint64_t most = next - address;

	size = size ? size : 1;
	size = size < most ? size : most;
	region_add(heap,
		   &(struct region){.start = address, .begin = address, .end = address + size, .is_mapped = true});
	block_add(heap, address, size, HEAP_LOST);
}

/* Adds the block at an address, unless the address is in one of the heap's first `regions` regions, or the process has
 * no memory there. next: address at which the next block begins. */
static void from_ledger_add_outside(struct heap *heap, size_t regions, const struct heap_extent *extent, uint64_t next)
{
	const size_t before = COUNT_UP_TO(heap->regions, regions, .begin, extent->address);

	if ((before && extent->address < heap->regions[before - 1].end) || !image_mapping(heap->image, extent->address))
		return;
	if (before < regions && heap->regions[before].begin < next)
		next = heap->regions[before].begin;
	from_ledger_add(heap, extent->address, extent->size, next);
}

bool heap_add_blocks(struct heap *heap, struct heap_extent *extents, size_t count)
{
	const size_t regions = heap->region_count;

	if (count)
		qsort(extents, count, sizeof(*extents), from_ledger_compare_extents);
	/* Addresses from BLOCK_ADDRESS on are not valid pointers. */
	for (size_t i = 0; i < count && extents[i].address < BLOCK_ADDRESS; i++)
		if (i + 1 == count || extents[i].address != extents[i + 1].address)
			from_ledger_add_outside(heap, regions, &extents[i],
						i + 1 < count ? extents[i + 1].address : UINT64_MAX);
	if (heap->region_count == regions)
		return true;
	qsort(heap->regions, heap->region_count, sizeof(*heap->regions), from_ledger_compare_regions);
	blocks_sort(heap);
	return blocks_index(heap);
}

struct heap *heap_without_blocks(const struct heap_image *image)
{
	struct heap *heap = xcalloc(1, sizeof(*heap));

	heap->image = image;
	heap->words = (struct words){.image = image, .width = image->arch->pointer_size};
	return heap;
}
