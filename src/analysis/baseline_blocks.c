#include "config.h"
#include "analysis/baseline_blocks.h"
#include "base/util.h"

#include <stdlib.h>

enum { BLOCKS_OF_RECORD = 256 };

void baseline_blocks_add(struct baseline_blocks *blocks, uint64_t id, uint64_t size)
{
	ARRAY_GROW(blocks->items, blocks->capacity, blocks->count);
	blocks->items[blocks->count++] = (struct baseline_block){id, size};
}

static int baseline_blocks_compare(const void *a, const void *b)
{
	const struct baseline_block *x = a, *y = b;

	return compare_u64(x->id, y->id);
}

int baseline_blocks_put(struct baseline_blocks *blocks, uint32_t resource, struct stage *stage)
{
	int error = 0;

	if (blocks->count)
		qsort(blocks->items, blocks->count, sizeof(*blocks->items), baseline_blocks_compare);
	for (size_t i = 0; i < blocks->count && !error; i += BLOCKS_OF_RECORD) {
		const size_t left = blocks->count - i, count = left < BLOCKS_OF_RECORD ? left : BLOCKS_OF_RECORD;

		error = stage_put(stage, &(struct record){.type = RECORD_BASELINE,
							  .baseline = {resource, blocks->items + i, (uint32_t)count}});
	}
	free(blocks->items);
	*blocks = (struct baseline_blocks){0};
	return error;
}
