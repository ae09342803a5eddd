/* Finds and checks the bins of musl's old malloc, which contain the free chunks. */
#include "config.h"
#include "heap/musl/musl.h"
#include "heap/musl/oldmalloc.h"

#include <string.h>

#define FINE_BINS   32u        /* each bin before this one has chunks of one size */
#define WAITERS_MAX (1u << 22) /* the kernel's maximum number of threads */
#define ODD_MAX     8u /* maximum number of inconsistent bins of an accepted array; threads may be changing them */

/* ---- Finding the bins ---- */

/* Returns the bin for a size. Sizes are counted in units of the alignment. Each of the first 32 bins has one size;
 * after these, each power of two has four bins. */
static unsigned bin_of(const struct musl_old *m, uint64_t size)
{
	const uint64_t units = size / m->align - 1;

	if (units <= FINE_BINS)
		return (unsigned)units;
	const unsigned power = 63 - (unsigned)__builtin_clzll(units);
	const unsigned bin = FINE_BINS + 4 * (power - 5) + (units >> (power - 2) & 3);

	return bin < MUSL_OLD_BINS ? bin : MUSL_OLD_BINS - 1;
}

static uint64_t oldmalloc_bins_bin_at(const struct musl_old *m, uint64_t bins, unsigned i)
{
	return bins + (uint64_t)i * m->stride;
}

/* Returns the end mark of a bin's list: the address of an imaginary chunk whose two links are the bin's pointers to its
 * first and last chunk. */
static uint64_t list_end(const struct musl_old *m, uint64_t bin)
{
	return bin + 8 - m->header;
}

static uint64_t first_of(struct musl_old *m, uint64_t bin)
{
	return word_or_0(&m->heap->words, bin + 8);
}

static uint64_t oldmalloc_bins_last_of(struct musl_old *m, uint64_t bin)
{
	return word_or_0(&m->heap->words, bin + 8 + m->word);
}

static uint64_t map_of(struct musl_old *m, uint64_t bins)
{
	const unsigned char *bytes = bytes_at(&m->heap->words, bins - 8, 8);
	uint64_t map = 0;

	if (bytes)
		memcpy(&map, bytes, sizeof(map));
	return map;
}

/* The properties of a bin. A bin that was never used is all zeros. is_odd: the bin is inconsistent, as it can be only
 * while a thread changes it. */
struct bin_state {
	bool is_sure; /* the size of the bin's first chunk is right for this bin, and the chunk points back to it */
	bool is_odd;
};

/* Sets *state for the bin at address `bin`, which has index `i`. is_in_map: according to the map of bins, the bin has
 * chunks. Returns false if the memory is no bin. */
static bool oldmalloc_bins_look_at(struct musl_old *m, uint64_t bin, unsigned i, bool is_in_map,
				   struct bin_state *state)
{
	struct words *words = &m->heap->words;
	const uint64_t first = first_of(m, bin), last = oldmalloc_bins_last_of(m, bin), end = list_end(m, bin);

	if (int_or_0(words, bin) > 1 || int_or_0(words, bin + 4) > WAITERS_MAX)
		return false;
	for (unsigned k = 0; k < 2; k++) {
		const uint64_t chunk = k ? last : first;

		if (chunk && chunk != end && (chunk + m->header) % m->align)
			return false;
	}
	const bool has_chunks = first && first != end;
	const uint64_t size = has_chunks ? chunk_size(word_or_0(words, first + m->word)) : 0;
	const bool is_sure = has_chunks && is_chunk_size(m, size, UINT64_MAX) && bin_of(m, size) == i &&
			     word_or_0(words, first + m->header + m->word) == end;

	*state = (struct bin_state){.is_sure = is_sure,
				    .is_odd = has_chunks != is_in_map || has_chunks != is_sure || !first != !last};
	return true;
}

/* Returns in how many of the 64 bins is_odd is true, or UINT32_MAX if the memory is no array of bins. For at least one
 * bin is_sure must be true, because other variables, such as tcmalloc's, can look like empty bins: they point to
 * themselves. */
static unsigned count_odd(struct musl_old *m, uint64_t bins)
{
	const uint64_t map = map_of(m, bins);
	unsigned odd = 0, sure = 0;
	struct bin_state state;

	for (unsigned i = 0; i < MUSL_OLD_BINS; i++) {
		if (!oldmalloc_bins_look_at(m, oldmalloc_bins_bin_at(m, bins, i), i, map >> i & 1, &state))
			return UINT32_MAX;
		odd += state.is_odd;
		sure += state.is_sure;
	}
	return odd <= ODD_MAX && sure ? odd : UINT32_MAX;
}

/* Returns true if a bin that has been used may be at address `bin`. first: the bin's link to its first chunk. In an
 * empty bin, both links are the list's end mark; in any other bin, the first chunk's link back is the end mark. */
static bool is_anchor(struct musl_old *m, uint64_t bin, uint64_t first)
{
	const uint64_t end = list_end(m, bin);

	if (first == end)
		return oldmalloc_bins_last_of(m, bin) == end;
	return (first + m->header) % m->align == 0 && word_or_0(&m->heap->words, first + m->header + m->word) == end;
}

/* Finds the first of the 64 bins, given any one of them. Tries all 64 positions, and takes the position for which
 * count_odd() returns the least number. */
static bool find_from(struct musl_old *m, uint64_t bin)
{
	unsigned least = UINT32_MAX;

	for (unsigned i = 0; i < MUSL_OLD_BINS && least; i++) {
		const uint64_t bins = bin - (uint64_t)i * m->stride;
		const unsigned odd = count_odd(m, bins);

		if (odd < least) {
			least = odd;
			m->bins = bins;
		}
	}
	return least != UINT32_MAX;
}

static bool find_bins_in(struct musl_old *m, const struct heap_mapping *mapping)
{
	struct word_run run;

	for (uint64_t at = mapping->start; next_word_run(m->heap->image, m->word, &at, mapping->end, &run);)
		for (size_t i = 0; i < run.size; i += m->word) {
			const uint64_t first = load_word(run.bytes + i, m->word), bin = run.at + i - 8;

			if (first && is_anchor(m, bin, first) && find_from(m, bin))
				return true;
		}
	return false;
}

bool musl_old_has_variables(const struct heap_image *image, size_t i)
{
	const struct heap_mapping *m = &image->mappings[i];

	return heap_has_variables(image, i) ||
	       (m->writable && !strcmp(m->path, "[heap]") && i && m[-1].end == m->start && m[-1].path[0] == '/');
}

bool musl_old_find(struct musl_old *m)
{
	const struct heap_image *image = m->heap->image;

	for (size_t i = 0; i < image->n_mappings; i++)
		if (musl_old_has_variables(image, i) && find_bins_in(m, &image->mappings[i]))
			return true;
	return false;
}

/* ---- Locks ---- */

/* Returns false if a lock is held. Only a process with several threads takes locks. Each bin has a lock; the lock for
 * splitting and joining chunks follows the last bin. */
bool musl_old_check_locks(struct musl_old *m)
{
	for (unsigned i = 0; i <= MUSL_OLD_BINS; i++)
		if (int_or_0(&m->heap->words, oldmalloc_bins_bin_at(m, m->bins, i)))
			return inconsistent(m->heap, "a thread is inside malloc");
	return true;
}

size_t musl_old_locks(struct heap *heap, uint64_t *addresses, size_t most)
{
	struct musl_old m = musl_old_of(heap);
	size_t count = 0;

	if (musl_old_find(&m))
		for (; count <= MUSL_OLD_BINS && count < most; count++)
			addresses[count] = oldmalloc_bins_bin_at(&m, m.bins, (unsigned)count);
	return count;
}

/* ---- Checking the bins ---- */

static struct free_chunk *free_chunk_at(struct musl_old *m, uint64_t start)
{
	const size_t count = COUNT_UP_TO(m->free, m->free_count, .start, start);

	return count && m->free[count - 1].start == start ? &m->free[count - 1] : NULL;
}

/* Returns how many chunks are in a bin's list. Returns -1 and sets heap->reason if the list is inconsistent. */
static int64_t oldmalloc_bins_follow(struct musl_old *m, unsigned i)
{
	struct words *words = &m->heap->words;
	const uint64_t bin = oldmalloc_bins_bin_at(m, m->bins, i), end = list_end(m, bin);
	uint64_t before = end, next;
	int64_t count = 0;

	for (uint64_t at = first_of(m, bin); at && at != end; at = next) {
		struct free_chunk *const chunk = free_chunk_at(m, at);

		if (!chunk || bin_of(m, chunk->size) != i) {
			inconsistent(m->heap, "a bin has a chunk that is not free, or that belongs to another bin");
			return -1;
		}
		if (chunk->is_listed || word_or_0(words, at + m->header + m->word) != before ||
		    !word_at(words, at + m->header, &next) || !next) {
			inconsistent(m->heap, "a bin's list is broken");
			return -1;
		}
		chunk->is_listed = true;
		before = at;
		count++;
	}
	if (oldmalloc_bins_last_of(m, bin) == (first_of(m, bin) ? before : 0))
		return count;
	inconsistent(m->heap, "a bin's list does not end where it should");
	return -1;
}

/* Checks that the bins contain all free chunks. */
bool musl_old_check_bins(struct musl_old *m)
{
	const uint64_t map = map_of(m, m->bins);
	size_t count = 0;

	for (unsigned i = 0; i < MUSL_OLD_BINS; i++) {
		const int64_t chunks = oldmalloc_bins_follow(m, i);

		if (chunks < 0)
			return false;
		if ((chunks > 0) != (map >> i & 1))
			return inconsistent(m->heap, "the map of bins that are not empty differs from the bins");
		count += (size_t)chunks;
	}
	return count == m->free_count || inconsistent(m->heap, "some free chunks are in no bin");
}
