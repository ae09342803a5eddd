/* Finding glibc's arenas by the shape of their bins, and the memory that they have. */
#include "config.h"
#include "heap/glibc.h"
#include "base/util.h"

#define ARENAS_MAX 65536

/* Where the bins may begin in a malloc_state: 2.27 to 2.42; 2.26; from 2.43 on, without fastbins. */
static const unsigned state_offsets[] = {112, 104, 24};
/* Bytes of a heap_info: from 2.35 on, and before. */
static const unsigned info_sizes[] = {48, 32};

/* A bin is a list that begins and ends with its header, which is 16 bytes before its two words. */
static bool is_bin(struct heap *heap, uint64_t at)
{
	uint64_t first, last, back, forth;

	if (!word_at(&heap->words, at, &first) || !word_at(&heap->words, at + 8, &last))
		return false;
	if (first == at - 16 && last == at - 16)
		return true;
	return first != at - 16 && last != at - 16 && word_at(&heap->words, first + 24, &back) && back == at - 16 &&
	       word_at(&heap->words, last + 16, &forth) && forth == at - 16;
}

/* The begin of the array that the empty bin at an address belongs to; 0: it is in none. */
static uint64_t bins_around(struct heap *heap, uint64_t at)
{
	unsigned count = 1;
	uint64_t first = at;

	while (count < BINS && is_bin(heap, first - 16)) {
		first -= 16;
		count++;
	}
	while (count < BINS && is_bin(heap, first + count * 16))
		count++;
	return count == BINS ? first : 0;
}

static uint64_t next_bins(struct heap *heap, uint64_t from, uint64_t end)
{
	uint64_t first, last;

	for (uint64_t at = align_up(from, 8); at + 16 <= end; at += 8) {
		if (!word_at(&heap->words, at, &first)) {
			at = align_down(at, 4096) + 4096 - 8;
			continue;
		}
		if (first != at - 16 || !word_at(&heap->words, at + 8, &last) || last != at - 16)
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
	for (size_t i = 0; i < ARRAY_SIZE(info_sizes); i++) {
		const uint64_t size = info_sizes[i];

		if ((arena - size) % HEAP_SIZE == 0 && word_or_0(&heap->words, arena - size) == arena &&
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
		if (!word_at(&heap->words, at + offset + NEXT_AT, &next))
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
	for (uint64_t bins = next_bins(heap, m->start, m->end); bins; bins = next_bins(heap, bins + BINS_BYTES, m->end))
		for (size_t i = 0; i < ARRAY_SIZE(state_offsets); i++)
			if (take_ring(heap, bins, state_offsets[i]))
				return true;
	return false;
}

/* The variables of an object: of a file, or its .bss, which lies behind those. */
static bool has_variables(const struct heap_image *image, size_t i)
{
	const struct heap_mapping *m = &image->mappings[i];

	return m->readable && m->writable && !m->shared &&
	       (m->path[0] == '/' || (!m->path[0] && i && m[-1].end == m->start && m[-1].path[0] == '/'));
}

bool arenas_find(struct heap *heap)
{
	for (size_t i = 0; i < heap->image->n_mappings; i++)
		if (has_variables(heap->image, i) && find_in(heap, &heap->image->mappings[i]))
			return true;
	heap->arena_count = 0;
	return false;
}

/* ---- Regions ---- */

struct region *region_add(struct heap *heap, const struct region *region)
{
	ARRAY_GROW(heap->regions, heap->region_capacity, heap->region_count);
	heap->regions[heap->region_count] = *region;
	return &heap->regions[heap->region_count++];
}

/* Whether all of it is memory that can be written, in mappings behind each other. */
static bool has_memory(const struct heap_image *image, uint64_t start, uint64_t end)
{
	size_t i = COUNT_UP_TO(image->mappings, image->n_mappings, .start, start);

	for (; i && i <= image->n_mappings; i++) {
		const struct heap_mapping *m = &image->mappings[i - 1];

		if (start < m->start || start >= m->end || !m->writable)
			return false;
		start = m->end;
		if (start >= end)
			return true;
	}
	return false;
}

/* The main arena has what sbrk gave it, up to the end of its topmost chunk. */
static bool add_main(struct heap *heap, uint64_t system_mem)
{
	const struct arena *arena = &heap->arenas[0];
	const uint64_t top = word_or_0(&heap->words, arena->bins + TOP_AT);
	uint64_t size, flags;

	if (!system_mem)
		return true;
	if (!word_at(&heap->words, arena->start, &flags) || (flags >> 32 & FLAG_PIECES))
		return inconsistent(heap, "its main arena is in several pieces");
	if (!word_at(&heap->words, top + 8, &size))
		return inconsistent(heap, "the main arena's topmost chunk cannot be read");
	const uint64_t end = top + SIZE_OF(size);

	if (end < top || system_mem > end || !has_memory(heap->image, end - system_mem, end))
		return inconsistent(heap, "the main arena has another size than it says");
	heap->figures.bottom = end - system_mem;
	heap->figures.top = end;
	region_add(heap,
		   &(struct region){
			   .start = align_up(end - system_mem, 16), .whole = end - system_mem, .end = end, .top = top});
	return true;
}

/* A thread's arena has a chain of heaps, each behind a heap_info {arena, the one before, size, ...}. */
static bool add_heaps(struct heap *heap, size_t index, uint64_t system_mem)
{
	const struct arena *arena = &heap->arenas[index];
	const uint64_t top = word_or_0(&heap->words, arena->bins + TOP_AT);
	uint64_t sum = 0, previous, size, owner;
	unsigned count = 0;

	for (uint64_t at = align_down(top, HEAP_SIZE); at; at = previous) {
		if (!word_at(&heap->words, at, &owner) || !word_at(&heap->words, at + 8, &previous) ||
		    !word_at(&heap->words, at + 16, &size) || owner != arena->start || size > HEAP_SIZE ||
		    size < heap->info_size || (sum += size) > system_mem || !has_memory(heap->image, at, at + size))
			return inconsistent(heap, "an arena's heaps do not follow each other");
		const bool has_arena = arena->start == at + heap->info_size;
		const uint64_t start = at + heap->info_size + (has_arena ? heap->state_offset + STATE_REST : 0);

		region_add(heap, &(struct region){.start = align_up(start, 16),
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
		const uint64_t system_mem = word_or_0(&heap->words, heap->arenas[i].bins + SYSTEM_AT);

		if (!(heap->arenas[i].is_main ? add_main(heap, system_mem) : add_heaps(heap, i, system_mem)))
			return false;
		heap->figures.arena += system_mem;
	}
	heap->figures.arenas = heap->arena_count;
	return true;
}
