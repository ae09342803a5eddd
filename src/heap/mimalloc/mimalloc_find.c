/* Finds mimalloc's segments: each contains its own address xored with a random number, which is also in a variable. */
#include "config.h"
#include "heap/mimalloc/mimalloc.h"
#include "base/util.h"

#include <stdlib.h>

#define PAGE 4096u /* size of the kernel's pages, not mimalloc's; mappings begin at page boundaries */

static bool is_segment(struct mimalloc *m, uint64_t at)
{
	struct words *words = &m->heap->words;
	const uint64_t slices = word_or_0(words, at + SEGMENT_SLICES), entries = word_or_0(words, at + SEGMENT_ENTRIES);

	return bytes_at(words, at, SEGMENT_PAGES + PAGE_BYTES) && word_or_0(words, at + SEGMENT_COOKIE) &&
	       word_or_0(words, at + SEGMENT_INFO) == 1 && slices && entries == (slices < SLICES ? slices : SLICES) &&
	       int_or_0(words, at + SEGMENT_KIND) <= 1 && int_or_0(words, at + SEGMENT_PAGES) == 1;
}

static void find_segments(struct mimalloc *m)
{
	const struct heap_image *image = m->heap->image;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *mapping = &image->mappings[i];

		if (!image_is_anonymous(mapping))
			continue;
		for (uint64_t at = align_up(mapping->start, SEGMENT_BYTES); at < mapping->end; at += SEGMENT_BYTES)
			if (is_segment(m, at)) {
				ARRAY_GROW(m->segments, m->segment_capacity, m->segment_count);
				m->segments[m->segment_count++] = at;
			}
	}
}

static bool is_main(struct mimalloc *m, uint64_t at)
{
	struct words *words = &m->heap->words;
	uint64_t heap;

	/* The heap points to its thread's data, which points back to the heap. */
	return word_or_0(words, at + HEAP_COOKIE) == m->cookie && word_or_0(words, at + HEAP_THREAD) &&
	       word_at(words, word_or_0(words, at) + 16, &heap) && heap == at;
}

static bool is_cookie_of_main(void *context, uint64_t at, uint64_t word)
{
	struct mimalloc *const m = context;

	if (word != m->cookie || !is_main(m, at - HEAP_COOKIE))
		return false;
	m->main = at - HEAP_COOKIE;
	return true;
}

/* Removes the segments that do not contain the main heap's random number, because they only look like segments.
 * Returns true if any segment is left. */
static bool keep_own(struct mimalloc *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->segment_count; i++)
		if ((word_or_0(&m->heap->words, m->segments[i] + SEGMENT_COOKIE) ^ m->segments[i]) == m->cookie)
			m->segments[kept++] = m->segments[i];
	m->segment_count = kept;
	return kept != 0;
}

bool mimalloc_find(struct mimalloc *m)
{
	if (!m->heap->image->arch->malloc.has_known_mimalloc)
		return false;
	find_segments(m);
	for (size_t i = 0; i < m->segment_count && i < 64; i++) {
		m->cookie = word_or_0(&m->heap->words, m->segments[i] + SEGMENT_COOKIE) ^ m->segments[i];
		if (heap_find_variable(m->heap->image, is_cookie_of_main, m))
			return keep_own(m);
	}
	return false;
}

/* Returns true if the first heap of a thread is at address `at`. The thread's data follows the heap, and points back
 * to it. */
static bool mimalloc_find_is_heap(struct words *words, uint64_t at)
{
	static const uint64_t constant = 0x3320646e61707865; /* "expand 3" */
	const uint64_t data = word_or_0(words, at);

	return data == at + HEAP_BYTES && word_or_0(words, data + 16) == at &&
	       word_or_0(words, at + HEAP_RANDOM) == constant;
}

void mimalloc_find_heaps(struct mimalloc *m)
{
	struct heap *heap = m->heap;
	const struct heap_image *image = heap->image;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *mapping = &image->mappings[i];

		if (!image_is_anonymous(mapping))
			continue;
		for (uint64_t at = mapping->start; at < mapping->end;) {
			if (!bytes_at(&heap->words, at, HEAP_BYTES)) {
				at = hole_next_page(image, at);
				continue;
			}
			if (mimalloc_find_is_heap(&heap->words, at)) {
				ARRAY_GROW(heap->excluded.own, heap->excluded.own_capacity, heap->excluded.own_count);
				heap->excluded.own[heap->excluded.own_count++] = (struct range){at, at + HEAP_BYTES};
			}
			at += PAGE;
		}
	}
}

uint64_t mimalloc_variable(struct heap *heap)
{
	struct mimalloc m = {.heap = heap};
	const bool is_there = mimalloc_find(&m);

	free(m.segments);
	return is_there ? m.main : 0;
}
