/* The caches of threads (tcache), each a block with lists of chunks that nobody has. */
#include "config.h"
#include "heap/glibc.h"
#include "base/util.h"

#include <stdlib.h>

#define SMALL_BINS    64
#define VARIABLES_MAX 4096 /* on each side of the thread pointer */

/* A tcache_perthread_struct. */
struct layout {
	unsigned bins, count_size;
	bool counts_room; /* the numbers say how many chunks there is still room for */
};

static const struct layout layouts[] = {
	{64, 2, false}, /* 2.30 to 2.41 */
	{76, 2, true},  /* from 2.42 on */
	{64, 1, false}, /* 2.26 to 2.29 */
};

/* Behind the numbers: a pointer of each list. */
static unsigned entries_at(const struct layout *layout)
{
	return layout->bins * layout->count_size;
}

static unsigned size_of(const struct heap *heap, const struct layout *layout)
{
	return entries_at(layout) + layout->bins * heap->form->word;
}

/* Of its chunk; or more, where the rest was too small for another. */
static bool has_size(const struct heap *heap, const struct layout *layout, uint64_t chunk_size)
{
	const uint64_t least = align_up(size_of(heap, layout) + heap->form->word, heap->form->align);

	return chunk_size - least <= chunk_min(heap->form) - heap->form->align;
}

static unsigned count_of(struct heap *heap, const struct layout *layout, uint64_t cache, unsigned bin)
{
	const uint64_t at = cache + (uint64_t)bin * layout->count_size;
	const uint32_t word = int_or_0(&heap->words, align_down(at, 4)) >> at % 4 * 8;

	return (unsigned)(word & (layout->count_size == 1 ? 0xff : 0xffff));
}

/* Follows all lists of what may be a cache. How many chunks they have; -1: it is none. A thread can stand between the
 * change of a list and of its number. */
static int64_t follow_all(struct heap *heap, const struct layout *layout, uint64_t cache, bool is_mixed,
			  struct marks *marks)
{
	int64_t sum = 0;

	for (unsigned bin = 0; bin < layout->bins; bin++) {
		const struct chain chain = {
			.first = word_or_0(&heap->words, cache + entries_at(layout) + bin * heap->form->word),
			.size = bin < SMALL_BINS ? chunk_min(heap->form) + bin * heap->form->align : 0,
			.is_mixed = is_mixed,
			.state = CHUNK_CACHED};
		const int64_t count = chain_follow(heap, &chain, marks);
		const int64_t said = layout->counts_room ? count : count_of(heap, layout, cache, bin);

		if (count < 0 || count > said + 1 || said > count + 1)
			return -1;
		sum += count;
	}
	return sum;
}

static bool take_cache(struct heap *heap, struct chunk *chunk, const struct layout *layout)
{
	struct marks marks = {0};

	for (int is_mixed = 1; is_mixed >= 0 && chunk->state == CHUNK_USED; is_mixed--) {
		if (follow_all(heap, layout, chunk->address, is_mixed, &marks) > 0)
			chunk->state = CHUNK_INTERNAL;
		else
			marks_undo(&marks);
	}
	free(marks.items);
	return chunk->state == CHUNK_INTERNAL;
}

/* The pointer to its cache is among each thread's variables. */
static bool is_variable_of_thread(struct heap *heap, uint64_t address)
{
	for (size_t i = 0; i < heap->image->n_threads; i++) {
		const uint64_t pointer = heap->image->threads[i].thread_pointer;

		for (uint64_t at = pointer - VARIABLES_MAX; pointer && at < pointer + VARIABLES_MAX;
		     at += heap->form->word)
			if (word_or_0(&heap->words, at) == address)
				return true;
	}
	return false;
}

/* An empty one has nothing but zeros, or, from 2.42 on, the same number in all counts. */
static bool is_empty(struct heap *heap, const struct chunk *chunk, const struct layout *layout)
{
	for (unsigned at = layout->counts_room ? entries_at(layout) : 0; at < size_of(heap, layout);
	     at += heap->form->word)
		if (word_or_0(&heap->words, chunk->address + at))
			return false;
	return is_variable_of_thread(heap, chunk->address);
}

/* ---- Caches that are damaged ---- */

static bool is_cache(struct heap *heap, uint64_t address)
{
	const struct chunk *chunk = chunk_at(heap, address);

	return chunk && chunk->state == CHUNK_INTERNAL;
}

/* Whether it is of a cache's size, but none that holds together. */
static bool is_odd(struct heap *heap, uint64_t address)
{
	const struct chunk *chunk = chunk_at(heap, address);

	for (size_t k = 0; chunk && chunk->state == CHUNK_USED && k < ARRAY_SIZE(layouts); k++)
		if (has_size(heap, &layouts[k], chunk->size))
			return true;
	return false;
}

/* The pointers to caches are at the same place among the variables of all threads: whether at one, by which a thread
 * has a cache, another has what is none; heap->place: where. */
static bool has_odd_cache(struct heap *heap)
{
	const struct heap_image *image = heap->image;

	for (int64_t place = -VARIABLES_MAX; place < VARIABLES_MAX; place += heap->form->word) {
		bool is_known = false, has_odd = false;

		for (size_t i = 0; i < image->n_threads; i++) {
			const uint64_t pointer = image->threads[i].thread_pointer;
			const uint64_t address = pointer ? word_or_0(&heap->words, pointer + (uint64_t)place) : 0;

			is_known |= address && is_cache(heap, address);
			if (address && is_odd(heap, address)) {
				has_odd = true;
				heap->place = address - header_size(heap->form);
			}
		}
		if (is_known && has_odd)
			return true;
	}
	return false;
}

/* The first thread's own, which is the first block that malloc gives; heap->place: where. */
static bool is_first_odd(struct heap *heap)
{
	for (size_t i = 0; i < heap->region_count; i++) {
		const struct region *region = &heap->regions[i];
		const uint64_t address = region->start + header_size(heap->form);

		if (region->arena != 0 || region->is_mapped)
			continue;
		heap->place = region->start;
		return is_odd(heap, address) && is_variable_of_thread(heap, address);
	}
	return false;
}

bool caches_find(struct heap *heap)
{
	for (size_t i = 0; i < heap->chunk_count; i++) {
		struct chunk *chunk = &heap->chunks[i];

		for (size_t k = 0; k < ARRAY_SIZE(layouts) && chunk->state == CHUNK_USED; k++)
			if (has_size(heap, &layouts[k], chunk->size) && !take_cache(heap, chunk, &layouts[k]) &&
			    is_empty(heap, chunk, &layouts[k]))
				chunk->state = CHUNK_INTERNAL;
	}
	if (has_odd_cache(heap) || is_first_odd(heap))
		return inconsistent_at(heap, heap->place, "a thread's cache does not hold together");
	for (size_t i = 0; i < heap->chunk_count; i++)
		if (heap->chunks[i].state == CHUNK_CACHED) {
			heap->figures.cached_chunks++;
			heap->figures.cached_bytes += heap->chunks[i].size;
		}
	return true;
}
