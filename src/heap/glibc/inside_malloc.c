/* Finds the blocks that a thread inside malloc or free is allocating or releasing. The thread uses the addresses of
 * the chunks' headers. At times such an address is the only pointer to a block. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "heap/allocator_code.h"
#include "base/util.h"

#include <stdlib.h>

#define FRAMES    2048u /* upper limit of the bytes of stack that malloc's functions use */
#define FAST_MAX  20u   /* size of the largest chunks in fastbins, in words: global_max_fast can be 160 bytes */
#define CHAIN_MAX 65536u

struct inside_malloc_held {
	uint64_t word, address; /* address of the word; 0 if it is in a register */
};

struct holding {
	struct heap *heap;
	pid_t tid;
	struct inside_malloc_held *items; /* words of the thread that are addresses in the heap */
	size_t count, capacity;
	inside_callback callback;
	void *context;
};

static void inside_malloc_add(struct holding *holding, uint64_t word, uint64_t address)
{
	word = arch_data_address(holding->heap->image->arch, word);
	if (!region_of(holding->heap, word))
		return;
	ARRAY_GROW(holding->items, holding->capacity, holding->count);
	holding->items[holding->count++] = (struct inside_malloc_held){word, address};
}

static bool inside_malloc_has(const struct holding *holding, uint64_t word)
{
	for (size_t i = 0; i < holding->count; i++)
		if (holding->items[i].word == word)
			return true;
	return false;
}

/* Returns the block whose header is at an address, or HEAP_NONE. */
static uint32_t block_of_header(const struct heap *heap, uint64_t header)
{
	const uint32_t index = heap_find(heap, header + heap->header_before);

	return index != HEAP_NONE && block_address(&heap->blocks[index]) == header + heap->header_before ? index
													 : HEAP_NONE;
}

static void inside_malloc_give(const struct holding *holding, uint32_t index, const struct inside_malloc_held *by)
{
	holding->callback(holding->context, block_address(&holding->heap->blocks[index]), by->address,
			  by->address ? 0 : holding->tid);
}

/* Returns the block whose mapping begins at an address, or HEAP_NONE. free() and realloc() pass this address to
 * munmap(2) and mremap(2), so the thread may have no other pointer to the block. If the block was allocated with an
 * alignment, the address is before the chunk's header. */
static uint32_t block_of_mapping(const struct heap *heap, uint64_t address)
{
	const struct region *const region = region_of(heap, address);

	return region && region->is_mapped && region->begin == address ? block_of_header(heap, region->start)
								       : HEAP_NONE;
}

/* Returns the block in use that ends at `end` and that free() is merging with the previous free chunk, or HEAP_NONE.
 * At that moment the thread has only the end of the chunk being released:
 *
 *     free(p): p is in use | p = the previous chunk, next = end of the old p | unlinks the previous chunk */
static uint32_t block_before(struct holding *holding, uint64_t end)
{
	struct heap *const heap = holding->heap;
	const unsigned w = heap->words.width;
	const uint32_t index = heap_find(heap, end);
	uint64_t size, before;

	if (index == HEAP_NONE)
		return HEAP_NONE;
	const uint64_t header = block_address(&heap->blocks[index]) - heap->header_before;

	return word_at(&heap->words, header + w, &size) && word_at(&heap->words, header, &before) &&
			       !(size & PREVIOUS_IN_USE) && header + SIZE_OF(size) == end &&
			       inside_malloc_has(holding, header - before)
		       ? index
		       : HEAP_NONE;
}

/* Calls the callback for the chunks that follow chunk `index` in a list of small chunks: malloc_consolidate() detaches
 * whole lists, and then no other pointer to these chunks exists. */
static void give_chain(const struct holding *holding, uint32_t index, const struct inside_malloc_held *by)
{
	struct heap *const heap = holding->heap;
	const uint64_t most = (FAST_MAX - 1) * heap->words.width;

	for (unsigned i = 0; i < CHAIN_MAX && index != HEAP_NONE && block_size(heap, &heap->blocks[index]) <= most;
	     i++) {
		const uint64_t address = block_address(&heap->blocks[index]);
		const uint64_t next = word_or_0(&heap->words, address);
		const uint32_t mixed = block_of_header(heap, next ^ address >> 12);

		index = mixed != HEAP_NONE ? mixed : block_of_header(heap, next);
		if (index != HEAP_NONE)
			inside_malloc_give(holding, index, by);
	}
}

static void give_all(struct holding *holding, bool is_glibc)
{
	for (size_t i = 0; i < holding->count; i++) {
		const struct inside_malloc_held *const held = &holding->items[i];
		const uint32_t own = block_of_header(holding->heap, held->word);
		const uint32_t mapped = block_of_mapping(holding->heap, held->word);
		const uint32_t before = is_glibc ? block_before(holding, held->word) : HEAP_NONE;

		if (own != HEAP_NONE)
			inside_malloc_give(holding, own, held);
		if (mapped != HEAP_NONE)
			inside_malloc_give(holding, mapped, held);
		if (before != HEAP_NONE)
			inside_malloc_give(holding, before, held);
		if (own != HEAP_NONE && is_glibc)
			give_chain(holding, own, held);
	}
}

/* Returns true if a thread runs glibc's code. The address of the code of musl's old malloc is unknown; in a heap of
 * that malloc, inside_each() therefore uses the registers of every thread. */
static bool inside_malloc_is_in_glibc(const struct heap *heap, const struct heap_thread *thread)
{
	for (size_t i = 0; i < heap->glibc.arena_count && !thread->is_outside; i++)
		if (heap->glibc.arenas[i].is_main &&
		    code_is_beside(heap->image, heap->glibc.arenas[i].start, thread->pc))
			return true;
	return false;
}

void inside_each(struct heap *heap, const struct heap_thread *thread, inside_callback callback, void *context)
{
	struct holding holding = {.heap = heap, .tid = thread->tid, .callback = callback, .context = context};
	const bool is_glibc = inside_malloc_is_in_glibc(heap, thread);
	const unsigned width = heap->words.width;
	uint64_t word;

	if (!is_glibc && (heap->glibc.arena_count || !heap->header_before))
		return;
	for (size_t i = 0; i < thread->n_words; i++)
		inside_malloc_add(&holding, thread->words[i], 0);
	for (uint64_t at = align_up(thread->sp, width), end = at + FRAMES;
	     is_glibc && at < end && word_at(&heap->words, at, &word); at += width)
		inside_malloc_add(&holding, word, at);
	give_all(&holding, is_glibc);
	free(holding.items);
}
