/* What is reachable, and of what is not, what leads to what. */
#include "config.h"
#include "heap/parts.h"
#include "base/util.h"

#include <stdlib.h>

struct stack {
	uint32_t *items;
	size_t count, capacity;
};

struct marking {
	struct heap *heap;
	struct stack surely;   /* reached by pointers that keep them, all the way */
	struct stack possibly; /* by others: looked at when all that is surely reachable is known */
	uint64_t lowest, highest;
	uint32_t leader; /* of the lost blocks that are being looked at */
};

static void push(struct stack *stack, uint32_t block)
{
	ARRAY_GROW(stack->items, stack->capacity, stack->count);
	stack->items[stack->count++] = block;
}

static void reach(struct marking *marking, uint32_t index, enum heap_class class, uint32_t root, uint32_t from)
{
	struct heap_block *block = &marking->heap->blocks[index];

	block->class = (uint8_t) class;
	block->root = root;
	block->from = from;
	push(class == HEAP_REACHABLE ? &marking->surely : &marking->possibly, index);
}

/* A pointer in something that is `class` itself. */
static void meet(struct marking *marking, uint64_t word, enum heap_class class, uint32_t root, uint32_t from)
{
	const uint32_t index = heap_find(marking->heap, word);

	if (index == HEAP_NONE)
		return;
	const struct heap_block *block = &marking->heap->blocks[index];

	if (class == HEAP_REACHABLE && block->class != HEAP_REACHABLE &&
	    (word == block->address || inner_keeps(marking->heap, block, word)))
		reach(marking, index, HEAP_REACHABLE, root, from);
	else if (block->class == HEAP_LOST)
		reach(marking, index, HEAP_POSSIBLE, root, from);
}

/* The words of a block that may be pointers. */
static void each_word(struct marking *marking, uint32_t index, void (*visit)(struct marking *, uint64_t, uint32_t))
{
	const struct heap_image *image = marking->heap->image;
	const struct heap_block *block = &marking->heap->blocks[index];
	const uint64_t end = block->address + block->size, span = marking->highest - marking->lowest;
	const unsigned width = image->word_size;
	struct word_run run;

	for (uint64_t at = block->address; next_word_run(image, width, &at, end, &run);)
		for (size_t i = 0; i < run.size; i += width) {
			const uint64_t word = image_pointer(image, load_word(run.bytes + i, width));

			if (word - marking->lowest <= span)
				visit(marking, word, index);
		}
}

static void meet_from_block(struct marking *marking, uint64_t word, uint32_t from)
{
	const struct heap_block *block = &marking->heap->blocks[from];

	meet(marking, word, (enum heap_class)block->class, block->root, from);
}

static void drain_surely(struct marking *marking)
{
	while (marking->surely.count)
		each_word(marking, marking->surely.items[--marking->surely.count], meet_from_block);
}

static void on_root(void *context, uint64_t word, uint64_t address, pid_t tid)
{
	struct marking *marking = context;
	struct heap *heap = marking->heap;
	const size_t waiting = marking->possibly.count;
	const uint32_t root = (uint32_t)heap->root_count;

	meet(marking, word, HEAP_REACHABLE, root, HEAP_NONE);
	if (!marking->surely.count && marking->possibly.count == waiting)
		return;
	ARRAY_GROW(heap->roots, heap->root_capacity, heap->root_count);
	heap->roots[heap->root_count++] = (struct root){.address = address, .tid = tid};
	drain_surely(marking);
}

static void drain_possibly(struct marking *marking)
{
	while (marking->possibly.count) {
		const uint32_t index = marking->possibly.items[--marking->possibly.count];

		if (marking->heap->blocks[index].class == HEAP_POSSIBLE)
			each_word(marking, index, meet_from_block);
	}
}

/* ---- What is lost ---- */

static struct leads *leads_of(struct heap *heap, uint32_t index)
{
	struct heap_block *block = &heap->blocks[index];

	if (block->leads == HEAP_NONE) {
		ARRAY_GROW(heap->leads, heap->lead_capacity, heap->lead_count);
		heap->leads[heap->lead_count] = (struct leads){0};
		block->leads = (uint32_t)heap->lead_count++;
	}
	return &heap->leads[block->leads];
}

/* A lost block leads to another one: to one that was not looked at yet, or to one that led others until now. */
static void meet_lost(struct marking *marking, uint64_t word, uint32_t from)
{
	struct heap *heap = marking->heap;
	const uint32_t index = heap_find(heap, word);

	if (index == HEAP_NONE || index == marking->leader || heap->blocks[index].class != HEAP_LOST)
		return;
	struct heap_block *block = &heap->blocks[index];
	struct leads *leads = leads_of(heap, marking->leader);

	block->class = HEAP_INDIRECT;
	block->from = from;
	leads->bytes += block->size;
	leads->blocks++;
	if (index < marking->leader) {
		if (block->leads != HEAP_NONE) {
			leads->bytes += heap->leads[block->leads].bytes;
			leads->blocks += heap->leads[block->leads].blocks;
			heap->leads[block->leads] = (struct leads){0};
		}
		return;
	}
	push(&marking->surely, index);
}

static void find_lost(struct marking *marking)
{
	struct heap *heap = marking->heap;

	for (uint32_t i = 0; i < heap->block_count; i++) {
		if (heap->blocks[i].class != HEAP_LOST)
			continue;
		marking->leader = i;
		each_word(marking, i, meet_lost);
		while (marking->surely.count)
			each_word(marking, marking->surely.items[--marking->surely.count], meet_lost);
	}
}

/* Where memory is not held that may have pointers, any block may be reachable by one. */
static void doubt_lost(struct heap *heap)
{
	for (size_t i = 0; i < heap->block_count; i++)
		if (heap->blocks[i].class == HEAP_LOST)
			heap->blocks[i].class = HEAP_POSSIBLE;
}

void heap_classify(struct heap *heap)
{
	struct marking marking = {.heap = heap};

	if (!heap->block_count)
		return;
	marking.lowest = heap->blocks[0].address;
	marking.highest = heap->blocks[heap->block_count - 1].address + heap->blocks[heap->block_count - 1].size;
	roots_each(heap, on_root, &marking);
	drain_possibly(&marking);
	if (heap->image->is_partial)
		doubt_lost(heap);
	else
		find_lost(&marking);
	free(marking.surely.items);
	free(marking.possibly.items);
}

void heap_lost_by(const struct heap *heap, const struct heap_block *block, uint64_t *bytes, uint64_t *blocks)
{
	const bool has_any = block->class == HEAP_LOST && block->leads != HEAP_NONE;

	*bytes = has_any ? heap->leads[block->leads].bytes : 0;
	*blocks = has_any ? heap->leads[block->leads].blocks : 0;
}
