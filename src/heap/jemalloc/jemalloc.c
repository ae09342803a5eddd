/* Reads the extents that jemalloc's radix tree contains, and the blocks in them. */
#include "config.h"
#include "heap/jemalloc/jemalloc.h"
#include "heap/allocator_code.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define LEAVES      (1u << 18)
#define LEAF_BYTES  (8ull << 18)
#define REGIONS_MAX 512u

struct extent {
	uint64_t bits, address, start, size;
	uint64_t map[REGIONS_MAX / 64];
};

static bool read_extent(struct jemalloc *j, uint64_t edata, struct extent *extent)
{
	const unsigned char *bytes = bytes_at(&j->heap->words, edata, EDATA_BYTES);

	if (!bytes)
		return false;
	extent->bits = load_word(bytes, 8);
	extent->address = load_word(bytes + EDATA_ADDRESS, 8);
	extent->start = align_down(extent->address, JEMALLOC_PAGE);
	extent->size = align_down(load_word(bytes + EDATA_SIZE, 8), JEMALLOC_PAGE);
	memcpy(extent->map, bytes + EDATA_MAP, sizeof(extent->map));
	return extent->size && extent->start + extent->size > extent->start;
}

static void jemalloc_add_block(struct jemalloc *j, uint64_t address, uint64_t size)
{
	struct heap *heap = j->heap;

	block_add(heap, address, size, HEAP_LOST);
	heap->figures.uordblks += size;
}

static bool take_slab(struct jemalloc *j, const struct extent *extent)
{
	const unsigned class = EDATA_CLASS(extent->bits), arena = EDATA_ARENA(extent->bits);
	unsigned unused = 0;

	if (class >= JEMALLOC_BINS || extent->size != j->slab_sizes[class] || extent->address != extent->start)
		return inconsistent_at(j->heap, extent->start, "a slab has an impossible size");
	const uint64_t size = jemalloc_size(class);
	const unsigned regions = (unsigned)(extent->size / size);

	/* The bits after that of the slab's last region must be clear, up to the end of the word. Later words of the
	 * map are not read, because they may contain anything. */
	for (unsigned i = 0; i < align_up(regions, 64); i++) {
		const bool is_free = extent->map[i / 64] >> i % 64 & 1;

		if (is_free && i >= regions)
			return inconsistent_at(j->heap, extent->start, "a slab has more free regions than regions");
		unused += is_free;
		if (!is_free && i < regions)
			jemalloc_add_block(j, extent->start + i * size, size);
	}
	if (unused != EDATA_FREE(extent->bits))
		return inconsistent_at(j->heap, extent->start, "a slab's count of free regions differs from its map");
	j->sums[arena * JEMALLOC_BINS + class].regions += regions - unused;
	j->sums[arena * JEMALLOC_BINS + class].slabs++;
	return true;
}

/* Adds a large block. So that large blocks begin in different cache lines, jemalloc may place a block anywhere in the
 * first page of its extent; such an extent is a page longer. A small block that is sampled for a profile is allocated
 * like a large one. */
static bool take_large(struct jemalloc *j, const struct extent *extent)
{
	const unsigned class = EDATA_CLASS(extent->bits);

	if (class >= JEMALLOC_SIZES)
		return inconsistent_at(j->heap, extent->start, "a large block has an impossible size");
	const uint64_t size = jemalloc_size(class), whole = class < JEMALLOC_BINS ? jemalloc_size(JEMALLOC_BINS) : size;

	if ((extent->size != whole && extent->size != whole + JEMALLOC_PAGE) ||
	    extent->address - extent->start + size > extent->size)
		return inconsistent_at(j->heap, extent->start, "a large block has another size than its memory");
	jemalloc_add_block(j, extent->address, size);
	j->heap->figures.hblks++;
	j->heap->figures.hblkhd += size;
	return true;
}

/* Adds memory as a region; if it directly follows the last region, extends that region. */
static void add_memory(struct heap *heap, uint64_t start, uint64_t end)
{
	struct region *last = heap->region_count ? &heap->regions[heap->region_count - 1] : NULL;

	if (last && last->end == start)
		last->end = end;
	else
		region_add(heap, &(struct region){.start = start, .begin = start, .end = end});
}

/* If the extent that a word of a leaf describes begins at `page`, adds the extent and its blocks. Returns false and
 * sets heap->reason if the extent is inconsistent. The word contains the address of an edata, the size class in higher
 * bits, and in lower bits the extent's state and whether it is a slab. *end: the end of the extents read so far. */
static bool jemalloc_take_page(struct jemalloc *j, uint64_t page, uint64_t word, uint64_t *end)
{
	struct heap *heap = j->heap;
	struct extent extent;

	if (!read_extent(j, jemalloc_edata(word), &extent))
		return inconsistent_at(heap, page, "a page's description cannot be read");
	if (page != extent.start)
		return (page > extent.start && page - extent.start < extent.size && page < *end) ||
		       inconsistent_at(heap, page, "a page is recorded for an extent that does not contain it");
	const bool is_active = EDATA_STATE(extent.bits) == STATE_ACTIVE;

	if ((word >> 2 & 7) != EDATA_STATE(extent.bits) ||
	    (is_active && (word >> 48 != EDATA_CLASS(extent.bits) || (word & 1) != EDATA_IS_SLAB(extent.bits))))
		return inconsistent_at(heap, page, "an extent's description differs from the tree of pages");
	if (page < *end)
		return inconsistent_at(heap, page, "two extents overlap");
	if (EDATA_STATE(extent.bits) > STATE_RETAINED)
		return inconsistent_at(heap, page, "an extent is between two states");
	*end = page + extent.size;
	if (!heap_has_memory(heap->image, page, *end))
		return EDATA_STATE(extent.bits) == STATE_RETAINED ||
		       inconsistent_at(heap, page, "an extent has no memory");
	add_memory(heap, page, *end);
	heap->figures.arena += EDATA_STATE(extent.bits) == STATE_RETAINED ? 0 : extent.size;
	if (!is_active)
		return true;
	if (!jemalloc_arena(j, EDATA_ARENA(extent.bits)))
		return inconsistent_at(heap, page, "an extent belongs to an arena that does not exist");
	return EDATA_IS_SLAB(extent.bits) ? take_slab(j, &extent) : take_large(j, &extent);
}

static bool take_leaf(struct jemalloc *j, uint64_t leaf, uint64_t first, uint64_t *end)
{
	struct word_run run;

	for (uint64_t at = leaf; next_word_run(j->heap->image, 8, &at, leaf + LEAF_BYTES, &run);)
		for (size_t i = 0; i < run.size; i += 8) {
			const uint64_t word = load_word(run.bytes + i, 8);
			const uint64_t page = first + (run.at + i - leaf) / 8 * JEMALLOC_PAGE;

			/* A word without an address is that of a released extent: only the size class is left. */
			if (jemalloc_edata(word) && !jemalloc_take_page(j, page, word, end))
				return false;
		}
	return true;
}

/* Reads a leaf. Returns false if a leaf in the same LEAF_BYTES of memory was read before, because leaves do not
 * overlap. Without this check, reading a damaged root whose words all point to one leaf would take hours. */
static bool take_leaf_once(struct jemalloc *j, uint64_t leaf, uint64_t first, uint64_t *end)
{
	uint64_t *const seen = hash_place(&j->leaves, leaf / LEAF_BYTES + 1);

	if ((*seen)++)
		return inconsistent_at(j->heap, leaf, "two leaves of the tree of pages overlap in memory");
	if (leaf + LEAF_BYTES < leaf)
		return inconsistent_at(j->heap, leaf, "a leaf of the tree of pages extends beyond the last address");
	return take_leaf(j, leaf, first, end);
}

static bool take_tree(struct jemalloc *j)
{
	uint64_t end = 0;

	for (uint64_t i = 0; i < LEAVES; i++) {
		const uint64_t leaf = word_or_0(&j->heap->words, j->root + 8 * i);

		if (leaf && !take_leaf_once(j, leaf, i << 30, &end))
			return false;
	}
	return true;
}

/* Sorts the regions: those of jemalloc's own memory were added last, and are between extents. Returns false and sets
 * heap->reason if two regions overlap. */
static bool sort_regions(struct heap *heap)
{
	regions_sort(heap->regions, heap->region_count);
	for (size_t i = 1; i < heap->region_count; i++)
		if (heap->regions[i].start < heap->regions[i - 1].end)
			return inconsistent_at(heap, heap->regions[i].start,
					       "an extent is inside the allocator's own memory");
	return true;
}

enum heap_status jemalloc_read(struct heap *heap)
{
	struct jemalloc j = {.heap = heap};
	const enum heap_status found = jemalloc_find(&j);

	if (found != HEAP_READ)
		return found;
	j.sums = xcalloc((size_t)JEMALLOC_ARENAS * JEMALLOC_BINS, sizeof(*j.sums));
	const bool good =
		no_thread_in_allocator(heap, j.bin_infos) && take_tree(&j) && jemalloc_arenas(&j) && sort_regions(heap);

	free(j.sums);
	hash_free(&j.leaves);
	if (!good)
		return HEAP_INCONSISTENT;
	heap->figures.fordblks = heap->figures.arena - heap->figures.uordblks;
	/* Blocks in caches are removed, because the program has released them. */
	blocks_drop(heap, CLASS_TAKEN);
	return blocks_index(heap) ? HEAP_READ : HEAP_TOO_LARGE;
}

size_t jemalloc_locks(struct heap *heap, uint64_t *addresses, size_t most)
{
	struct jemalloc j = {.heap = heap};
	size_t count = 0;

	if (jemalloc_find(&j) != HEAP_READ)
		return 0;
	const unsigned bins = jemalloc_bins(&j);

	for (unsigned i = 0; i < JEMALLOC_ARENAS; i++) {
		const uint64_t arena = jemalloc_arena(&j, i);

		for (unsigned bin = 0; arena && bin < bins && count < most; bin++)
			addresses[count++] = arena + ARENA_BINS + bin * BIN_BYTES + BIN_LOCK;
	}
	return count;
}
