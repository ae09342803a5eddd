/* Finds the memory of noncontiguous main arenas. Such an arena consists of pieces because other code has called sbrk(2)
 * between malloc's own calls, or because brk(2) failed and malloc called mmap(2). A full piece ends with a fence: two
 * chunks that have only a header each. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "base/util.h"

#define PAGE 4096u

static bool has_fence(struct heap *heap, uint64_t at)
{
	const unsigned header = header_size(heap->layout), w = heap->layout->word;
	uint64_t first, second;

	return word_at(&heap->words, at + w, &first) && SIZE_OF(first) == header &&
	       word_at(&heap->words, at + header + w, &second) && SIZE_OF(second) == header;
}

uint64_t noncontiguous_fence(struct heap *heap, uint64_t at)
{
	return has_fence(heap, at) ? at + 2 * header_size(heap->layout) : 0;
}

/* Returns true if a main arena's topmost chunk is at an address. */
static bool is_top(const struct heap *heap, uint64_t at)
{
	for (size_t i = 0; i < heap->glibc.top_count; i++)
		if (heap->glibc.tops[i] == at)
			return true;
	return false;
}

/* Returns the end of the piece whose first chunk would be at an address, or 0 if no piece begins there. A piece ends
 * with a fence, or with a topmost chunk. *top: the address of the topmost chunk, or 0. */
static uint64_t end_of_piece(struct heap *heap, uint64_t at, uint64_t limit, uint64_t *top)
{
	const unsigned least = chunk_min(heap->layout), align = heap->layout->align;
	uint64_t word, size;

	*top = 0;
	for (bool is_first = true; at < limit && word_at(&heap->words, at + heap->layout->word, &word);
	     is_first = false) {
		size = SIZE_OF(word);
		if (size > limit - at || (word & (IS_MAPPED | NOT_MAIN)) || (is_first && !(word & PREVIOUS_IN_USE)))
			return 0;
		if (is_top(heap, at)) {
			*top = at;
			return at + size;
		}
		if (!is_first && has_fence(heap, at))
			return noncontiguous_fence(heap, at);
		if (size < least || size % align)
			return 0;
		at += size;
	}
	return 0;
}

uint64_t noncontiguous_next(struct heap *heap, uint64_t from, uint64_t limit)
{
	uint64_t top;

	for (uint64_t at = chunk_start(heap->layout, from); at + chunk_min(heap->layout) <= limit;
	     at += heap->layout->align)
		if (end_of_piece(heap, at, limit, &top))
			return at;
	return 0;
}

/* ---- Finding the pieces ---- */

struct noncontiguous_search {
	struct heap *heap;
	uint64_t sum;  /* bytes of the pieces, and of other code's memory from sbrk(2) between them */
	uint64_t tops; /* number of topmost chunks that were found */
};

static void noncontiguous_add(struct noncontiguous_search *search, uint64_t begin, uint64_t start, uint64_t end,
			      uint64_t top)
{
	region_add(search->heap, &(struct region){.start = start, .begin = begin, .end = end, .top = top});
	search->tops += top != 0;
}

/* Adds the pieces in the memory from brk(2). Other code may have memory between the pieces. */
static void take_brk(struct noncontiguous_search *search, const struct heap_mapping *m)
{
	struct heap *heap = search->heap;
	uint64_t start = chunk_start(heap->layout, m->start), end = m->start;
	bool is_first = true;
	uint64_t top;

	for (; start; start = noncontiguous_next(heap, end, m->end)) {
		const uint64_t after = end_of_piece(heap, start, m->end, &top);

		if (!after)
			break;
		noncontiguous_add(search, is_first ? m->start : start, start, after, top);
		end = after;
		is_first = false;
	}
	if (is_first)
		return;
	end = align_up(end, PAGE);
	heap->figures.bottom = m->start;
	heap->figures.top = end;
	search->sum += end - m->start;
}

/* Adds the pieces in a mapping. Such a piece begins at the start of a page, and its first word is 0. */
static void noncontiguous_take_mapped(struct noncontiguous_search *search, const struct heap_mapping *m)
{
	struct heap *heap = search->heap;
	uint64_t before, next, top;

	for (uint64_t page = m->start; page < m->end; page = next) {
		const uint64_t start = chunk_start(heap->layout, page);

		next = page + PAGE;
		if (!word_at(&heap->words, start, &before)) {
			next = hole_next_page(heap->image, start);
			continue;
		}
		if (before)
			continue;
		const uint64_t end = end_of_piece(heap, start, m->end, &top);

		if (!end)
			continue;
		noncontiguous_add(search, page, start, end, top);
		next = align_up(end, PAGE);
		search->sum += next - page;
	}
}

/* Returns true if a contiguous arena has memory in the mapping. */
static bool noncontiguous_is_taken(const struct heap *heap, size_t regions, const struct heap_mapping *m)
{
	for (size_t i = 0; i < regions; i++)
		if (heap->regions[i].begin < m->end && heap->regions[i].end > m->start)
			return true;
	return false;
}

static bool is_in_pieces(struct heap *heap, const struct arena *arena)
{
	return arena->is_main && (int_or_0(&heap->words, arena->start + FLAGS_AT) & FLAG_PIECES) &&
	       word_or_0(&heap->words, state_member(heap->layout, arena->bins, STATE_SYSTEM));
}

bool noncontiguous_find(struct heap *heap, uint64_t system_mem)
{
	const struct heap_image *image = heap->image;
	const size_t regions = heap->region_count;
	struct noncontiguous_search search = {.heap = heap};
	uint64_t tops = 0;

	for (size_t i = 0; i < heap->glibc.arena_count; i++)
		tops += is_in_pieces(heap, &heap->glibc.arenas[i]);
	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *const m = &image->mappings[i];

		if (noncontiguous_is_taken(heap, regions, m))
			continue;
		if (!strcmp(m->path, "[heap]"))
			take_brk(&search, m);
		else if (image_is_anonymous(m))
			noncontiguous_take_mapped(&search, m);
	}
	return (search.tops == tops && search.sum == system_mem) ||
	       inconsistent(heap, "the pieces of the main arena that were found do not add up to its size");
}
