/* Keeps the tables of regions and of blocks, and searches them for an address. */
#include "config.h"
#include "heap/heap_private.h"
#include "base/util.h"

#include <stdlib.h>

#define PAGE        4096u
#define INDEXED_MAX (1ul << 28) /* maximum number of pages in all regions: a terabyte */

bool heap_has_variables(const struct heap_image *image, size_t i)
{
	const struct heap_mapping *m = &image->mappings[i];

	return m->readable && m->writable && !m->shared &&
	       (m->path[0] == '/' || (!m->path[0] && i && m[-1].end == m->start && m[-1].path[0] == '/'));
}

bool heap_find_variable(const struct heap_image *image, bool (*is_it)(void *context, uint64_t at, uint64_t word),
			void *context)
{
	const unsigned width = image->arch->pointer_size;
	struct word_run run;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *const m = &image->mappings[i];

		for (uint64_t at = m->start;
		     heap_has_variables(image, i) && next_word_run(image, width, &at, m->end, &run);)
			for (size_t k = 0; k < run.size; k += width)
				if (is_it(context, run.at + k, load_word(run.bytes + k, width)))
					return true;
	}
	return false;
}

bool heap_has_memory(const struct heap_image *image, uint64_t start, uint64_t end)
{
	size_t i = COUNT_UP_TO(image->mappings, image->n_mappings, .start, start);

	for (; i && i <= image->n_mappings; i++) {
		const struct heap_mapping *m = &image->mappings[i - 1];

		if (start < m->start || start >= m->end || (!m->writable && !image_is_protected(m)))
			return false;
		start = m->end;
		if (start >= end)
			return true;
	}
	return false;
}

/* ---- Blocks ---- */

void block_set_size(struct heap *heap, struct block *block, uint64_t size)
{
	if (size >= BLOCK_LARGE)
		hash_set(&heap->large, block_address(block), size);
	block->size = size < BLOCK_LARGE ? (uint32_t)size : BLOCK_LARGE;
}

void block_add(struct heap *heap, uint64_t address, uint64_t size, unsigned state)
{
	if (address >= BLOCK_ADDRESS)
		return;
	ARRAY_GROW(heap->blocks, heap->block_capacity, heap->block_count);
	struct block *const block = &heap->blocks[heap->block_count++];

	*block = (struct block){.low = (uint32_t)address, .high = (uint32_t)(address >> 32)};
	block_set_state(block, state);
	block_set_size(heap, block, size);
}

/* Returns how many of the `count` blocks from index `first` on begin at or below `address`. */
static size_t blocks_up_to(const struct heap *heap, size_t first, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (block_address(&heap->blocks[first + middle]) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct block *block_at(const struct heap *heap, uint64_t address)
{
	const size_t count = blocks_up_to(heap, 0, heap->block_count, address);
	struct block *const block = count ? &heap->blocks[count - 1] : NULL;

	return block && block_address(block) == address ? block : NULL;
}

void blocks_drop(struct heap *heap, unsigned state)
{
	size_t kept = 0;

	for (size_t i = 0; i < heap->block_count; i++)
		if (block_state(&heap->blocks[i]) != state)
			heap->blocks[kept++] = heap->blocks[i];
	heap->block_count = kept;
}

static int compare_blocks(const void *one, const void *two)
{
	return compare_u64(block_address(one), block_address(two));
}

void blocks_sort(struct heap *heap)
{
	if (heap->block_count)
		qsort(heap->blocks, heap->block_count, sizeof(*heap->blocks), compare_blocks);
}

void blocks_span(const struct heap *heap, uint64_t *lowest, uint64_t *highest)
{
	const struct block *const last = &heap->blocks[heap->block_count - 1];

	*lowest = block_address(&heap->blocks[0]);
	*highest = block_address(last) + block_size(heap, last);
}

/* ---- Regions ---- */

struct region *region_add(struct heap *heap, const struct region *region)
{
	ARRAY_GROW(heap->regions, heap->region_capacity, heap->region_count);
	heap->regions[heap->region_count] = *region;
	return &heap->regions[heap->region_count++];
}

static int compare_regions(const void *one, const void *two)
{
	const struct region *a = one, *b = two;

	return compare_u64(a->start, b->start);
}

void regions_sort(struct region *regions, size_t count)
{
	if (count)
		qsort(regions, count, sizeof(*regions), compare_regions);
}

/* Sets by_page of a region, whose blocks are those from index `first` to before `last`. Returns false if by_page
 * would need more than *pages_left pages. */
static bool index_pages(struct heap *heap, struct region *region, uint32_t first, uint32_t last, size_t *pages_left)
{
	uint32_t block = first;

	region->pages = first == last ? 0 : (block_address(&heap->blocks[last - 1]) - region->begin) / PAGE + 1;
	if (region->pages > *pages_left)
		return false;
	*pages_left -= region->pages;
	free(region->by_page);
	region->by_page = xcalloc(region->pages + 1, sizeof(*region->by_page));
	for (size_t i = 0; i < region->pages; i++) {
		while (block < last && block_address(&heap->blocks[block]) < region->begin + i * PAGE)
			block++;
		region->by_page[i] = block;
	}
	region->by_page[region->pages] = last;
	return true;
}

bool blocks_index(struct heap *heap)
{
	size_t block = 0, pages_left = INDEXED_MAX;

	if (heap->block_count >= HEAP_NONE)
		return false;
	for (size_t i = 0; i < heap->region_count; i++) {
		struct region *const region = &heap->regions[i];

		while (block < heap->block_count && block_address(&heap->blocks[block]) < region->begin)
			block++;
		region->first = (uint32_t)block;
		while (block < heap->block_count && block_address(&heap->blocks[block]) < region->end)
			block++;
		if (!region->is_mapped && !index_pages(heap, region, region->first, (uint32_t)block, &pages_left))
			return false;
	}
	return true;
}

const struct region *region_of(const struct heap *heap, uint64_t address)
{
	const size_t count = COUNT_UP_TO(heap->regions, heap->region_count, .begin, address);

	return count && address < heap->regions[count - 1].end ? &heap->regions[count - 1] : NULL;
}

uint32_t heap_find(const struct heap *heap, uint64_t address)
{
	address = arch_data_address(heap->image->arch, address);
	const struct region *region = region_of(heap, address);

	if (!region)
		return HEAP_NONE;
	const size_t page = (address - region->begin) / PAGE, pages = region->pages;
	const uint32_t first = region->by_page ? region->by_page[page < pages ? page : pages] : region->first;
	const uint32_t last = region->by_page ? region->by_page[page < pages ? page + 1 : pages] : first + 1;
	const size_t up_to = blocks_up_to(heap, first, last - first, address);
	const size_t index = first + up_to;

	/* If no block of the page begins at or below the address, the previous block may extend into the page. */
	if (!index || index > heap->block_count)
		return HEAP_NONE;
	const struct block *block = &heap->blocks[index - 1];

	return address - block_address(block) < block_size(heap, block) ? (uint32_t)(index - 1) : HEAP_NONE;
}
