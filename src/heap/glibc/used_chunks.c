/* Makes the table of blocks from the table of glibc's chunks. */
#include "config.h"
#include "heap/glibc/glibc.h"

/* Returns how many bytes of a chunk the program cannot use. Usually a block extends one word into the next chunk's
 * header. An mmapped chunk has no next chunk. From glibc 2.43 on, it ends with room for a header, and its block extends
 * one word into this room. If memory has tags, one for each 16 bytes, a block ends before that header or room. */
static unsigned header_of(const struct heap *heap, const struct region *region)
{
	const unsigned word = heap->layout->word, tags = heap->glibc.has_tags ? word : 0;

	if (!region->is_mapped)
		return word + tags;
	return header_size(heap->layout) + (is_newest(heap->layout, heap->glibc.state_offset) ? word + tags : 0);
}

/* Returns true if blocks have tags. Either all arenas have tagged blocks, or none. */
static bool used_chunks_has_tags(const struct heap *heap)
{
	const struct heap_image *image = heap->image;

	for (size_t i = 0; i < heap->region_count; i++) {
		const struct region *region = &heap->regions[i];
		const size_t count = COUNT_UP_TO(image->mappings, image->n_mappings, .start, region->start);

		if (!region->is_mapped)
			return count && image->mappings[count - 1].has_tags;
	}
	return false;
}

bool blocks_make(struct heap *heap)
{
	size_t used = 0, region = 0;

	heap->glibc.has_tags = used_chunks_has_tags(heap);
	for (size_t i = 0; i < heap->block_count; i++) {
		struct block chunk = heap->blocks[i];

		while (block_address(&chunk) >= heap->regions[region].end)
			region++;
		if (block_state(&chunk) != CHUNK_USED)
			continue;
		block_set_size(heap, &chunk, block_size(heap, &chunk) - header_of(heap, &heap->regions[region]));
		block_set_state(&chunk, HEAP_LOST);
		heap->blocks[used++] = chunk;
	}
	heap->block_count = used;
	return blocks_index(heap);
}
