/* Checks jemalloc's arenas: their counts, the caches of threads, and the memory for jemalloc's own structures. */
#include "config.h"
#include "heap/jemalloc/jemalloc.h"
#include "base/util.h"

#include <string.h>

#define VARIABLES_MAX 4096u /* upper limit of the bytes of jemalloc's variables of a thread */
/* The words before the first stack of a cache and after the last one. */
#define MARK_BEFORE 0x7a7a7a7a7a7a7a7aull
#define MARK_BEHIND 0xa7a7a7a7a7a7a7a7ull

/* Checks the bin of a size, with all its shards, against the sums of the bin's slabs. */
static bool check_bin(struct jemalloc *j, uint64_t bin, unsigned shards, const struct bin_sum *sum)
{
	struct words *words = &j->heap->words;
	struct bin_sum said = {0};

	for (unsigned i = 0; i < shards; i++, bin += BIN_BYTES) {
		if (int_or_0(words, bin + BIN_LOCK))
			return inconsistent(j->heap, "a thread is inside malloc");
		said.regions += word_or_0(words, bin + BIN_REGIONS);
		said.slabs += word_or_0(words, bin + BIN_SLABS);
	}
	return (said.regions == sum->regions && said.slabs == sum->slabs) ||
	       inconsistent(j->heap, "an arena's count of regions differs from its slabs");
}

static bool jemalloc_caches_check_bins(struct jemalloc *j, uint64_t arena, unsigned number)
{
	uint64_t bin = arena + ARENA_BINS;

	for (unsigned i = 0; i < JEMALLOC_BINS; i++) {
		if (!check_bin(j, bin, j->shards[i], &j->sums[number * JEMALLOC_BINS + i]))
			return false;
		bin += j->shards[i] * BIN_BYTES;
	}
	return true;
}

/* Sets the blocks in a stack of a cache, which have `size` bytes each, to CLASS_TAKEN. stack: address of the stack's
 * cache_bin_t. It contains the address of the stack's top, and the low 16 bits of the stack's end; the stack grows down
 * from there. *at: the start of the stack's memory; is set to the stack's end. limit: the highest possible end. */
static bool jemalloc_caches_take_stack(struct jemalloc *j, uint64_t stack, uint64_t size, uint64_t *at, uint64_t limit)
{
	struct heap *heap = j->heap;
	const unsigned char *bytes = bytes_at(&heap->words, stack, STACK_BYTES);
	uint16_t low_full, low_end;

	if (!bytes)
		return inconsistent_at(heap, stack, "a thread's cache cannot be read");
	const uint64_t head = load_word(bytes, 8);

	memcpy(&low_full, bytes + STACK_LOW_FULL, sizeof(low_full));
	memcpy(&low_end, bytes + STACK_LOW_END, sizeof(low_end));
	const uint64_t end = head + (uint16_t)(low_end - (uint16_t)head);

	if (head % 8 || end % 8 || head < *at || end <= *at || end > limit || end - *at > UINT16_MAX ||
	    low_full != (uint16_t)*at)
		return inconsistent_at(heap, stack, "a stack of a thread's cache is not where it has to be");
	for (uint64_t i = head; i < end; i += 8) {
		struct block *block = block_at(heap, word_or_0(&heap->words, i));

		if (!block || block_state(block) == CLASS_TAKEN || block_size(heap, block) != size)
			return inconsistent_at(heap, i, "a thread's cache has an entry that is no block of its size");
		block_set_state(block, CLASS_TAKEN);
		heap->figures.cached_chunks++;
		heap->figures.cached_bytes += size;
	}
	*at = end;
	return true;
}

/* Sets the blocks in a cache to CLASS_TAKEN. The cache's stacks are adjacent in a block that jemalloc uses for
 * itself. Adds the size of that block to *internal. */
static bool jemalloc_caches_take_cache(struct jemalloc *j, uint64_t cache, uint64_t *internal)
{
	struct words *words = &j->heap->words;
	const uint64_t memory = word_or_0(words, cache + CACHE_MEMORY);
	const uint64_t stacks = word_or_0(words, cache + CACHE_STACKS);
	struct block *own = block_at(j->heap, memory);
	uint64_t at = memory + 8;

	if (!own || block_state(own) == CLASS_TAKEN || word_or_0(words, stacks) != cache ||
	    word_or_0(words, memory) != MARK_BEFORE)
		return inconsistent_at(j->heap, cache, "the memory of a thread's cache is missing or damaged");
	for (unsigned i = 0; i < STACKS_MAX; i++) {
		const uint64_t stack = stacks + 8 + i * STACK_BYTES;

		if (!word_or_0(words, stack) || word_or_0(words, at) == MARK_BEHIND)
			break;
		if (!jemalloc_caches_take_stack(j, stack, jemalloc_size(i), &at, memory + block_size(j->heap, own) - 8))
			return false;
	}
	if (word_or_0(words, at) != MARK_BEHIND)
		return inconsistent_at(j->heap, cache, "a thread's cache does not end where its stacks do");
	block_set_state(own, CLASS_TAKEN);
	*internal += block_size(j->heap, own);
	j->cache_bytes = at - memory;
	return true;
}

/* Sets the blocks with caches that are in no arena's ring (take_caches()) to CLASS_TAKEN. In a fork's child, these are
 * caches of threads that only the parent has; the arenas still count their memory. The function finds them by
 * MARK_BEFORE and MARK_BEHIND. MARK_BEHIND has the same offset in all caches, because the stacks have the same
 * sizes. */
static void jemalloc_caches_take_left(struct jemalloc *j, uint64_t *internal)
{
	struct heap *const heap = j->heap;

	for (size_t i = 0; i < heap->block_count && j->cache_bytes; i++) {
		struct block *const block = &heap->blocks[i];
		const uint64_t address = block_address(block), size = block_size(heap, block);

		if (block_state(block) == CLASS_TAKEN || size < j->cache_bytes + 8 ||
		    word_or_0(&heap->words, address) != MARK_BEFORE ||
		    word_or_0(&heap->words, address + j->cache_bytes) != MARK_BEHIND)
			continue;
		block_set_state(block, CLASS_TAKEN);
		*internal += size;
	}
}

/* Excludes jemalloc's variables of a thread from the roots; they are between the thread's tcache_slow_t (`cache`) and
 * its tcache_t (`stacks`). One of them is the start of the GiB in which the thread last looked up a block. If a block
 * extends over the start of a GiB, this variable looks like an interior pointer to the block. */
static void ignore_variables(struct jemalloc *j, uint64_t cache)
{
	struct heap *heap = j->heap;
	const uint64_t stacks = word_or_0(&heap->words, cache + CACHE_STACKS);

	if (stacks - cache > VARIABLES_MAX)
		return;
	ARRAY_GROW(heap->excluded.own, heap->excluded.own_capacity, heap->excluded.own_count);
	heap->excluded.own[heap->excluded.own_count++] = (struct range){cache, stacks};
}

/* Sets the blocks in the caches of an arena to CLASS_TAKEN. The caches form a ring. */
static bool take_caches(struct jemalloc *j, uint64_t arena, uint64_t *internal)
{
	struct words *words = &j->heap->words;
	const uint64_t first = word_or_0(words, arena + ARENA_CACHES);
	struct list_walk walk = {0};
	uint64_t next;

	for (uint64_t cache = first; cache; cache = next == first ? 0 : next) {
		if (list_leads_back(&walk, cache) || word_or_0(words, cache + CACHE_ARENA) != arena ||
		    !word_at(words, cache + CACHE_NEXT, &next) || !next)
			return inconsistent_at(j->heap, arena, "the ring of an arena's caches is broken");
		if (!jemalloc_caches_take_cache(j, cache, internal))
			return false;
		ignore_variables(j, cache);
	}
	return true;
}

/* Adds the memory for jemalloc's own structures as regions. */
static bool take_own(struct jemalloc *j, uint64_t arena)
{
	struct words *words = &j->heap->words;
	const uint64_t base = word_or_0(words, arena + ARENA_BASE);
	struct list_walk walk = {0};
	uint64_t size, next;

	for (uint64_t block = word_or_0(words, base + BASE_BLOCKS); block; block = next) {
		if (list_leads_back(&walk, block) || block % JEMALLOC_PAGE || !word_at(words, block, &size) ||
		    !word_at(words, block + 8, &next) || !size || size % JEMALLOC_PAGE || block + size < block ||
		    !heap_has_memory(j->heap->image, block, block + size))
			return inconsistent_at(j->heap, arena, "the list of an arena's own memory is broken");
		region_add(j->heap, &(struct region){.start = block, .begin = block, .end = block + size});
	}
	return true;
}

bool jemalloc_arenas(struct jemalloc *j)
{
	struct words *words = &j->heap->words;
	uint64_t internal = 0, said = 0;

	for (unsigned i = 0; i < JEMALLOC_ARENAS; i++) {
		const uint64_t arena = jemalloc_arena(j, i);

		if (!arena)
			continue;
		if (!jemalloc_caches_check_bins(j, arena, i) || !take_caches(j, arena, &internal) ||
		    !take_own(j, arena))
			return false;
		said += word_or_0(words, arena + ARENA_INTERNAL);
		j->heap->figures.arenas++;
	}
	if (internal < said)
		jemalloc_caches_take_left(j, &internal);
	return internal == said ||
	       inconsistent(j->heap,
			    "jemalloc has internal blocks that are no caches, such as those of a heap profile");
}
