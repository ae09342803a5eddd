/* Walks through the chunks of all arenas and through the lists of free chunks, and checks that the bins have as many
 * free chunks and bytes as the walk has found. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* The free chunks that the walk finds in an arena's regions. */
struct walked {
	uint64_t free_chunks, free_bytes; /* sums of the chunks that must be in bins */
};

/* Returns true for the size of a chunk that has a header only. A full heap ends with such chunks; the header of the
 * last one contains the size 0. */
static bool is_fence(const struct heap *heap, uint64_t size)
{
	return size == 0 || size == header_size(heap->layout);
}

/* Adds a chunk that is not the topmost one. A bit in the next chunk's header says whether the chunk is in use. */
static bool take_chunk(struct heap *heap, const struct region *region, uint64_t at, uint64_t size,
		       struct walked *walked)
{
	uint64_t next, foot;

	if (at + size + header_size(heap->layout) > region->end ||
	    !word_at(&heap->words, at + size + heap->layout->word, &next))
		return inconsistent_at(heap, at, "a chunk ends outside of its arena");
	if (next & PREVIOUS_IN_USE) {
		block_add(heap, at + header_size(heap->layout), size, CHUNK_USED);
		return true;
	}
	if (!word_at(&heap->words, at + size, &foot) || foot != size)
		return inconsistent_at(heap, at, "a free chunk's size at its end differs from the one in its header");
	walked->free_chunks++;
	walked->free_bytes += size;
	block_add(heap, at + header_size(heap->layout), size, CHUNK_FREE);
	return true;
}

/* Splits a main arena's region at memory that other code got from sbrk(2): the region ends at `end`, and a new region
 * begins with the next piece. */
static bool divide_main_region(struct heap *heap, size_t index, uint64_t end)
{
	const struct region whole = heap->regions[index];
	const uint64_t next = noncontiguous_next(heap, end, whole.end);

	if (!next)
		return inconsistent_at(heap, end, "the next piece of the main arena was not found");
	region_add(heap, &whole);
	memmove(&heap->regions[index + 2], &heap->regions[index + 1],
		(heap->region_count - index - 2) * sizeof(*heap->regions));
	heap->regions[index + 1] = whole;
	heap->regions[index + 1].start = heap->regions[index + 1].begin = next;
	heap->regions[index].end = end;
	heap->regions[index].top = 0;
	return true;
}

static bool chunks_walk(struct heap *heap, size_t index, struct walked *walked)
{
	const struct region *const region = &heap->regions[index];
	const unsigned least = chunk_min(heap->layout), align = heap->layout->align;
	uint64_t word, size;

	for (uint64_t at = region->start; at < region->end; at += size) {
		if (!word_at(&heap->words, at + heap->layout->word, &word))
			return inconsistent_at(heap, at, "a chunk's header cannot be read");
		size = SIZE_OF(word);
		if (at == region->top)
			return at + size == region->end ||
			       inconsistent_at(heap, at, "the topmost chunk does not end with its arena");
		if (is_fence(heap, size) && !region->top &&
		    region->end - at <= least + align - header_size(heap->layout))
			return true;
		if (size < least && region->top && heap->glibc.arenas[region->arena].is_main &&
		    noncontiguous_fence(heap, at))
			return divide_main_region(heap, index, noncontiguous_fence(heap, at));
		if (size < least || size % align || size > region->end - at || (word & IS_MAPPED))
			return inconsistent_at(heap, at, "a chunk has an impossible size");
		if (!take_chunk(heap, region, at, size, walked))
			return false;
	}
	return region->top == 0 || inconsistent_at(heap, region->top, "the topmost chunk was not found");
}

/* Adds the chunks in an arena's bins to *sum. Returns false if a bin's list is broken, or if the bins have more chunks
 * than the walk has found free. */
static bool read_bins(struct heap *heap, const struct arena *arena, const struct walked *walked, struct walked *sum)
{
	const unsigned w = heap->layout->word;
	uint64_t word, back, next;

	for (unsigned i = 0; i < BINS; i++) {
		const uint64_t header = arena->bins + i * 2 * w - 2 * w;

		for (uint64_t before = header, at = word_or_0(&heap->words, header + 2 * w); at != header; at = next) {
			if (sum->free_chunks++ > walked->free_chunks || !word_at(&heap->words, at + w, &word) ||
			    !word_at(&heap->words, at + 2 * w, &next) || !word_at(&heap->words, at + 3 * w, &back) ||
			    back != before)
				return inconsistent_at(heap, at, "a bin's list is broken");
			sum->free_bytes += SIZE_OF(word);
			before = at;
		}
	}
	heap->figures.ordblks++;
	return true;
}

/* Checks that the bins have as many chunks and bytes as the walk has found free. The chunks of all main arenas are
 * compared as one sum. */
static bool chunks_check_bins(struct heap *heap, const struct walked *walked)
{
	struct walked *const sums = xcalloc(heap->glibc.arena_count, sizeof(*sums));
	bool good = true;

	for (size_t i = 0; i < heap->glibc.arena_count && good; i++) {
		const size_t index = heap->glibc.arenas[i].is_main ? 0 : i;

		good = read_bins(heap, &heap->glibc.arenas[i], &walked[index], &sums[index]);
	}
	for (size_t i = 0; i < heap->glibc.arena_count && good; i++) {
		heap->figures.ordblks += sums[i].free_chunks;
		heap->figures.fordblks += sums[i].free_bytes;
		good = (sums[i].free_chunks == walked[i].free_chunks && sums[i].free_bytes == walked[i].free_bytes) ||
		       inconsistent_at(heap, heap->glibc.arenas[i].start,
				       "the chunks in the bins differ from the free chunks");
	}
	free(sums);
	return good;
}

int64_t chain_follow(struct heap *heap, const struct chain *chain, struct marks *marks)
{
	int64_t count = 0;

	for (uint64_t at = chain->first, next; at; at = next) {
		const uint64_t address = at + chain->header;
		struct block *chunk = block_at(heap, address);

		if (!chunk || block_state(chunk) != CHUNK_USED ||
		    (chain->size && block_size(heap, chunk) != chain->size)) {
			heap->place = at;
			return -1;
		}
		block_set_state(chunk, chain->state);
		ARRAY_GROW(marks->items, marks->capacity, marks->count);
		marks->items[marks->count++] = chunk;
		next = word_or_0(&heap->words, address) ^ (chain->is_mixed ? address >> 12 : 0);
		count++;
	}
	return count;
}

void marks_undo(struct marks *marks)
{
	while (marks->count)
		block_set_state(marks->items[--marks->count], CHUNK_USED);
}

static bool take_fastbin(struct heap *heap, uint64_t first, uint64_t size)
{
	struct marks marks = {0};
	int64_t count = -1;

	for (int is_mixed = 1; is_mixed >= 0 && count < 0; is_mixed--) {
		const struct chain chain = {.first = first,
					    .size = size,
					    .header = header_size(heap->layout),
					    .is_mixed = is_mixed,
					    .state = CHUNK_FREE};

		count = chain_follow(heap, &chain, &marks);
		if (count < 0)
			marks_undo(&marks);
	}
	free(marks.items);
	if (count < 0)
		return inconsistent_at(heap, heap->place, "a list of small free chunks is broken");
	heap->figures.smblks += (uint64_t)count;
	heap->figures.fsmblks += (uint64_t)count * size;
	heap->figures.fordblks += (uint64_t)count * size;
	return true;
}

static bool take_fastbins(struct heap *heap, const struct arena *arena)
{
	const unsigned w = heap->layout->word,
		       count = is_newest(heap->layout, heap->glibc.state_offset) ? 0 : heap->layout->fastbins;

	for (unsigned i = 0; i < count; i++) {
		const uint64_t first = word_or_0(&heap->words, arena->bins - (count + 2 - i) * w);

		if (first && !take_fastbin(heap, first, chunk_min(heap->layout) + i * 2 * w))
			return false;
	}
	return true;
}

bool walk_regions(struct heap *heap)
{
	struct walked *walked = xcalloc(heap->glibc.arena_count, sizeof(*walked));
	uint64_t top;
	bool good = true;

	regions_sort(heap->regions, heap->region_count);
	for (size_t i = 0; i < heap->region_count && good; i++)
		good = chunks_walk(heap, i, &walked[heap->regions[i].arena]);
	good = good && chunks_check_bins(heap, walked);
	for (size_t i = 0; i < heap->glibc.arena_count && good; i++)
		good = take_fastbins(heap, &heap->glibc.arenas[i]);
	free(walked);
	for (size_t i = 0; i < heap->region_count && good; i++) {
		if (!heap->regions[i].top || !word_at(&heap->words, heap->regions[i].top + heap->layout->word, &top))
			continue;
		heap->figures.fordblks += SIZE_OF(top);
		heap->figures.keepcost += heap->regions[i].arena ? 0 : SIZE_OF(top);
	}
	return good;
}
