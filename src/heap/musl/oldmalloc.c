/* Reads the heap of musl's old malloc: regions of chunks, and blocks with mappings of their own. */
#include "config.h"
#include "heap/musl/oldmalloc.h"
#include "heap/musl/musl.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

/* ---- Chunks ---- */

static void oldmalloc_add_block(struct musl_old *m, uint64_t chunk, uint64_t size)
{
	block_add(m->heap, chunk + m->header, size - m->header, HEAP_LOST);
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

/* Reads the size word of the chunk at address `at`, which must end before `limit`. Returns false if no chunk is there:
 * the header after a chunk must repeat the word. */
static bool read_chunk(struct musl_old *m, uint64_t at, uint64_t limit, uint64_t *word)
{
	const unsigned header = m->header;
	uint64_t after;

	return limit - at > 2 * header && word_at(&m->heap->words, at + m->word, word) &&
	       is_chunk_size(m, chunk_size(*word), limit - at - header) &&
	       word_at(&m->heap->words, at + chunk_size(*word), &after) && after == *word;
}

/* Returns true if the first chunk of a region may begin at address `at`: its header says that the memory before it
 * is in use. */
static bool oldmalloc_is_first(struct musl_old *m, uint64_t at, uint64_t limit)
{
	uint64_t before, word;

	return at < limit && word_at(&m->heap->words, at, &before) && before == CHUNK_IN_USE &&
	       read_chunk(m, at, limit, &word);
}

/* Returns the end of the region whose first chunk begins at `start`, or 0 if one of the chunks is invalid. is_kept:
 * if true, adds the chunks. */
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

static bool add_region(struct musl_old *m, uint64_t begin, uint64_t start, uint64_t end)
{
	region_add(m->heap, &(struct region){.start = start, .begin = begin, .end = end});
	m->heap->figures.arena += end - begin;
	m->at = end;
	return true;
}

/* ---- Memory ---- */

/* Returns the end of the writable memory that begins with mapping `i` and may extend into the next mappings. */
static uint64_t memory_end(const struct heap_image *image, size_t i)
{
	while (i + 1 < image->n_mappings && image->mappings[i + 1].start == image->mappings[i].end &&
	       image->mappings[i + 1].writable && !image->mappings[i + 1].shared)
		i++;
	return image->mappings[i].end;
}

/* Returns the address of the first word from `at` on that is not 0, or `end`. */
static uint64_t oldmalloc_first_word(struct musl_old *m, uint64_t at, uint64_t end)
{
	struct word_run run;

	while (next_word_run(m->heap->image, m->word, &at, end, &run))
		for (size_t i = 0; i < run.size; i += m->word)
			if (load_word(run.bytes + i, m->word))
				return run.at + i;
	return end;
}

/* Returns true if the header at address `at` can be that of a block whose mapping begins at `page`: the block ends at
 * the end of a page. Sets *end to the end of the block. *end may be after the mapping's end if the header is an old
 * one, which an allocation with an alignment has left. */
static bool is_mapped_header(struct musl_old *m, uint64_t page, uint64_t at, uint64_t *end)
{
	uint64_t before, size;

	if (!word_at(&m->heap->words, at, &before) || before != at - page ||
	    !word_at(&m->heap->words, at + m->word, &size) || size <= m->header || (size + before) % PAGE)
		return false;
	*end = add_saturated(at, size);
	return true;
}

/* Returns true if a block that was allocated with an alignment may begin at this offset in its mapping. */
static bool is_aligned_place(const struct musl_old *m, uint64_t offset)
{
	return offset % PAGE == 0 || (offset < PAGE && offset > m->align && !(offset & (offset - 1)));
}

/* Adds the block whose mapping begins at `page`. Returns false if there is none. The mapping begins with m->header zero
 * bytes and then a header. If the block was allocated with an alignment, that header is an old one. Then the block's
 * own header is further inside, with only zeros between the two. */
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
	region_add(m->heap, &(struct region){.start = chunk, .begin = page, .end = end, .is_mapped = true});
	m->heap->figures.hblks++;
	m->heap->figures.hblkhd += end - page;
	m->at = end;
	return true;
}

/* Adds the region or the block that begins at a page, if there is one, and sets m->at to the end of the memory read.
 * is_heap: the page is in the memory from brk(2), which contains only regions. Returns false if the heap is
 * inconsistent. */
static bool oldmalloc_take_page(struct musl_old *m, uint64_t page, uint64_t limit, bool is_heap)
{
	const uint64_t start = page + m->header;

	if (oldmalloc_first_word(m, page, start + m->word) == start && oldmalloc_is_first(m, start, limit)) {
		const uint64_t end = oldmalloc_walk(m, start, limit, true);

		if (!end || end % PAGE)
			return inconsistent(m->heap, "a chunk has an impossible size, or a size that differs from "
						     "that in the next chunk's header");
		return add_region(m, page, start, end);
	}
	if (is_heap)
		return inconsistent(m->heap, "the memory from brk(2) does not begin or end as it should");
	if (!oldmalloc_take_mapped(m, page, limit))
		m->at = page + PAGE;
	return true;
}

/* Reads an anonymous mapping or [heap], where malloc's memory always begins at the start of a page. */
static bool take_pages(struct musl_old *m, const struct heap_mapping *mapping, uint64_t limit)
{
	const bool is_heap = mapping->path[0] != '\0';
	uint64_t word;

	while (m->at < mapping->end) {
		if (!word_at(&m->heap->words, m->at, &word) && !is_heap)
			m->at = hole_next_page(m->heap->image, m->at);
		else if (!oldmalloc_take_page(m, m->at, limit, is_heap))
			return false;
	}
	return true;
}

/* Adds the regions between the variables of an object. They can begin anywhere. Variables may look like the start of a
 * region, so a region is added only after its chunks were followed up to its end. */
static bool oldmalloc_take_left(struct musl_old *m, const struct heap_mapping *mapping, uint64_t limit)
{
	while (m->at < mapping->end) {
		const uint64_t at = align_up(m->at + m->header, m->align) - m->header;
		uint64_t word, end;

		if (at >= mapping->end)
			break;
		if (!word_at(&m->heap->words, at, &word)) {
			m->at = hole_next_page(m->heap->image, at);
			continue;
		}
		/* Memory that the kernel mapped right after the variables is in one mapping with them. */
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
