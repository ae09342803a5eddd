/* Finds glibc's arenas by the pattern of their bins, and then the memory of the arenas. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "base/util.h"

#include <stdlib.h>

#define ARENAS_MAX    65536
#define HEAP_LEAST    (256ull << 10) /* least alignment of the heaps of threads' arenas: four huge pages of 64 KiB */
#define HEAP_GREATEST (4ull << 30)   /* greatest alignment of these heaps: four huge pages of 1 GiB */
#define ODD_MAX       4 /* maximum number of inconsistent bins of a recognised arena; they are reported later */

#define VERSIONS 3

/* Returns the offset of the bins in a malloc_state. The members before the bins are: in version 0 (2.27 to 2.42)
 * three ints, the fastbins and two pointers; in version 1 (2.26) two ints, the fastbins and two pointers; in version
 * 2 (2.43) two ints and two pointers. */
static uint64_t state_offset(const struct arch_malloc *layout, unsigned version)
{
	const unsigned fastbins = layout->fastbins * layout->word, pointers = 2 * layout->word;

	return version == 0 ? align_up(12, layout->word) + fastbins + pointers
			    : 8 + (version == 1 ? fastbins : 0) + pointers;
}

/* Returns the size of a heap_info in bytes: 5 words from 2.35 on, 4 words before, and padding, after which a chunk's
 * header and an aligned block can follow. */
static uint64_t info_size(const struct arch_malloc *layout, bool is_older)
{
	return align_up((is_older ? 6 : 7) * (uint64_t)layout->word, layout->align) - 2 * layout->word;
}

/* Returns true if a bin is at address `at`. A bin is two words that point to the first and the last chunk of a circular
 * list. The chunks' links refer to the bin as if it were a chunk: by the address two words before it, where the header
 * of a chunk with these two links would be. */
static bool is_bin(struct heap *heap, uint64_t at)
{
	const unsigned w = heap->layout->word;
	const uint64_t header = at - 2 * w;
	uint64_t first, last, back, forth;

	if (!word_at(&heap->words, at, &first) || !word_at(&heap->words, at + w, &last))
		return false;
	if (first == header || last == header)
		return first == last;
	if (!word_at(&heap->words, first + 3 * w, &back) || back != header)
		return false;
	if (!word_at(&heap->words, last + 2 * w, &forth))
		return false;
	return forth == header;
}

/* Returns the address of the first empty bin in a range, or 0. arenas_look_around() then searches beside this bin for
 * the other bins of the array. */
static uint64_t next_empty(struct heap *heap, uint64_t from, uint64_t end)
{
	const unsigned w = heap->layout->word;
	struct word_run run;
	uint64_t last;

	for (uint64_t at = align_up(from, w); next_word_run(heap->image, w, &at, end, &run);)
		for (uint64_t i = 0; i < run.size; i += w) {
			const uint64_t first = load_word(run.bytes + i, w);

			if (first == run.at + i - 2 * w && word_at(&heap->words, run.at + i + w, &last) &&
			    last == first)
				return run.at + i;
		}
	return 0;
}

/* A range of memory around an empty bin. The range looks like an array of bins. */
struct bins_run {
	uint64_t first;
	unsigned count;
	bool is_odd[2 * BINS];
};

/* Sets *run to the bins around the empty bin at `at`, in both directions. Continues past up to ODD_MAX inconsistent
 * bins on each side. */
static void arenas_look_around(struct heap *heap, uint64_t at, struct bins_run *run)
{
	const unsigned size = header_size(heap->layout);
	unsigned before = 0, odd = 0;

	*run = (struct bins_run){0};
	for (; before < BINS - 1; before++) {
		run->is_odd[BINS - 2 - before] = !is_bin(heap, at - (uint64_t)(before + 1) * size);
		odd += run->is_odd[BINS - 2 - before];
		if (odd > ODD_MAX)
			break;
	}
	memmove(run->is_odd, run->is_odd + BINS - 1 - before, before);
	run->first = at - (uint64_t)before * size;
	run->count = before;
	odd = 0;
	for (unsigned i = 0; i < BINS && odd <= ODD_MAX; i++, run->count++) {
		run->is_odd[run->count] = !is_bin(heap, at + (uint64_t)i * size);
		odd += run->is_odd[run->count];
	}
}

static bool add_arena(struct heap *heap, uint64_t start)
{
	for (size_t i = 0; i < heap->glibc.arena_count; i++)
		if (heap->glibc.arenas[i].start == start)
			return false;
	ARRAY_GROW(heap->glibc.arenas, heap->glibc.arena_capacity, heap->glibc.arena_count);
	heap->glibc.arenas[heap->glibc.arena_count++] =
		(struct arena){.start = start, .bins = start + heap->glibc.state_offset};
	return true;
}

/* Returns true if the arena follows the heap_info of its first heap, which points to the arena. This is so for all
 * arenas except main arenas. */
static bool has_info(struct heap *heap, uint64_t arena)
{
	for (unsigned is_older = 0; is_older <= 1; is_older++) {
		const uint64_t size = info_size(heap->layout, is_older);

		if ((arena - size) % HEAP_LEAST == 0 && word_or_0(&heap->words, arena - size) == arena &&
		    (!heap->glibc.info_size || heap->glibc.info_size == size)) {
			heap->glibc.info_size = size;
			return true;
		}
	}
	return false;
}

/* Adds the arenas of a C library, which are linked in a ring. The ring begins with the main arena, whose bins are at
 * address `bins`, `offset` bytes after its start. Returns false if the ring is broken. */
static bool follow_ring(struct heap *heap, uint64_t bins, uint64_t offset)
{
	const size_t first = heap->glibc.arena_count;
	uint64_t next;

	heap->glibc.state_offset = offset;
	if (!add_arena(heap, bins - offset))
		return false;
	heap->glibc.arenas[first].is_main = true;
	for (uint64_t at = bins - offset; heap->glibc.arena_count < ARENAS_MAX; at = next) {
		if (!word_at(&heap->words, state_member(heap->layout, at + offset, STATE_NEXT), &next))
			return false;
		if (next == bins - offset)
			return true;
		if (!has_info(heap, next) || !add_arena(heap, next))
			return false;
	}
	return false;
}

/* Calls follow_ring(), and undoes its changes if it fails. */
static bool take_ring(struct heap *heap, uint64_t bins, uint64_t offset)
{
	const size_t first = heap->glibc.arena_count;
	const uint64_t info_before = heap->glibc.info_size, offset_before = heap->glibc.state_offset;

	if (follow_ring(heap, bins, offset))
		return true;
	heap->glibc.arena_count = first;
	heap->glibc.info_size = info_before;
	heap->glibc.state_offset = offset_before;
	return false;
}

/* Adds the arenas of the ring whose main arena has these bins. Once a ring has been found, only the offset of the bins
 * in its version is tried: dlmopen(3) loads the same file into each linker namespace, so all C libraries of a process
 * have the same version. */
static bool take_any_ring(struct heap *heap, uint64_t bins)
{
	if (heap->glibc.arena_count)
		return take_ring(heap, bins, heap->glibc.state_offset);
	for (unsigned version = 0; version < VERSIONS; version++)
		if (take_ring(heap, bins, state_offset(heap->layout, version)))
			return true;
	return false;
}

/* Searches a run for an array of bins that is part of an arena, and adds the arenas of its ring. *perfect: if there
 * is no arena, the address of an array in which all bins are consistent, or 0. */
static bool take_run(struct heap *heap, const struct bins_run *run, uint64_t *perfect)
{
	*perfect = 0;
	for (unsigned first = 0; first + BINS <= run->count; first++) {
		const uint64_t bins = run->first + (uint64_t)first * header_size(heap->layout);
		unsigned odd = 0;

		for (unsigned i = 0; i < BINS; i++)
			odd += run->is_odd[first + i];
		if (odd <= ODD_MAX && take_any_ring(heap, bins))
			return true;
		if (!odd)
			*perfect = bins;
	}
	return false;
}

/* Arrays of bins whose lists are consistent, but whose arena is not the main arena, with which a ring of arenas begins.
 * Each must be the bins of an arena in some ring; otherwise the heap is inconsistent. */
struct strays {
	uint64_t *items;
	size_t count, capacity;
};

static void arenas_find_in(struct heap *heap, const struct heap_mapping *m, struct strays *strays)
{
	struct bins_run run;
	uint64_t perfect;

	for (uint64_t at = next_empty(heap, m->start, m->end); at; at = next_empty(heap, at, m->end)) {
		const size_t count = heap->glibc.arena_count;

		arenas_look_around(heap, at, &run);
		if (take_run(heap, &run, &perfect)) {
			at = heap->glibc.arenas[count].bins + bins_bytes(heap->layout);
			continue;
		}
		if (perfect && strays->count < ARENAS_MAX) {
			ARRAY_GROW(strays->items, strays->capacity, strays->count);
			strays->items[strays->count++] = perfect;
		}
		at = perfect ? perfect + bins_bytes(heap->layout) : at + heap->layout->word;
	}
}

static bool arenas_is_known(const struct heap *heap, uint64_t bins)
{
	for (size_t i = 0; i < heap->glibc.arena_count; i++)
		if (heap->glibc.arenas[i].bins == bins)
			return true;
	return false;
}

bool arenas_find(struct heap *heap)
{
	struct strays strays = {0};
	bool good = true;

	heap->glibc.arena_count = 0;
	for (size_t i = 0; i < heap->image->n_mappings; i++)
		if (heap_has_variables(heap->image, i))
			arenas_find_in(heap, &heap->image->mappings[i], &strays);
	for (size_t i = 0; i < strays.count && good; i++)
		good = arenas_is_known(heap, strays.items[i]);
	free(strays.items);
	if (!good)
		return inconsistent(heap, "the ring of its arenas does not lead back to the first one");
	return heap->glibc.arena_count > 0;
}

/* ---- Regions ---- */

static uint64_t system_mem_of(struct heap *heap, size_t index)
{
	return word_or_0(&heap->words, state_member(heap->layout, heap->glibc.arenas[index].bins, STATE_SYSTEM));
}

/* Adds the region of a main arena: the memory from sbrk(2), up to the end of the topmost chunk. The regions of all
 * main arenas get the first arena's index. */
static bool add_main(struct heap *heap, const struct arena *arena, uint64_t system_mem)
{
	const uint64_t top = word_or_0(&heap->words, arena->bins - 2 * heap->layout->word);
	uint64_t size;

	if (!word_at(&heap->words, top + heap->layout->word, &size))
		return inconsistent_at(heap, top, "the main arena's topmost chunk cannot be read");
	const uint64_t end = top + SIZE_OF(size);

	if (end < top || system_mem > end || !heap_has_memory(heap->image, end - system_mem, end))
		return inconsistent_at(heap, top, "the main arena's size differs from the size that it records");
	heap->figures.bottom = end - system_mem;
	heap->figures.top = end;
	region_add(heap, &(struct region){.start = chunk_start(heap->layout, end - system_mem),
					  .begin = end - system_mem,
					  .end = end,
					  .top = top});
	return true;
}

/* Adds the regions of the main arenas: each C library has one, and dlmopen(3) can load several. An arena is
 * noncontiguous if malloc got too little or no memory from sbrk(2), as in a C library that dlmopen(3) has loaded. A
 * piece of memory does not contain the address of its arena, so the pieces of all noncontiguous arenas are searched for
 * together. */
static bool add_mains(struct heap *heap)
{
	uint64_t in_pieces = 0;

	for (size_t i = 0; i < heap->glibc.arena_count; i++) {
		const struct arena *arena = &heap->glibc.arenas[i];
		const uint64_t system_mem = arena->is_main ? system_mem_of(heap, i) : 0;

		if (!system_mem)
			continue;
		ARRAY_GROW(heap->glibc.tops, heap->glibc.top_capacity, heap->glibc.top_count);
		heap->glibc.tops[heap->glibc.top_count++] =
			word_or_0(&heap->words, arena->bins - 2 * heap->layout->word);
		if (int_or_0(&heap->words, arena->start + FLAGS_AT) & FLAG_PIECES)
			in_pieces = add_saturated(in_pieces, system_mem);
		else if (!add_main(heap, arena, system_mem))
			return false;
	}
	return !in_pieces || noncontiguous_find(heap, in_pieces);
}

/* A heap of a thread's arena. Such a heap begins with its heap_info {arena, previous heap, size, ...}. */
struct heap_info {
	uint64_t at, previous, size;
};

/* Reads the heap_info at an address. Returns false if the heap at this address is not one of the arena. */
static bool heap_at(struct heap *heap, const struct arena *arena, uint64_t at, struct heap_info *info)
{
	const unsigned w = heap->layout->word;
	uint64_t owner;

	info->at = at;
	return at % heap->glibc.heap_size == 0 && word_at(&heap->words, at, &owner) && owner == arena->start &&
	       word_at(&heap->words, at + w, &info->previous) && word_at(&heap->words, at + 2 * w, &info->size) &&
	       info->size >= heap->glibc.info_size && info->size <= heap->glibc.heap_size &&
	       heap_has_memory(heap->image, at, at + info->size);
}

static void add_heap(struct heap *heap, size_t index, const struct heap_info *info, uint64_t top)
{
	const struct arena *arena = &heap->glibc.arenas[index];
	const bool has_arena = arena->start == info->at + heap->glibc.info_size;
	const uint64_t start =
		has_arena ? state_member(heap->layout, arena->bins, STATE_END) : info->at + heap->glibc.info_size;

	region_add(heap, &(struct region){.start = chunk_start(heap->layout, start),
					  .begin = info->at,
					  .end = info->at + info->size,
					  .arena = index,
					  .top = top});
}

/* Follows the chain of heaps of a thread's arena from the newest heap, which contains the topmost chunk. Returns
 * true if the sizes of the heaps add up to system_mem. adds: if true, adds the heaps as regions. */
static bool follow_heaps(struct heap *heap, size_t index, uint64_t system_mem, bool adds)
{
	const struct arena *arena = &heap->glibc.arenas[index];
	const uint64_t top = word_or_0(&heap->words, arena->bins - 2 * heap->layout->word);
	struct heap_info info = {.previous = align_down(top, heap->glibc.heap_size)};
	struct list_walk walk = {0};
	uint64_t sum = 0;

	for (unsigned count = 0; info.previous; count++) {
		if (list_leads_back(&walk, info.previous) || !heap_at(heap, arena, info.previous, &info) ||
		    (sum += info.size) > system_mem)
			return false;
		if (adds)
			add_heap(heap, index, &info, count ? 0 : top);
	}
	return sum == system_mem;
}

static bool has_heap_size(struct heap *heap, uint64_t size)
{
	heap->glibc.heap_size = size;
	for (size_t i = 0; i < heap->glibc.arena_count; i++)
		if (!heap->glibc.arenas[i].is_main && !follow_heaps(heap, i, system_mem_of(heap, i), false)) {
			heap->place = heap->glibc.arenas[i].start;
			return false;
		}
	return true;
}

/* Finds the alignment of heaps. If malloc uses huge pages (glibc.malloc.hugetlb=2), the alignment is the size of
 * four huge pages in the versions from 2.35 to 2.41. */
static bool find_heap_size(struct heap *heap)
{
	if (has_heap_size(heap, heap->layout->heap_size))
		return true;
	const uint64_t arena = heap->place;

	for (uint64_t size = HEAP_LEAST; size <= HEAP_GREATEST; size *= 2)
		if (has_heap_size(heap, size))
			return true;
	return inconsistent_at(heap, arena,
			       "an arena's heaps are not in order, or their size differs from the size that the arena "
			       "records");
}

bool arenas_regions(struct heap *heap)
{
	if (!find_heap_size(heap) || !add_mains(heap))
		return false;
	for (size_t i = 0; i < heap->glibc.arena_count; i++) {
		const uint64_t system_mem = system_mem_of(heap, i);

		if (!heap->glibc.arenas[i].is_main && !follow_heaps(heap, i, system_mem, true))
			return false;
		heap->figures.arena += system_mem;
	}
	heap->figures.arenas = heap->glibc.arena_count;
	return true;
}
