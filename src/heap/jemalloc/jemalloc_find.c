/* Finds jemalloc's variables by their contents. */
#include "config.h"
#include "heap/jemalloc/jemalloc.h"
#include "base/util.h"

/* bin_info_t contains, for each small size, the bytes of a region and of a slab, and the numbers of regions and
 * shards. */
#define INFO_BYTES 40u
#define ROOT_BYTES (8u << 18)
/* Offset of the root's array in rtree_t, in bytes; a mutex and a pointer to the base with the leaves' memory precede
 * it. */
#define ROOT_AT 120u

uint64_t jemalloc_size(unsigned class)
{
	if (class < 5)
		return class ? 16 * class : 8;
	const unsigned group = (class - 5) / 4;

	return (64ull << group) + (16ull << group) * ((class - 5) % 4 + 1);
}

uint64_t jemalloc_edata(uint64_t word)
{
	return word & 0xffffffffff80;
}

static bool are_infos(void *context, uint64_t at, uint64_t word)
{
	struct jemalloc *const j = context;

	if (word != jemalloc_size(0))
		return false;
	for (unsigned i = 0; i < JEMALLOC_BINS; i++) {
		const uint64_t info = at + i * INFO_BYTES, size = word_or_0(&j->heap->words, info);
		const uint64_t slab = word_or_0(&j->heap->words, info + 8);
		const uint32_t regions = int_or_0(&j->heap->words, info + 16);

		j->shards[i] = int_or_0(&j->heap->words, info + 20);
		j->slab_sizes[i] = slab;
		if (size != jemalloc_size(i) || !slab || slab % JEMALLOC_PAGE || slab / size != regions ||
		    regions > 512 || !j->shards[i] || j->shards[i] > 64)
			return false;
	}
	j->bin_infos = at;
	return true;
}

static bool is_arena(struct jemalloc *j, uint64_t arena, unsigned number)
{
	struct words *words = &j->heap->words;
	uint64_t base;

	return arena % 16 == 0 && word_at(words, arena + ARENA_BASE, &base) && base && base % 16 == 0 &&
	       int_or_0(words, arena + ARENA_NUMBER) == number && bytes_at(words, base, 32) &&
	       int_or_0(words, base) == number && int_or_0(words, base + 16) == number &&
	       word_or_0(words, base + BASE_BLOCKS);
}

/* Returns true if the array of arenas is at address `at`: each element is 0, or the address of the arena whose number
 * is the element's index. */
static bool are_arenas(void *context, uint64_t at, uint64_t word)
{
	struct jemalloc *const j = context;
	uint64_t arena;
	unsigned count = 0;

	if (!word || !is_arena(j, word, 0))
		return false;
	for (unsigned i = 0; i < JEMALLOC_ARENAS; i++) {
		arena = word_or_0(&j->heap->words, at + 8 * i);
		if (arena && !is_arena(j, arena, i))
			return false;
		count += arena != 0;
	}
	j->arenas = at;
	return count != 0;
}

uint64_t jemalloc_arena(struct jemalloc *j, unsigned number)
{
	return number < JEMALLOC_ARENAS ? word_or_0(&j->heap->words, j->arenas + 8 * number) : 0;
}

unsigned jemalloc_bins(const struct jemalloc *j)
{
	unsigned bins = 0;

	for (unsigned i = 0; i < JEMALLOC_BINS; i++)
		bins += j->shards[i];
	return bins;
}

/* Returns an edata to which an arena points, or 0. */
static uint64_t any_edata(struct jemalloc *j)
{
	struct words *words = &j->heap->words;
	const unsigned bins = jemalloc_bins(j);

	for (unsigned i = 0; i < JEMALLOC_ARENAS; i++) {
		const uint64_t arena = jemalloc_arena(j, i);

		if (!arena)
			continue;
		for (unsigned bin = 0; bin < bins; bin++) {
			const uint64_t edata = word_or_0(words, arena + ARENA_BINS + bin * BIN_BYTES + BIN_CURRENT);

			if (edata && edata == jemalloc_edata(edata))
				return edata;
		}
		const uint64_t large = word_or_0(words, arena + ARENA_LARGE);

		if (large && large == jemalloc_edata(large))
			return large;
	}
	return 0;
}

/* Returns true if the word `leaf` at address `at` is in the root's array: it must be the address of a leaf whose entry
 * for the extent of a known edata is this edata. At first j->root is the address of that edata; if the result is true,
 * the function sets it to the address of the root's array. */
static bool is_root(void *context, uint64_t at, uint64_t leaf)
{
	struct jemalloc *const j = context;
	struct words *words = &j->heap->words;
	const uint64_t edata = j->root, address = word_or_0(words, edata + EDATA_ADDRESS);
	uint64_t word;

	if (!leaf || leaf % 64 || !word_at(words, leaf + 8 * (address >> 12 & 0x3ffff), &word) ||
	    jemalloc_edata(word) != edata)
		return false;
	const uint64_t root = at - 8 * (address >> 30), base = word_or_0(words, root - ROOT_AT);

	if (root > at || base != word_or_0(words, jemalloc_arena(j, 0) + ARENA_BASE))
		return false;
	j->root = root;
	return true;
}

static bool find_infos(struct jemalloc *j)
{
	return j->heap->image->arch->malloc.has_known_jemalloc && heap_find_variable(j->heap->image, are_infos, j);
}

uint64_t jemalloc_variable(struct heap *heap)
{
	struct jemalloc j = {.heap = heap};

	return find_infos(&j) ? j.bin_infos : 0;
}

enum heap_status jemalloc_find(struct jemalloc *j)
{
	if (!find_infos(j))
		return HEAP_NOT_FOUND;
	if (heap_find_variable(j->heap->image, are_arenas, j)) {
		j->root = any_edata(j);
		if (j->root && heap_find_variable(j->heap->image, is_root, j))
			return HEAP_READ;
	}
	j->heap->reason =
		"the program's jemalloc is not version 5.3, was built with other options, or runs with opt.hpa";
	return HEAP_UNSUPPORTED;
}
