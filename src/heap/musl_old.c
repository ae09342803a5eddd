/* musl's malloc up to 1.2.0, which later versions can be built with ("oldmalloc"), as its structures lie in memory.
 *
 * A region of chunks has one at each end that stands for what is not malloc's: before the first chunk and behind the
 * last one it says that all is in use. Regions are what brk(2) gave; from the time on when that fails, mappings; and
 * what is left of the first and last pages of objects' variables, which the dynamic linker gives to malloc. A chunk
 * says its size before its first byte for the program, with a bit if it is in use, and the next one says the same of
 * it. Those that are not in use are in the lists of 64 bins, by size. A large block has a mapping of its own, at whose
 * begin a header says so; nothing else knows of it. */
#include "config.h"
#include "heap/musl.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define PAGE        4096u
#define IN_USE      1u
#define BINS_OLD    64u
#define FINE_BINS   32u        /* up to this one bins have chunks of one size each */
#define WAITERS_MAX (1u << 22) /* as many as the kernel has threads */
#define ODD_MAX     4u         /* bins that threads may just be changing, where it is only looked for them */

struct free_chunk {
	uint64_t start, size;
	bool is_listed;
};

struct musl_old {
	struct heap *heap;
	unsigned word;
	unsigned header; /* of a chunk: the size of the one before it, and its own */
	unsigned align;  /* of all sizes, and of blocks */
	unsigned stride; /* of bins: a lock, which is two ints, and the first and last chunk */
	uint64_t bins;   /* where they are; a map of those that are not empty is before them */
	uint64_t at;     /* memory has been looked through up to there */
	struct free_chunk *free;
	size_t free_count, free_capacity;
	size_t block_capacity;
};

static uint64_t size_of(uint64_t word)
{
	return word & ~(uint64_t)IN_USE;
}

/* A size that chunks have, of one with so much memory. */
static bool is_size(const struct musl_old *m, uint64_t size, uint64_t most)
{
	return size >= m->align && size % m->align == 0 && size <= most;
}

/* ---- The bins ---- */

/* In units: one for each size at first, then four for each power of two. */
static unsigned bin_of(const struct musl_old *m, uint64_t size)
{
	const uint64_t units = size / m->align - 1;

	if (units <= FINE_BINS)
		return (unsigned)units;
	const unsigned power = 63 - (unsigned)__builtin_clzll(units);
	const unsigned bin = FINE_BINS + 4 * (power - 5) + (units >> (power - 2) & 3);

	return bin < BINS_OLD ? bin : BINS_OLD - 1;
}

static uint64_t bin_at(const struct musl_old *m, uint64_t bins, unsigned i)
{
	return bins + (uint64_t)i * m->stride;
}

/* What a list ends with: the bin, as if its first and last chunk were the next one and the one before of a chunk. */
static uint64_t list_end(const struct musl_old *m, uint64_t bin)
{
	return bin + 8 - m->header;
}

static uint64_t first_of(struct musl_old *m, uint64_t bin)
{
	return word_or_0(&m->heap->words, bin + 8);
}

static uint64_t last_of(struct musl_old *m, uint64_t bin)
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

/* What a bin is found to be. A bin that was never used is all zero. */
struct look {
	bool is_used, has_chunks;
	bool is_sure; /* it has a chunk of a size for this bin, which knows it */
	bool is_odd;
};

/* False: it is no bin at all. */
static bool look_at(struct musl_old *m, uint64_t bin, unsigned i, bool is_in_map, struct look *look)
{
	struct words *words = &m->heap->words;
	const uint64_t first = first_of(m, bin), last = last_of(m, bin), end = list_end(m, bin);

	if (int_or_0(words, bin) > 1 || int_or_0(words, bin + 4) > WAITERS_MAX)
		return false;
	for (unsigned k = 0; k < 2; k++) {
		const uint64_t chunk = k ? last : first;

		if (chunk && chunk != end && (chunk + m->header) % m->align)
			return false;
	}
	const bool has_chunks = first && first != end;
	const uint64_t size = has_chunks ? size_of(word_or_0(words, first + m->word)) : 0;
	const bool is_sure = has_chunks && is_size(m, size, UINT64_MAX) && bin_of(m, size) == i &&
			     word_or_0(words, first + m->header + m->word) == end;

	*look = (struct look){.is_used = first && last,
			      .has_chunks = has_chunks,
			      .is_sure = is_sure,
			      .is_odd = has_chunks != is_in_map || has_chunks != is_sure || !first != !last};
	return true;
}

/* How many of 64 bins from there on are as they are only while a thread changes them; UINT_MAX: these are no bins. */
static unsigned count_odd(struct musl_old *m, uint64_t bins)
{
	const uint64_t map = map_of(m, bins);
	unsigned odd = 0, used = 0, sure = 0;
	struct look look;

	for (unsigned i = 0; i < BINS_OLD; i++) {
		if (!look_at(m, bin_at(m, bins, i), i, map >> i & 1, &look))
			return UINT32_MAX;
		odd += look.is_odd;
		used += look.is_used;
		sure += look.is_sure;
	}
	return odd <= ODD_MAX && (sure || used > 1) ? odd : UINT32_MAX;
}

/* Whether a bin is there that is in use, and says so twice. */
static bool is_anchor(struct musl_old *m, uint64_t bin, uint64_t first)
{
	const uint64_t end = list_end(m, bin);

	if (first == end)
		return last_of(m, bin) == end;
	return (first + m->header) % m->align == 0 && word_or_0(&m->heap->words, first + m->header + m->word) == end;
}

/* Which of the 64 a bin is, is not known: all of them are tried. */
static bool find_from(struct musl_old *m, uint64_t bin)
{
	unsigned least = UINT32_MAX;

	for (unsigned i = 0; i < BINS_OLD && least; i++) {
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

static bool find_bins(struct musl_old *m)
{
	const struct heap_image *image = m->heap->image;

	for (size_t i = 0; i < image->n_mappings; i++)
		if (heap_has_variables(image, i) && find_bins_in(m, &image->mappings[i]))
			return true;
	return false;
}

/* Locks are taken in a process of several threads only: each bin has one, and behind the last one is that of whoever
 * splits or joins chunks. */
static bool check_locks(struct musl_old *m)
{
	for (unsigned i = 0; i <= BINS_OLD; i++)
		if (int_or_0(&m->heap->words, bin_at(m, m->bins, i)))
			return inconsistent(m->heap, "a thread is in the midst of malloc");
	return true;
}

static struct free_chunk *free_chunk_at(struct musl_old *m, uint64_t start)
{
	const size_t count = COUNT_UP_TO(m->free, m->free_count, .start, start);

	return count && m->free[count - 1].start == start ? &m->free[count - 1] : NULL;
}

/* How many chunks are in the list; -1 and a reason: it does not hold together. */
static int64_t follow(struct musl_old *m, unsigned i)
{
	struct words *words = &m->heap->words;
	const uint64_t bin = bin_at(m, m->bins, i), end = list_end(m, bin);
	uint64_t before = end, next;
	int64_t count = 0;

	for (uint64_t at = first_of(m, bin); at && at != end; at = next) {
		struct free_chunk *const chunk = free_chunk_at(m, at);

		if (!chunk || bin_of(m, chunk->size) != i) {
			inconsistent(m->heap, "a bin has a chunk that is not free, or another bin's");
			return -1;
		}
		if (chunk->is_listed || word_or_0(words, at + m->header + m->word) != before ||
		    !word_at(words, at + m->header, &next) || !next) {
			inconsistent(m->heap, "a bin's list does not hold together");
			return -1;
		}
		chunk->is_listed = true;
		before = at;
		count++;
	}
	if (last_of(m, bin) == (first_of(m, bin) ? before : 0))
		return count;
	inconsistent(m->heap, "a bin's list has another end");
	return -1;
}

/* They have to have all free chunks. */
static bool check_bins(struct musl_old *m)
{
	const uint64_t map = map_of(m, m->bins);
	size_t count = 0;

	for (unsigned i = 0; i < BINS_OLD; i++) {
		const int64_t chunks = follow(m, i);

		if (chunks < 0)
			return false;
		if ((chunks > 0) != (map >> i & 1))
			return inconsistent(m->heap, "the map of bins has others than those with chunks");
		count += (size_t)chunks;
	}
	return count == m->free_count || inconsistent(m->heap, "the bins have other chunks than those that are free");
}

/* ---- Chunks ---- */

static void add_block(struct musl_old *m, uint64_t chunk, uint64_t size)
{
	struct heap *heap = m->heap;

	ARRAY_GROW(heap->blocks, m->block_capacity, heap->block_count);
	heap->blocks[heap->block_count++] = (struct heap_block){.address = chunk + m->header,
								.size = size - m->header,
								.root = HEAP_NONE,
								.from = HEAP_NONE,
								.leads = HEAP_NONE,
								.class = HEAP_LOST};
}

static void add_chunk(struct musl_old *m, uint64_t at, uint64_t word)
{
	struct heap_figures *figures = &m->heap->figures;

	if (word & IN_USE) {
		add_block(m, at, size_of(word));
		return;
	}
	ARRAY_GROW(m->free, m->free_capacity, m->free_count);
	m->free[m->free_count++] = (struct free_chunk){.start = at, .size = word};
	figures->ordblks++;
	figures->fordblks += word;
}

/* The size of a chunk that ends before `limit`, as it says itself and as is said behind it; false: it is none. */
static bool read_chunk(struct musl_old *m, uint64_t at, uint64_t limit, uint64_t *word)
{
	const unsigned header = m->header;
	uint64_t behind;

	return limit - at > 2 * header && word_at(&m->heap->words, at + m->word, word) &&
	       is_size(m, size_of(*word), limit - at - header) &&
	       word_at(&m->heap->words, at + size_of(*word), &behind) && behind == *word;
}

/* Whether the first chunk of a region may begin there: before it nothing is free. */
static bool is_first(struct musl_old *m, uint64_t at, uint64_t limit)
{
	uint64_t before, word;

	return at < limit && word_at(&m->heap->words, at, &before) && before == IN_USE &&
	       read_chunk(m, at, limit, &word);
}

/* Where a region ends whose first chunk begins there; 0: a chunk is none. is_kept: they are entered on the way. */
static uint64_t walk(struct musl_old *m, uint64_t start, uint64_t limit, bool is_kept)
{
	uint64_t at = start, word, last;

	while (read_chunk(m, at, limit, &word)) {
		if (is_kept)
			add_chunk(m, at, word);
		at += size_of(word);
	}
	return at > start && limit - at >= m->header && word_at(&m->heap->words, at + m->word, &last) && last == IN_USE
		       ? at + m->header
		       : 0;
}

static bool add_region(struct musl_old *m, uint64_t whole, uint64_t start, uint64_t end)
{
	region_add(m->heap, &(struct region){.start = start, .whole = whole, .end = end});
	m->heap->figures.arena += end - whole;
	m->at = end;
	return true;
}

/* ---- Memory ---- */

/* Up to where memory that can be written goes on behind a mapping. */
static uint64_t memory_end(const struct heap_image *image, size_t i)
{
	while (i + 1 < image->n_mappings && image->mappings[i + 1].start == image->mappings[i].end &&
	       image->mappings[i + 1].writable && !image->mappings[i + 1].shared)
		i++;
	return image->mappings[i].end;
}

/* The first word from `at` on that is not 0; `end` if there is none. */
static uint64_t first_word(struct musl_old *m, uint64_t at, uint64_t end)
{
	struct word_run run;

	while (next_word_run(m->heap->image, m->word, &at, end, &run))
		for (size_t i = 0; i < run.size; i += m->word)
			if (load_word(run.bytes + i, m->word))
				return run.at + i;
	return end;
}

/* Whether a header of a block with a mapping from `page` on has a size that fills pages; which is not more than what
 * is there, but of one that was left behind. */
static bool is_mapped_header(struct musl_old *m, uint64_t page, uint64_t at, uint64_t *end)
{
	uint64_t before, size;

	if (!word_at(&m->heap->words, at, &before) || before != at - page ||
	    !word_at(&m->heap->words, at + m->word, &size) || size <= m->header || (size + before) % PAGE)
		return false;
	*end = add_saturated(at, size);
	return true;
}

/* Where such a block can begin that is aligned to more than others. */
static bool is_aligned_place(const struct musl_old *m, uint64_t offset)
{
	return offset % PAGE == 0 || (offset < PAGE && offset > m->align && !(offset & (offset - 1)));
}

/* A block with a mapping of its own. What is before its header was never written; neither was, of one with an
 * alignment, what is between that at the begin, which is left behind, and its own. */
static bool take_mapped(struct musl_old *m, uint64_t page, uint64_t limit)
{
	const uint64_t plain = page + m->header;
	uint64_t end, inner_end;

	if (limit - page < PAGE || first_word(m, page, plain + m->word) != plain ||
	    !is_mapped_header(m, page, plain, &end))
		return false;
	const uint64_t next = first_word(m, plain + m->header, limit);
	uint64_t chunk = plain;

	if (next < limit && is_aligned_place(m, next + m->header - page) &&
	    is_mapped_header(m, page, next, &inner_end) && inner_end <= limit) {
		chunk = next;
		end = inner_end;
	}
	if (end > limit)
		return false;
	add_block(m, chunk, end - chunk);
	region_add(m->heap, &(struct region){.start = chunk, .whole = page, .end = end, .is_mapped = true});
	m->heap->figures.hblks++;
	m->heap->figures.hblkhd += end - page;
	m->at = end;
	return true;
}

/* False: it is inconsistent. */
static bool take_page(struct musl_old *m, uint64_t page, uint64_t limit, bool is_heap)
{
	const uint64_t start = page + m->header;

	if (first_word(m, page, start + m->word) == start && is_first(m, start, limit)) {
		const uint64_t end = walk(m, start, limit, true);

		if (!end || end % PAGE)
			return inconsistent(m->heap, "a chunk has a size that is not said behind it, or no chunk has");
		return add_region(m, page, start, end);
	}
	if (is_heap)
		return inconsistent(m->heap, "what brk(2) gave does not begin or end as it should");
	if (!take_mapped(m, page, limit))
		m->at = page + PAGE;
	return true;
}

/* All that malloc has of it begins with a page. */
static bool take_pages(struct musl_old *m, const struct heap_mapping *mapping, uint64_t limit)
{
	const bool is_heap = mapping->path[0] != '\0';
	uint64_t word;

	while (m->at < mapping->end) {
		if (!word_at(&m->heap->words, m->at, &word) && !is_heap)
			m->at = behind_hole(m->heap->image, m->at);
		else if (!take_page(m, m->at, limit, is_heap))
			return false;
	}
	return true;
}

/* What is left of a page with variables begins anywhere. Others' variables may look like its begin. */
static bool take_left(struct musl_old *m, const struct heap_mapping *mapping, uint64_t limit)
{
	while (m->at < mapping->end) {
		const uint64_t at = align_up(m->at + m->header, m->align) - m->header;
		uint64_t word, end;

		if (at >= mapping->end)
			break;
		if (!word_at(&m->heap->words, at, &word)) {
			m->at = behind_hole(m->heap->image, at);
			continue;
		}
		/* An anonymous mapping right behind the variables has become one with them. */
		if (!mapping->path[0] && at - m->header >= m->at && (at - m->header) % PAGE == 0) {
			if (!take_page(m, at - m->header, limit, false))
				return false;
			if (m->at != at - m->header + PAGE)
				continue;
		}
		m->at = at + m->align;
		end = word == IN_USE && is_first(m, at, limit) ? walk(m, at, limit, false) : 0;
		if (end) {
			walk(m, at, limit, true);
			add_region(m, at, at, end);
		}
	}
	return true;
}

static bool take_memory(struct musl_old *m)
{
	const struct heap_image *image = m->heap->image;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *mapping = &image->mappings[i];
		const uint64_t limit = memory_end(image, i);

		if (m->at < mapping->start)
			m->at = mapping->start;
		if (!mapping->readable || !mapping->writable || mapping->shared)
			continue;
		if (heap_has_variables(image, i)                            ? !take_left(m, mapping, limit)
		    : !mapping->path[0] || !strcmp(mapping->path, "[heap]") ? !take_pages(m, mapping, limit)
									    : false)
			return false;
	}
	m->heap->figures.uordblks = m->heap->figures.arena - m->heap->figures.fordblks;
	return true;
}

static struct musl_old of_heap(struct heap *heap)
{
	const unsigned word = heap->image->word_size;

	return (struct musl_old){
		.heap = heap, .word = word, .header = 2 * word, .align = 4 * word, .stride = 8 + 2 * word};
}

size_t musl_old_locks(struct heap *heap, uint64_t *addresses, size_t most)
{
	struct musl_old m = of_heap(heap);
	size_t count = 0;

	if (find_bins(&m))
		for (; count <= BINS_OLD && count < most; count++)
			addresses[count] = bin_at(&m, m.bins, (unsigned)count);
	return count;
}

enum heap_status musl_old_read(struct heap *heap)
{
	struct musl_old m = of_heap(heap);

	if (!find_bins(&m))
		return HEAP_NOT_FOUND;
	const bool good = check_locks(&m) && take_memory(&m) && check_bins(&m);

	heap->header_before = m.header;
	free(m.free);
	if (!good)
		return HEAP_INCONSISTENT;
	return blocks_index(heap) ? HEAP_READ : HEAP_TOO_LARGE;
}
