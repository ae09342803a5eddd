#include "config.h"
#include "heap/musl/oldmalloc.h"
#include "heap/musl/mallocng.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

/* ---- Chunks ---- */

static void oldmalloc_add_block(struct musl_old *m, uint64_t chunk, uint64_t size)
{
	struct heap *heap = m->heap;

	block_add(heap, chunk + m->header, size - m->header, HEAP_LOST);
}

static void oldmalloc_add_chunk(struct musl_old *m, uint64_t at, uint64_t word)
{
	struct heap_figures *figures = &m->heap->figures;

	if (word & CHUNK_IN_USE) {
		oldmalloc_add_block(m, at, chunk_size(word));
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
	       is_chunk_size(m, chunk_size(*word), limit - at - header) &&
	       word_at(&m->heap->words, at + chunk_size(*word), &behind) && behind == *word;
}

/* Whether the first chunk of a region may begin there: before it nothing is free. */
static bool oldmalloc_is_first(struct musl_old *m, uint64_t at, uint64_t limit)
{
	uint64_t before, word;

	return at < limit && word_at(&m->heap->words, at, &before) && before == CHUNK_IN_USE &&
	       read_chunk(m, at, limit, &word);
}

/* Where a region ends whose first chunk begins there; 0: a chunk is none. is_kept: they are entered on the way. */
static uint64_t oldmalloc_walk(struct musl_old *m, uint64_t start, uint64_t limit, bool is_kept)
{
	uint64_t at = start, word, last;

	while (read_chunk(m, at, limit, &word)) {
		if (is_kept)
			oldmalloc_add_chunk(m, at, word);
		at += chunk_size(word);
	}
	return at > start && limit - at >= m->header && word_at(&m->heap->words, at + m->word, &last) &&
			       last == CHUNK_IN_USE
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
static uint64_t oldmalloc_first_word(struct musl_old *m, uint64_t at, uint64_t end)
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
static bool oldmalloc_take_mapped(struct musl_old *m, uint64_t page, uint64_t limit)
{
	const uint64_t plain = page + m->header;
	uint64_t end, inner_end;

	if (limit - page < PAGE || oldmalloc_first_word(m, page, plain + m->word) != plain ||
	    !is_mapped_header(m, page, plain, &end))
		return false;
	const uint64_t next = oldmalloc_first_word(m, plain + m->header, limit);
	uint64_t chunk = plain;

	if (next < limit && is_aligned_place(m, next + m->header - page) &&
	    is_mapped_header(m, page, next, &inner_end) && inner_end <= limit) {
		chunk = next;
		end = inner_end;
	}
	if (end > limit)
		return false;
	oldmalloc_add_block(m, chunk, end - chunk);
	region_add(m->heap, &(struct region){.start = chunk, .whole = page, .end = end, .is_mapped = true});
	m->heap->figures.hblks++;
	m->heap->figures.hblkhd += end - page;
	m->at = end;
	return true;
}

/* False: it is inconsistent. */
static bool oldmalloc_take_page(struct musl_old *m, uint64_t page, uint64_t limit, bool is_heap)
{
	const uint64_t start = page + m->header;

	if (oldmalloc_first_word(m, page, start + m->word) == start && oldmalloc_is_first(m, start, limit)) {
		const uint64_t end = oldmalloc_walk(m, start, limit, true);

		if (!end || end % PAGE)
			return inconsistent(m->heap, "a chunk has a size that is not said behind it, or no chunk has");
		return add_region(m, page, start, end);
	}
	if (is_heap)
		return inconsistent(m->heap, "what brk(2) gave does not begin or end as it should");
	if (!oldmalloc_take_mapped(m, page, limit))
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
		else if (!oldmalloc_take_page(m, m->at, limit, is_heap))
			return false;
	}
	return true;
}

/* What is left of a page with variables begins anywhere. Others' variables may look like its begin. */
static bool oldmalloc_take_left(struct musl_old *m, const struct heap_mapping *mapping, uint64_t limit)
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
		/* What was mapped right behind the variables has become one mapping with them. */
		if (mapping->path[0] != '/' && at - m->header >= m->at && (at - m->header) % PAGE == 0) {
			const size_t regions = m->heap->region_count;

			if (!oldmalloc_take_page(m, at - m->header, limit, false))
				return false;
			if (m->heap->region_count > regions)
				continue;
		}
		m->at = at + m->header;
		end = word == CHUNK_IN_USE && oldmalloc_is_first(m, at, limit) ? oldmalloc_walk(m, at, limit, false)
									       : 0;
		if (end) {
			oldmalloc_walk(m, at, limit, true);
			add_region(m, at, at, end);
		}
	}
	return true;
}

static bool oldmalloc_take_memory(struct musl_old *m)
{
	const struct heap_image *image = m->heap->image;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *mapping = &image->mappings[i];
		const uint64_t limit = memory_end(image, i);

		if (m->at < mapping->start)
			m->at = mapping->start;
		if (!mapping->readable || !mapping->writable || mapping->shared)
			continue;
		if (musl_old_has_variables(image, i)                        ? !oldmalloc_take_left(m, mapping, limit)
		    : !mapping->path[0] || !strcmp(mapping->path, "[heap]") ? !take_pages(m, mapping, limit)
									    : false)
			return false;
	}
	m->heap->figures.uordblks = m->heap->figures.arena - m->heap->figures.fordblks;
	return true;
}

enum heap_status musl_old_read(struct heap *heap)
{
	struct musl_old m = musl_old_of(heap);

	if (!musl_old_find(&m))
		return HEAP_NOT_FOUND;
	const bool good = musl_old_check_locks(&m) && oldmalloc_take_memory(&m) && musl_old_check_bins(&m);

	heap->header_before = m.header;
	free(m.free);
	if (!good)
		return HEAP_INCONSISTENT;
	return blocks_index(heap) ? HEAP_READ : HEAP_TOO_LARGE;
}
