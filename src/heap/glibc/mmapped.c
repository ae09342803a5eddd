/* Finds mmapped chunks, which are in no list. Their headers are recognised by their contents; malloc's mp_ (struct
 * malloc_par) contains the number of these chunks and their bytes. If more places look like headers, the pointers to
 * these places decide which of them are headers. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "heap/thread_stacks.h"
#include "base/util.h"

#include <stdlib.h>

#define PAGE        4096u
#define HUGE_MAPPED 1u /* a flag in the word before the size, from 2.43 on */

struct found {
	uint64_t begin;      /* start of the chunk's mapping */
	uint64_t start, end; /* range of the chunk, without the memory before it */
};

/* Returns true if an address is in the used part of a thread's stack, where no header can be. If the C library has
 * recorded the stack, its used part ends at the thread's control block. Otherwise the program may have allocated the
 * stack as a block. That block's header is below all stack pointers, and other blocks may follow the stack, so only the
 * page of the stack pointer is regarded as used. */
static bool is_in_stack(struct heap *heap, uint64_t address)
{
	const struct heap_image *const image = heap->image;
	struct thread_stack memory;

	for (size_t i = 0; i < image->n_threads; i++) {
		const uint64_t sp = image->threads[i].sp, tp = image->threads[i].thread_pointer;

		if (address < sp)
			continue;
		if (address < align_up(sp + 1, PAGE) ||
		    (address < tp && stack_memory_of(heap, tp, &memory) && sp >= memory.start && sp < memory.end))
			return true;
	}
	return false;
}

/* Reads the header of an mmapped chunk. Returns false if there is none at address `at`, or if the chunk's mapping is
 * not between `from` and `limit`. The chunk, together with the memory before it in the mapping, fills whole pages. */
static bool mmapped_is_header(struct heap *heap, uint64_t at, uint64_t from, uint64_t limit, struct found *found)
{
	/* From 2.43 on, the chunk's size does not include the last bytes of the mapping, which are as many as a
	 * header has. */
	const unsigned left = is_newest(heap->layout, heap->glibc.state_offset) ? header_size(heap->layout) : 0;
	uint64_t before, size;

	if (!word_at(&heap->words, at, &before) || !word_at(&heap->words, at + heap->layout->word, &size) ||
	    (size & 7) != IS_MAPPED)
		return false;
	size = SIZE_OF(size) + left;
	before &= left ? ~(uint64_t)HUGE_MAPPED : UINT64_MAX;
	if (before > at - from || size < chunk_min(heap->layout) || size > limit - at || (at - before) % PAGE ||
	    (before + size) % PAGE || is_in_stack(heap, at))
		return false;
	*found = (struct found){.begin = at - before, .start = at, .end = at + size};
	return true;
}

/* Finds the chunk whose mapping begins at a page, and ends at `limit` or before. If the block has an alignment
 * (memalign), its header is further inside the mapping, and an old header remains at the mapping's start, so the start
 * is checked last. An alignment of less than a page determines the place of the header; find_inner() finds blocks with
 * larger alignments. */
static bool find_at(struct heap *heap, uint64_t page, uint64_t limit, struct found *found)
{
	const unsigned header = header_size(heap->layout);

	for (uint64_t align = 2 * heap->layout->align; align < PAGE; align *= 2) {
		const uint64_t at = page + align - header;

		if (at + chunk_min(heap->layout) > limit)
			break;
		if (mmapped_is_header(heap, at, page, limit, found) && found->begin == page)
			return true;
	}
	return mmapped_is_header(heap, chunk_start(heap->layout, page), page, limit, found) && found->begin == page;
}

static bool is_of_region(const struct heap *heap, uint64_t address, uint64_t *end)
{
	for (size_t i = 0; i < heap->region_count; i++)
		if (address >= heap->regions[i].begin && address < heap->regions[i].end) {
			*end = heap->regions[i].end;
			return true;
		}
	return false;
}

struct finds {
	struct region *items;
	size_t count, capacity;
	bool has_all; /* true if chunks that begin inside others are found, too */
};

static int compare_found(const void *one, const void *two)
{
	const struct found *a = one, *b = two;

	return compare_u64(a->begin, b->begin);
}

struct inner {
	struct found *items;
	size_t count, capacity;
};

/* Finds the blocks that are aligned to at least a page, sorted by the starts of their mappings. Such a block can
 * begin at any page, because mremap(2) may have moved the mapping. */
static void find_inner(struct heap *heap, uint64_t start, uint64_t end, struct inner *inner)
{
	const unsigned header = header_size(heap->layout);
	struct found found;
	uint64_t next, word;

	for (uint64_t page = start; page < end && end - page > PAGE; page = next) {
		const uint64_t at = page + PAGE - header;

		next = word_at(&heap->words, at, &word) ? page + PAGE : hole_next_page(heap->image, at);
		if (!mmapped_is_header(heap, at, start, end, &found))
			continue;
		ARRAY_GROW(inner->items, inner->capacity, inner->count);
		inner->items[inner->count++] = found;
	}
	if (inner->count)
		qsort(inner->items, inner->count, sizeof(*inner->items), compare_found);
}

static void mmapped_find_in(struct heap *heap, uint64_t start, uint64_t end, struct finds *finds)
{
	struct inner inner = {0};
	uint64_t next, word;
	struct found found;
	size_t i = 0;

	find_inner(heap, start, end, &inner);
	for (uint64_t page = start; page < end; page = next) {
		next = page + PAGE;
		while (i < inner.count && inner.items[i].begin < page)
			i++;
		if (is_of_region(heap, page, &next))
			continue;
		if (i < inner.count && inner.items[i].begin == page) {
			found = inner.items[i];
		} else if (!word_at(&heap->words, page, &word)) {
			next = hole_next_page(heap->image, page);
			if (i < inner.count && inner.items[i].begin < next)
				next = inner.items[i].begin;
			continue;
		} else if (!find_at(heap, page, end, &found)) {
			continue;
		}
		ARRAY_GROW(finds->items, finds->capacity, finds->count);
		finds->items[finds->count++] =
			(struct region){.start = found.start, .begin = page, .end = found.end, .is_mapped = true};
		if (!finds->has_all)
			next = align_up(found.end, PAGE);
	}
	free(inner.items);
}

/* The counts in mp_, which precede sbrk_base: 4 bytes each, and then mmapped_mem and max_mmapped_mem, a word each. From
 * 2.35 on, if words have 8 bytes, there are 4 bytes of padding between these two groups. */
struct mmapped_counts {
	uint32_t n_mmaps, n_mmaps_max, max_n_mmaps, no_dyn_threshold;
};

#define DEFAULT_MAX 65536u /* n_mmaps_max, unless the program or a tunable has set it */

/* Returns true if `counts` can be those of mp_. If is_default is true, n_mmaps_max must have its default value, which
 * hardly ever occurs elsewhere. Otherwise no_dyn_threshold must be 1, because malloc sets it to 1 when the program or a
 * tunable sets n_mmaps_max. */
static bool are_counts(const struct mmapped_counts *counts, uint32_t padding, uint64_t bytes, bool is_default)
{
	if (is_default)
		return counts->n_mmaps_max == DEFAULT_MAX;
	return counts->no_dyn_threshold == 1 && !padding && counts->n_mmaps <= counts->max_n_mmaps && bytes % PAGE == 0;
}

/* Reads the counts before the sbrk_base at address `at`. Returns false if there are none. */
static bool read_counts(struct heap *heap, uint64_t at, bool is_default, uint64_t *count, uint64_t *bytes)
{
	const unsigned w = heap->layout->word;

	*bytes = word_or_0(&heap->words, at - 2 * w);
	for (unsigned gap = w - 4; gap <= 4; gap -= 4) {
		const uint64_t ints = at - 2 * w - gap - sizeof(struct mmapped_counts);
		const struct mmapped_counts counts = {int_or_0(&heap->words, ints), int_or_0(&heap->words, ints + 4),
						      int_or_0(&heap->words, ints + 8),
						      int_or_0(&heap->words, ints + 12)};

		if (are_counts(&counts, gap ? int_or_0(&heap->words, at - 2 * w - gap) : 0, *bytes, is_default)) {
			*count = counts.n_mmaps;
			return true;
		}
	}
	return false;
}

/* Finds the counts of one C library. arena: its main arena; base: an address at which the memory from sbrk(2) may
 * begin. */
static bool find_counts(struct heap *heap, uint64_t arena, uint64_t base, bool is_default, uint64_t *count,
			uint64_t *bytes)
{
	const struct heap_mapping *const m = image_mapping(heap->image, arena);
	const unsigned w = heap->layout->word;
	struct word_run run;

	if (!m || !m->writable)
		return false;
	for (uint64_t at = m->start + 40; next_word_run(heap->image, w, &at, m->end, &run);)
		for (size_t k = 0; k < run.size; k += w)
			if (load_word(run.bytes + k, w) - (base - 15) <= 15 &&
			    read_counts(heap, run.at + k, is_default, count, bytes))
				return true;
	return false;
}

/* Finds the counts of the C library with this main arena. */
static bool find_counts_of(struct heap *heap, const struct arena *arena, uint64_t *count, uint64_t *bytes)
{
	for (int is_default = 1; is_default >= 0; is_default--)
		for (size_t i = 0; i < heap->region_count; i++)
			if (heap->regions[i].arena == 0 && !heap->regions[i].is_mapped &&
			    find_counts(heap, arena->start, heap->regions[i].begin, is_default, count, bytes))
				return true;
	return false;
}

/* Adds up the numbers and the bytes of mmapped chunks that all C libraries of the process have counted. Returns false
 * if the counts of one of the libraries are not found, or are not exact (from glibc 2.43 on). */
static bool has_counts(struct heap *heap, uint64_t *count, uint64_t *bytes)
{
	uint64_t count_of, bytes_of;

	*count = *bytes = 0;
	for (size_t i = 0; i < heap->glibc.arena_count; i++) {
		if (!heap->glibc.arenas[i].is_main)
			continue;
		if (!find_counts_of(heap, &heap->glibc.arenas[i], &count_of, &bytes_of))
			return false;
		*count += count_of;
		*bytes += bytes_of;
	}
	return !is_newest(heap->layout, heap->glibc.state_offset);
}

static void find_all(struct heap *heap, struct finds *finds)
{
	const struct heap_image *image = heap->image;

	finds->count = 0;
	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *const m = image->mappings;
		const uint64_t start = m[i].start;

		if (!image_is_anonymous(&m[i]))
			continue;
		/* After madvise(2) or mprotect(2), the kernel may show one mapping of malloc as several. */
		while (i + 1 < image->n_mappings && m[i + 1].start == m[i].end &&
		       (image_is_anonymous(&m[i + 1]) || image_is_protected(&m[i + 1])))
			i++;
		mmapped_find_in(heap, start, m[i].end, finds);
	}
}

static uint64_t sum_of(const struct finds *finds)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < finds->count; i++)
		sum += finds->items[i].end - finds->items[i].begin;
	return sum;
}

bool mmapped_find(struct heap *heap)
{
	struct finds finds = {0};
	uint64_t count, bytes;

	find_all(heap, &finds);
	if (has_counts(heap, &count, &bytes) && (finds.count != count || sum_of(&finds) != bytes)) {
		finds.has_all = true;
		find_all(heap, &finds);
		finds.count = mmapped_pick(heap, finds.items, finds.count, count, bytes);
		if (finds.count != count || sum_of(&finds) != bytes) {
			free(finds.items);
			return inconsistent(heap, "the mmapped chunks that were found differ from malloc's counts");
		}
	}
	heap->figures.hblks = finds.count;
	heap->figures.hblkhd = sum_of(&finds);
	for (size_t i = 0; i < finds.count; i++) {
		const struct region *const found = &finds.items[i];

		region_add(heap, found);
		block_add(heap, found->start + header_size(heap->layout), found->end - found->start, CHUNK_USED);
	}
	regions_sort(heap->regions, heap->region_count);
	if (finds.count)
		blocks_sort(heap);
	free(finds.items);
	return true;
}
