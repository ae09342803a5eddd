/* Finding glibc's arenas by the shape of their bins, and the memory that they have. */
#include "config.h"
#include "heap/glibc.h"
#include "base/util.h"

#define ARENAS_MAX 65536

#define VERSIONS 3

/* Where the bins may begin in a malloc_state: behind two ints, from 2.27 to 2.42 a third one, the fastbins and two
 * pointers. 2.26 has no third int, 2.43 no fastbins. */
static uint64_t state_offset(const struct form *form, unsigned version)
{
	const unsigned fastbins = form->fastbins * form->word, pointers = 2 * form->word;

	return version == 0 ? align_up(12, form->word) + fastbins + pointers
			    : 8 + (version == 1 ? fastbins : 0) + pointers;
}

/* Bytes of a heap_info, of 5 words from 2.35 on and of 4 before: a chunk's header can follow, and then a block. */
static uint64_t info_size(const struct form *form, bool is_older)
{
	return align_up((is_older ? 6 : 7) * (uint64_t)form->word, form->align) - 2 * form->word;
}

/* A bin is a list that begins and ends with its header, which is a chunk's header before its two words. */
static bool is_bin(struct heap *heap, uint64_t at)
{
	const unsigned w = heap->form->word;
	const uint64_t header = at - 2 * w;
	uint64_t first, last, back, forth;

	if (!word_at(&heap->words, at, &first) || !word_at(&heap->words, at + w, &last))
		return false;
	if (first == header && last == header)
		return true;
	return first != header && last != header && word_at(&heap->words, first + 3 * w, &back) && back == header &&
	       word_at(&heap->words, last + 2 * w, &forth) && forth == header;
}

/* The begin of the array that the empty bin at an address belongs to; 0: it is in none. */
static uint64_t bins_around(struct heap *heap, uint64_t at)
{
	const unsigned size = header_size(heap->form);
	unsigned count = 1;
	uint64_t first = at;

	while (count < BINS && is_bin(heap, first - size)) {
		first -= size;
		count++;
	}
	while (count < BINS && is_bin(heap, first + count * size))
		count++;
	return count == BINS ? first : 0;
}

static uint64_t next_bins(struct heap *heap, uint64_t from, uint64_t end)
{
	const unsigned w = heap->form->word;
	uint64_t first, last;

	for (uint64_t at = align_up(from, w); at + 2 * w <= end; at += w) {
		if (!word_at(&heap->words, at, &first)) {
			at = align_down(at, 4096) + 4096 - w;
			continue;
		}
		if (first != at - 2 * w || !word_at(&heap->words, at + w, &last) || last != at - 2 * w)
			continue;
		const uint64_t bins = bins_around(heap, at);

		if (bins)
			return bins;
	}
	return 0;
}

static bool add_arena(struct heap *heap, uint64_t start)
{
	for (size_t i = 0; i < heap->arena_count; i++)
		if (heap->arenas[i].start == start)
			return false;
	ARRAY_GROW(heap->arenas, heap->arena_capacity, heap->arena_count);
	heap->arenas[heap->arena_count] =
		(struct arena){.start = start, .bins = start + heap->state_offset, .is_main = heap->arena_count == 0};
	heap->arena_count++;
	return true;
}

/* Every other arena lies behind the heap_info of its first heap, which points to it. */
static bool has_info(struct heap *heap, uint64_t arena)
{
	for (unsigned is_older = 0; is_older <= 1; is_older++) {
		const uint64_t size = info_size(heap->form, is_older);

		if ((arena - size) % heap->form->heap_size == 0 && word_or_0(&heap->words, arena - size) == arena &&
		    (!heap->info_size || heap->info_size == size)) {
			heap->info_size = size;
			return true;
		}
	}
	return false;
}

/* Follows the ring of arenas from the main one, whose bins these are. */
static bool take_ring(struct heap *heap, uint64_t bins, uint64_t offset)
{
	uint64_t next;

	heap->arena_count = 0;
	heap->info_size = 0;
	heap->state_offset = offset;
	add_arena(heap, bins - offset);
	for (uint64_t at = bins - offset; heap->arena_count < ARENAS_MAX; at = next) {
		if (!word_at(&heap->words, state_member(heap->form, at + offset, STATE_NEXT), &next))
			return false;
		if (next == bins - offset)
			return true;
		if (!has_info(heap, next) || !add_arena(heap, next))
			return false;
	}
	return false;
}

static bool find_in(struct heap *heap, const struct heap_mapping *m)
{
	for (uint64_t bins = next_bins(heap, m->start, m->end); bins;
	     bins = next_bins(heap, bins + bins_bytes(heap->form), m->end))
		for (unsigned version = 0; version < VERSIONS; version++)
			if (take_ring(heap, bins, state_offset(heap->form, version)))
				return true;
	return false;
}

bool arenas_find(struct heap *heap)
{
	for (size_t i = 0; i < heap->image->n_mappings; i++)
		if (heap_has_variables(heap->image, i) && find_in(heap, &heap->image->mappings[i]))
			return true;
	heap->arena_count = 0;
	return false;
}

/* ---- Regions ---- */

/* The main arena has what sbrk gave it, up to the end of its topmost chunk. */
static bool add_main(struct heap *heap, uint64_t system_mem)
{
	const struct arena *arena = &heap->arenas[0];
	const uint64_t top = word_or_0(&heap->words, arena->bins - 2 * heap->form->word);
	uint64_t size;

	if (!system_mem)
		return true;
	if (int_or_0(&heap->words, arena->start + FLAGS_AT) & FLAG_PIECES)
		return pieces_find(heap, top, system_mem);
	if (!word_at(&heap->words, top + heap->form->word, &size))
		return inconsistent(heap, "the main arena's topmost chunk cannot be read");
	const uint64_t end = top + SIZE_OF(size);

	if (end < top || system_mem > end || !heap_has_memory(heap->image, end - system_mem, end))
		return inconsistent(heap, "the main arena has another size than it says");
	heap->figures.bottom = end - system_mem;
	heap->figures.top = end;
	region_add(heap, &(struct region){.start = chunk_start(heap->form, end - system_mem),
					  .whole = end - system_mem,
					  .end = end,
					  .top = top});
	return true;
}

/* A thread's arena has a chain of heaps, each behind a heap_info {arena, the one before, size, ...}. */
static bool add_heaps(struct heap *heap, size_t index, uint64_t system_mem)
{
	const struct arena *arena = &heap->arenas[index];
	const uint64_t top = word_or_0(&heap->words, arena->bins - 2 * heap->form->word);
	const unsigned w = heap->form->word;
	uint64_t sum = 0, previous, size, owner;
	unsigned count = 0;

	for (uint64_t at = align_down(top, heap->form->heap_size); at; at = previous) {
		if (!word_at(&heap->words, at, &owner) || !word_at(&heap->words, at + w, &previous) ||
		    !word_at(&heap->words, at + 2 * w, &size) || owner != arena->start ||
		    size > heap->form->heap_size || size < heap->info_size || (sum += size) > system_mem ||
		    !heap_has_memory(heap->image, at, at + size))
			return inconsistent(heap, "an arena's heaps do not follow each other");
		const bool has_arena = arena->start == at + heap->info_size;
		const uint64_t start =
			has_arena ? state_member(heap->form, arena->bins, STATE_END) : at + heap->info_size;

		region_add(heap, &(struct region){.start = chunk_start(heap->form, start),
						  .whole = at,
						  .end = at + size,
						  .arena = index,
						  .top = count ? 0 : top});
		count++;
	}
	return sum == system_mem || inconsistent(heap, "an arena's heaps have another size than it says");
}

bool arenas_regions(struct heap *heap)
{
	for (size_t i = 0; i < heap->arena_count; i++) {
		const uint64_t system_mem =
			word_or_0(&heap->words, state_member(heap->form, heap->arenas[i].bins, STATE_SYSTEM));

		if (!(heap->arenas[i].is_main ? add_main(heap, system_mem) : add_heaps(heap, i, system_mem)))
			return false;
		heap->figures.arena += system_mem;
	}
	heap->figures.arenas = heap->arena_count;
	return true;
}
