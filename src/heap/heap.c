#include "config.h"
#include "heap/glibc.h"
#include "base/util.h"

#include <elf.h>
#include <stdlib.h>

static bool is_known(const struct heap_image *image)
{
	return image->word_size == 8 && (image->machine == EM_X86_64 || image->machine == EM_AARCH64);
}

static enum heap_status read_all(struct heap *heap)
{
	if (!is_known(heap->image)) {
		heap->reason = "it is one of 32 bits";
		return HEAP_UNSUPPORTED;
	}
	if (!arenas_find(heap))
		return HEAP_NOT_FOUND;
	if (!arenas_regions(heap) || !walk_regions(heap) || !mapped_find(heap) || !caches_find(heap))
		return HEAP_INCONSISTENT;
	heap->figures.uordblks = heap->figures.arena - heap->figures.fordblks;
	return blocks_make(heap) ? HEAP_READ : HEAP_TOO_LARGE;
}

enum heap_status heap_read(const struct heap_image *image, struct heap **result, const char **reason)
{
	struct heap *heap = xcalloc(1, sizeof(*heap));

	heap->image = image;
	heap->words.image = image;
	const enum heap_status status = read_all(heap);

	*reason = heap->reason;
	*result = NULL;
	if (status == HEAP_READ)
		*result = heap;
	else
		heap_free(heap);
	return status;
}

size_t heap_locks(const struct heap_image *image, uint64_t *addresses, size_t most)
{
	struct heap heap = {.image = image, .words = {.image = image}};
	size_t count = 0;

	if (is_known(image) && arenas_find(&heap))
		for (; count < heap.arena_count && count < most; count++)
			addresses[count] = heap.arenas[count].start;
	free(heap.arenas);
	return count;
}

void heap_free(struct heap *heap)
{
	if (!heap)
		return;
	for (size_t i = 0; i < heap->region_count; i++)
		free(heap->regions[i].by_page);
	free(heap->regions);
	free(heap->arenas);
	free(heap->chunks);
	free(heap->blocks);
	free(heap->roots);
	free(heap->leads);
	free(heap);
}

const struct heap_figures *heap_figures(const struct heap *heap)
{
	return &heap->figures;
}

const struct heap_block *heap_blocks(const struct heap *heap, size_t *count)
{
	*count = heap->block_count;
	return heap->blocks;
}

uint64_t heap_root(const struct heap *heap, uint32_t root, pid_t *tid)
{
	*tid = heap->roots[root].tid;
	return heap->roots[root].address;
}
