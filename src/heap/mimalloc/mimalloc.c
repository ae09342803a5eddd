/* Reads the pages in mimalloc's segments. A block is in use if no list of free blocks contains it. */
#include "config.h"
#include "heap/mimalloc/mimalloc.h"
#include "heap/allocator_code.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX    65536u /* upper limit of the blocks of a page */
#define SIZE_OF_SPAN  (2ull << 30)
#define SMALL_MAX     1024u /* blocks of up to this size are in pages that begin SMALL_BEGIN bytes inside a slice */
#define SMALL_BEGIN   384u
#define HAS_ALIGNED   2u
#define STATE_OF(w)   ((w)&3)
#define STATE_MOVING  1u  /* a page's state: a thread is moving a block to the list of the page's heap */
#define CLASS_DELAYED 15u /* the state of a block in a heap's list of released blocks */

struct mimalloc_page {
	uint64_t at; /* address of the page's description */
	uint64_t start, size;
	uint64_t block_size, capacity;
	uint64_t unused[BLOCKS_MAX / 64]; /* bit map with a bit for each block; 1: the block is not in use */
};

struct owners {
	uint64_t *heaps; /* for each used page, the address of its heap; 0 if the page has none */
	size_t count, capacity;
};

/* Marks the blocks in a free list of a page as unused. first: the list's first block, or 0. Returns how many blocks
 * these are, or -1 if the list contains a block twice, or an address that is no block of the page. */
static int64_t mimalloc_follow(struct mimalloc *m, struct mimalloc_page *page, uint64_t first)
{
	int64_t count = 0;
	uint64_t next;

	for (uint64_t at = first; at; at = next) {
		const uint64_t i = (at - page->start) / page->block_size;

		if (at < page->start || i >= page->capacity || (at - page->start) % page->block_size ||
		    page->unused[i / 64] >> i % 64 & 1 || !word_at(&m->heap->words, at, &next))
			return -1;
		page->unused[i / 64] |= 1ull << i % 64;
		count++;
	}
	return count;
}

static bool take_lists(struct mimalloc *m, struct mimalloc_page *page)
{
	struct heap *heap = m->heap;
	const uint64_t used = int_or_0(&heap->words, page->at + PAGE_USED);
	const uint64_t by_others = word_or_0(&heap->words, page->at + PAGE_THREADS);

	if (STATE_OF(by_others) == STATE_MOVING)
		return inconsistent(heap, "a thread is inside free");
	memset(page->unused, 0, align_up(page->capacity, 64) / 8);
	const int64_t unused = mimalloc_follow(m, page, word_or_0(&heap->words, page->at + PAGE_FREE));
	const int64_t again =
		unused < 0 ? -1 : mimalloc_follow(m, page, word_or_0(&heap->words, page->at + PAGE_LOCAL));
	const int64_t others = again < 0 ? -1 : mimalloc_follow(m, page, by_others & ~(uint64_t)3);

	if (others < 0)
		return inconsistent_at(heap, page->at, "a list of free blocks is broken");
	if ((uint64_t)(unused + again) + used != page->capacity || (uint64_t)others > used)
		return inconsistent_at(heap, page->at, "a page's count of blocks in use differs from its lists");
	heap->figures.cached_chunks += (uint64_t)others;
	heap->figures.cached_bytes += (uint64_t)others * page->block_size;
	heap->figures.uordblks += used * page->block_size;
	return true;
}

static bool mimalloc_take_page(struct mimalloc *m, struct mimalloc_page *page, uint64_t said_size)
{
	struct heap *heap = m->heap;
	const bool begins_inside = said_size >= 8 && said_size <= SMALL_MAX;
	const uint64_t reserved = number_or_0(&heap->words, page->at + PAGE_RESERVED, 2);

	page->start += begins_inside ? SMALL_BEGIN : 0;
	page->size -= begins_inside ? SMALL_BEGIN : 0;
	page->block_size = said_size < SIZE_OF_SPAN ? said_size : page->size;
	page->capacity = number_or_0(&heap->words, page->at + PAGE_CAPACITY, 2);
	if (page->block_size % 8 || page->block_size > page->size || page->capacity > reserved ||
	    reserved > page->size / page->block_size ||
	    !heap_has_memory(heap->image, page->start, page->start + page->capacity * page->block_size))
		return inconsistent_at(heap, page->at, "a page's blocks do not fit its memory");
	if (!take_lists(m, page))
		return false;
	if (number_or_0(&heap->words, page->at + PAGE_FLAGS, 2) & HAS_ALIGNED)
		starts_aligned(heap, page->start, page->start + page->size);
	for (uint64_t i = 0; i < page->capacity; i++)
		if (!(page->unused[i / 64] >> i % 64 & 1))
			block_add(heap, page->start + i * page->block_size, page->block_size, HEAP_LOST);
	return true;
}

/* Returns true if all of a range is mapped without a gap, with any permissions. */
static bool is_mapped(const struct heap_image *image, uint64_t start, uint64_t end)
{
	for (size_t i = COUNT_UP_TO(image->mappings, image->n_mappings, .start, start); i && i <= image->n_mappings;
	     i++) {
		if (start < image->mappings[i - 1].start || start >= image->mappings[i - 1].end)
			return false;
		start = image->mappings[i - 1].end;
		if (start >= end)
			return true;
	}
	return false;
}

static bool take_segment(struct mimalloc *m, uint64_t segment, struct mimalloc_page *page, struct owners *owners)
{
	struct heap *heap = m->heap;
	struct words *words = &heap->words;
	const uint64_t slices = word_or_0(words, segment + SEGMENT_SLICES);
	const uint64_t entries = word_or_0(words, segment + SEGMENT_ENTRIES);
	const uint64_t end = segment + slices * SLICE_BYTES;
	uint64_t used = 0, abandoned = 0, count;

	/* A segment without a thread and without used pages was released, and is kept for reuse. */
	if (!word_or_0(words, segment + SEGMENT_THREAD) && !word_or_0(words, segment + SEGMENT_USED))
		return true;
	if (slices > UINT32_MAX || !is_mapped(heap->image, segment, end))
		return inconsistent_at(heap, segment, "a segment has less memory than it says");
	if (heap->region_count && heap->regions[heap->region_count - 1].end > segment)
		return inconsistent_at(heap, segment, "two segments overlap");
	region_add(heap, &(struct region){.start = segment, .begin = segment, .end = end});
	heap->figures.arena += end - segment;
	for (uint64_t i = 1; i < entries; i += count) {
		page->at = segment + SEGMENT_PAGES + i * PAGE_BYTES;
		count = int_or_0(words, page->at);
		const uint32_t size = int_or_0(words, page->at + PAGE_SIZE);

		if (!count || count > slices - i)
			return inconsistent_at(heap, page->at, "a segment has a page of an impossible size");
		if (!size)
			continue;
		page->start = segment + i * SLICE_BYTES;
		page->size = count * SLICE_BYTES;
		if (!mimalloc_take_page(m, page, size))
			return false;
		const uint64_t owner = word_or_0(words, page->at + PAGE_HEAP);

		used++;
		abandoned += !owner;
		ARRAY_GROW(owners->heaps, owners->capacity, owners->count);
		owners->heaps[owners->count++] = owner;
	}
	return (used == word_or_0(words, segment + SEGMENT_USED) &&
		abandoned == word_or_0(words, segment + SEGMENT_ABANDONED)) ||
	       inconsistent_at(heap, segment, "a segment's count of pages differs from its pages");
}

/* ---- Heaps ---- */

static int compare_addresses(const void *one, const void *two)
{
	return compare_u64(*(const uint64_t *)one, *(const uint64_t *)two);
}

/* Sets the state of some blocks to CLASS_DELAYED: those that other threads have released, but that the heap's own
 * thread has not reclaimed yet. owner: address of the heap (mi_heap_t). */
static bool take_delayed(struct mimalloc *m, uint64_t owner)
{
	struct heap *heap = m->heap;
	uint64_t next;

	for (uint64_t at = word_or_0(&heap->words, owner + HEAP_DELAYED); at; at = next) {
		struct block *block = block_at(heap, at);

		if (!block || block_state(block) == CLASS_DELAYED || !word_at(&heap->words, at, &next))
			return inconsistent_at(heap, at, "a heap's list of released blocks is broken");
		block_set_state(block, CLASS_DELAYED);
		heap->figures.cached_chunks++;
		heap->figures.cached_bytes += block_size(heap, block);
	}
	return true;
}

static bool take_heaps(struct mimalloc *m, struct owners *owners)
{
	struct heap *heap = m->heap;
	size_t same;

	if (owners->count)
		qsort(owners->heaps, owners->count, sizeof(*owners->heaps), compare_addresses);
	for (size_t i = 0; i < owners->count; i += same) {
		const uint64_t owner = owners->heaps[i];

		for (same = 1; i + same < owners->count && owners->heaps[i + same] == owner;)
			same++;
		if (!owner)
			continue;
		if (!bytes_at(&heap->words, owner, HEAP_BYTES) || word_or_0(&heap->words, owner + HEAP_PAGES) != same)
			return inconsistent_at(heap, owner, "a heap's count of pages differs from its pages");
		heap->figures.arenas++;
		if (!take_delayed(m, owner))
			return false;
	}
	return true;
}

static bool mimalloc_read_segments(struct mimalloc *m)
{
	struct mimalloc_page *page = xcalloc(1, sizeof(*page));
	struct owners owners = {0};
	bool good = no_thread_in_allocator(m->heap, m->main);

	for (size_t i = 0; i < m->segment_count && good; i++)
		good = take_segment(m, m->segments[i], page, &owners);
	good = good && take_heaps(m, &owners);
	if (good)
		mimalloc_find_heaps(m);
	free(owners.heaps);
	free(page);
	return good;
}

enum heap_status mimalloc_read(struct heap *heap)
{
	struct mimalloc m = {.heap = heap};
	const bool is_there = mimalloc_find(&m);
	const bool good = is_there && mimalloc_read_segments(&m);

	free(m.segments);
	if (!good)
		return is_there ? HEAP_INCONSISTENT : HEAP_NOT_FOUND;
	heap->figures.fordblks = heap->figures.arena - heap->figures.uordblks;
	blocks_drop(heap, CLASS_DELAYED);
	return blocks_index(heap) ? HEAP_READ : HEAP_TOO_LARGE;
}
