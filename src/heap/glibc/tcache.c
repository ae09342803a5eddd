/* Finds the caches of threads (tcache). A cache is a block with lists of chunks that the program has released. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "base/util.h"

#include <stdlib.h>

#define SMALL_BINS    64
#define VARIABLES_MAX 4096 /* number of bytes that are searched on one side of the thread pointer */

/* The layout of a tcache_perthread_struct. */
struct tcache_layout {
	unsigned bins, count_size;
	bool counts_room; /* true if a count says how many more chunks fit into the list */
};

static const struct tcache_layout layouts[] = {
	{64, 2, false}, /* 2.30 to 2.41 */
	{76, 2, true},  /* from 2.42 on */
	{64, 1, false}, /* 2.26 to 2.29 */
};

/* Returns the offset of the lists' pointers, which follow the counts. */
static unsigned entries_at(const struct tcache_layout *layout)
{
	return layout->bins * layout->count_size;
}

static unsigned size_of(const struct heap *heap, const struct tcache_layout *layout)
{
	return entries_at(layout) + layout->bins * heap->layout->word;
}

/* Returns true if a chunk has the size of a cache. The chunk may be larger, if the rest was too small to be another
 * chunk. */
static bool tcache_has_size(const struct heap *heap, const struct tcache_layout *layout, uint64_t chunk_size)
{
	const uint64_t least = align_up(size_of(heap, layout) + heap->layout->word, heap->layout->align);

	return chunk_size - least <= chunk_min(heap->layout) - heap->layout->align;
}

static unsigned count_of(struct heap *heap, const struct tcache_layout *layout, uint64_t cache, unsigned bin)
{
	const uint64_t at = cache + (uint64_t)bin * layout->count_size;
	const uint32_t word = int_or_0(&heap->words, align_down(at, 4)) >> at % 4 * 8;

	return (unsigned)(word & (layout->count_size == 1 ? 0xff : 0xffff));
}

/* Follows all lists of a block that may be a cache. Returns how many chunks are in the lists, or -1 if the block is
 * no cache. A list's count may be wrong by one, because a thread can be stopped between changing a list and changing
 * its count. */
static int64_t follow_all(struct heap *heap, const struct tcache_layout *layout, uint64_t cache, bool is_mixed,
			  struct marks *marks)
{
	int64_t sum = 0;

	for (unsigned bin = 0; bin < layout->bins; bin++) {
		const struct chain chain = {
			.first = word_or_0(&heap->words, cache + entries_at(layout) + bin * heap->layout->word),
			.size = bin < SMALL_BINS ? chunk_min(heap->layout) + bin * heap->layout->align : 0,
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

static void tcache_take_cache(struct heap *heap, struct block *chunk, const struct tcache_layout *layout)
{
	struct marks marks = {0};

	for (int is_mixed = 1; is_mixed >= 0 && block_state(chunk) == CHUNK_USED; is_mixed--) {
		if (follow_all(heap, layout, block_address(chunk), is_mixed, &marks) > 0)
			block_set_state(chunk, CHUNK_INTERNAL);
		else
			marks_undo(&marks);
	}
	free(marks.items);
}

/* Returns the offset, from the thread pointer, of the first word that is searched as a thread's variable. Only the side
 * with the thread's variables is searched. If that side is above the thread pointer, the thread's stack is below it;
 * the stack contains old pointers to caches and to blocks of the same size. */
static int64_t first_variable(const struct heap *heap)
{
	return heap->image->arch->tls.is_below_variables ? 0 : -VARIABLES_MAX;
}

/* Returns the word at an offset from a thread's thread pointer, or 0 if there is none. */
static uint64_t variable_at(struct heap *heap, size_t thread, int64_t place)
{
	const uint64_t pointer = heap->image->threads[thread].thread_pointer;

	return pointer ? word_or_0(&heap->words, pointer + (uint64_t)place) : 0;
}

/* Returns true if a variable of some thread points to an address, as a thread's pointer to its cache does. */
static bool is_variable_of_thread(struct heap *heap, uint64_t address)
{
	const int64_t first = first_variable(heap);

	for (size_t i = 0; i < heap->image->n_threads; i++)
		for (int64_t place = first; place < first + VARIABLES_MAX; place += heap->layout->word)
			if (variable_at(heap, i, place) == address)
				return true;
	return false;
}

/* Returns true if a chunk contains only zeros, except for the counts from 2.42 on. */
static bool is_empty(struct heap *heap, const struct block *chunk, const struct tcache_layout *layout)
{
	for (unsigned at = layout->counts_room ? entries_at(layout) : 0; at < size_of(heap, layout);
	     at += heap->layout->word)
		if (word_or_0(&heap->words, block_address(chunk) + at))
			return false;
	return true;
}

static void take_if_empty(struct heap *heap, struct block *chunk)
{
	for (size_t k = 0; k < ARRAY_SIZE(layouts) && block_state(chunk) == CHUNK_USED; k++)
		if (tcache_has_size(heap, &layouts[k], block_size(heap, chunk)) && is_empty(heap, chunk, &layouts[k]))
			block_set_state(chunk, CHUNK_INTERNAL);
}

/* Marks the empty caches. Only chunks to which a variable of a thread points are examined, because the program may have
 * a million blocks of a cache's size that contain only zeros. */
static void take_empty_caches(struct heap *heap)
{
	const int64_t first = first_variable(heap);

	for (size_t i = 0; i < heap->image->n_threads; i++)
		for (int64_t place = first; place < first + VARIABLES_MAX; place += heap->layout->word) {
			struct block *const chunk = block_at(heap, variable_at(heap, i, place));

			if (chunk)
				take_if_empty(heap, chunk);
		}
}

/* ---- Caches that are damaged ---- */

static bool is_cache(struct heap *heap, uint64_t address)
{
	const struct block *chunk = block_at(heap, address);

	return chunk && block_state(chunk) == CHUNK_INTERNAL;
}

/* Returns true if a block has the size of a cache but is not a consistent cache. */
static bool is_odd(struct heap *heap, uint64_t address)
{
	const struct block *chunk = block_at(heap, address);

	for (size_t k = 0; chunk && block_state(chunk) == CHUNK_USED && k < ARRAY_SIZE(layouts); k++)
		if (tcache_has_size(heap, &layouts[k], block_size(heap, chunk)))
			return true;
	return false;
}

/* Returns how many threads have a pointer to a cache at an offset from the thread pointer. */
static size_t count_caches(struct heap *heap, int64_t place)
{
	size_t count = 0;

	for (size_t i = 0; i < heap->image->n_threads; i++) {
		const uint64_t address = variable_at(heap, i, place);

		count += address && is_cache(heap, address);
	}
	return count;
}

static bool has_odd_at(struct heap *heap, int64_t place)
{
	for (size_t i = 0; i < heap->image->n_threads; i++) {
		const uint64_t address = variable_at(heap, i, place);

		if (address && is_odd(heap, address)) {
			heap->place = address - header_size(heap->layout);
			return true;
		}
	}
	return false;
}

/* Returns true if a thread's cache is inconsistent; heap->place is then the cache's header. Each thread has its pointer
 * to the cache at the same offset from its thread pointer. So the function uses the offset at which most threads have a
 * pointer to a cache. The searched words may include an old pointer on a stack, but few threads have such a pointer at
 * the same offset. */
static bool has_odd_cache(struct heap *heap)
{
	const int64_t first = first_variable(heap);
	size_t most = 1;
	bool is_odd_there = false;

	for (int64_t place = first; place < first + VARIABLES_MAX; place += heap->layout->word) {
		const size_t count = count_caches(heap, place);

		if (count < most)
			continue;
		is_odd_there = has_odd_at(heap, place) || (is_odd_there && count == most);
		most = count;
	}
	return is_odd_there;
}

/* Returns true if the first thread's cache, which is the first block that malloc allocates, is inconsistent;
 * heap->place is then its header. */
static bool is_first_odd(struct heap *heap)
{
	for (size_t i = 0; i < heap->region_count; i++) {
		const struct region *region = &heap->regions[i];
		const uint64_t address = region->start + header_size(heap->layout);

		if (region->arena != 0 || region->is_mapped)
			continue;
		heap->place = region->start;
		return is_odd(heap, address) && is_variable_of_thread(heap, address);
	}
	return false;
}

static void tcache_take_all(struct heap *heap)
{
	for (size_t i = 0; i < heap->block_count; i++) {
		struct block *chunk = &heap->blocks[i];

		for (size_t k = 0; k < ARRAY_SIZE(layouts) && block_state(chunk) == CHUNK_USED; k++)
			if (tcache_has_size(heap, &layouts[k], block_size(heap, chunk)))
				tcache_take_cache(heap, chunk, &layouts[k]);
	}
}

bool tcaches_find(struct heap *heap)
{
	tcache_take_all(heap);
	/* Empty caches are searched for last, because a released chunk can look like an empty cache until all chunks
	 * in caches are marked. */
	take_empty_caches(heap);
	if (has_odd_cache(heap) || is_first_odd(heap))
		return inconsistent_at(heap, heap->place, "a thread's cache is broken");
	for (size_t i = 0; i < heap->block_count; i++)
		if (block_state(&heap->blocks[i]) == CHUNK_CACHED) {
			heap->figures.cached_chunks++;
			heap->figures.cached_bytes += block_size(heap, &heap->blocks[i]);
		}
	return true;
}
