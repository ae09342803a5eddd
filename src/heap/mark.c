/* Marks reachable blocks; groups lost blocks under the lost block that points to them. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "heap/heap_private.h"
#include "base/util.h"

#include <stdlib.h>

struct mark_stack {
	uint32_t *items;
	size_t count, capacity;
};

/* A possibly lost block, and the root through which it was found. */
struct possible {
	uint32_t block, root;
};

struct marking {
	struct heap *heap;
	const struct classify_options *options;
	struct mark_stack surely;  /* blocks whose words are still to be visited (in find_lost(): lost blocks) */
	struct possible *possibly; /* possibly lost blocks, which are visited after all reachable blocks */
	size_t possible_count, possible_capacity;
	uint64_t lowest, highest;
	enum heap_class class;  /* class of the block that is being visited */
	struct root at;         /* the root through which that block was reached */
	uint32_t root;          /* index of that root; HEAP_NONE: the root has no index yet */
	uint64_t bytes, blocks; /* sums of the blocks reached through that root */
	uint32_t leader;        /* index of the lost block whose indirectly lost blocks are being visited */
};

static void mark_push(struct mark_stack *stack, uint32_t block)
{
	ARRAY_GROW(stack->items, stack->capacity, stack->count);
	stack->items[stack->count++] = block;
}

/* Returns the index of the current root. A root gets an index only if it is needed: for heap_way(), or for a possibly
 * lost block. */
static uint32_t number_of_root(struct marking *marking)
{
	struct heap *heap = marking->heap;

	if (marking->root == HEAP_NONE) {
		ARRAY_GROW(heap->reach.roots, heap->reach.root_capacity, heap->reach.root_count);
		marking->root = (uint32_t)heap->reach.root_count;
		heap->reach.roots[heap->reach.root_count++] = marking->at;
	}
	return marking->root;
}

static void set_reached(struct marking *marking, uint32_t index, enum heap_class class, uint32_t from)
{
	struct heap *heap = marking->heap;

	block_set_state(&heap->blocks[index], class);
	if (heap->reach.ways)
		heap->reach.ways[index] = (struct way){number_of_root(marking), from};
	if (class == HEAP_REACHABLE) {
		mark_push(&marking->surely, index);
		return;
	}
	ARRAY_GROW(marking->possibly, marking->possible_capacity, marking->possible_count);
	marking->possibly[marking->possible_count++] = (struct possible){index, number_of_root(marking)};
}

/* Returns true if a word is a link that malloc has left in a block, not the program's interior pointer to block `to`.
 * The word is at address `at` in block `from` (HEAP_NONE: in a root). */
static bool mark_is_link(struct heap *heap, uint32_t to, uint64_t word, uint32_t from, uint64_t at)
{
	if (from == HEAP_NONE || !heap->glibc.arena_count || word == block_address(&heap->blocks[to]))
		return false;
	const struct heap_block block = heap_block(heap, from);

	return link_is_of_malloc(heap, &block, at, word);
}

/* Marks the block to which a word points, if there is one. The block becomes reachable if the word is in a root or in a
 * reachable block, and points to the block's start or is an interior pointer of a known kind
 * (interior_pointer_keeps()). Otherwise a lost block becomes possibly lost, unless the word is a link of malloc's
 * (mark_is_link()). The word is at address `at` in block `from` (HEAP_NONE: in a root). */
static void mark_by_word(struct marking *marking, uint64_t word, uint32_t from, uint64_t at)
{
	struct heap *heap = marking->heap;
	const uint32_t index = heap_find(heap, word);

	if (index == HEAP_NONE)
		return;
	const unsigned class = block_state(&heap->blocks[index]);

	if (class == HEAP_REACHABLE)
		return;
	if (marking->class == HEAP_REACHABLE) {
		const struct heap_block block = heap_block(heap, index);

		if (word == block.address || interior_pointer_keeps(heap, &block, word)) {
			set_reached(marking, index, HEAP_REACHABLE, from);
			return;
		}
	}
	if (class == HEAP_LOST && !mark_is_link(heap, index, word, from, at))
		set_reached(marking, index, HEAP_POSSIBLE, from);
}

/* A function that each_word() calls for each word that may be a pointer. The word is at address `at` in block
 * `from`. */
typedef void (*word_visitor)(struct marking *marking, uint64_t word, uint32_t from, uint64_t at);

/* Calls `visit` for the words of a block that may be pointers. */
static void each_word(struct marking *marking, uint32_t index, word_visitor visit)
{
	const struct heap_image *image = marking->heap->image;
	const struct arch *const arch = image->arch;
	const struct heap_block block = heap_block(marking->heap, index);
	const uint64_t end = block.address + block.size, span = marking->highest - marking->lowest;
	const unsigned width = arch->pointer_size;
	struct word_run run;

	for (uint64_t at = starts_first(marking->heap, block.address); next_word_run(image, width, &at, end, &run);)
		for (size_t i = 0; i < run.size; i += width) {
			const uint64_t word = arch_data_address(arch, load_word(run.bytes + i, width));

			if (word - marking->lowest <= span)
				visit(marking, word, index, run.at + i);
		}
}

static void visit_block(struct marking *marking, uint32_t index)
{
	marking->bytes += block_size(marking->heap, &marking->heap->blocks[index]);
	marking->blocks++;
	each_word(marking, index, mark_by_word);
}

static void tell_owner(struct marking *marking)
{
	if (marking->options->owner && marking->blocks)
		marking->options->owner(marking->options->context, marking->at.address, marking->at.tid, marking->bytes,
					marking->blocks);
	marking->bytes = marking->blocks = 0;
}

static void on_root(void *context, uint64_t word, uint64_t address, pid_t tid)
{
	struct marking *marking = context;

	marking->at = (struct root){.address = address, .tid = tid};
	marking->root = HEAP_NONE;
	mark_by_word(marking, word, HEAP_NONE, address);
	while (marking->surely.count)
		visit_block(marking, marking->surely.items[--marking->surely.count]);
	tell_owner(marking);
}

static void drain_possibly(struct marking *marking)
{
	struct heap *heap = marking->heap;

	while (marking->possible_count) {
		const struct possible one = marking->possibly[--marking->possible_count];

		if (block_state(&heap->blocks[one.block]) != HEAP_POSSIBLE)
			continue;
		marking->root = one.root;
		marking->at = heap->reach.roots[one.root];
		visit_block(marking, one.block);
		tell_owner(marking);
	}
}

/* ---- Lost blocks ---- */

/* Returns the sums of the current leader. The leaders are visited in order of address. */
static struct leads *leads_of_leader(struct marking *marking)
{
	struct heap *heap = marking->heap;

	if (!heap->reach.lead_count || heap->reach.leads[heap->reach.lead_count - 1].block != marking->leader) {
		ARRAY_GROW(heap->reach.leads, heap->reach.lead_capacity, heap->reach.lead_count);
		heap->reach.leads[heap->reach.lead_count++] = (struct leads){.block = marking->leader};
	}
	return &heap->reach.leads[heap->reach.lead_count - 1];
}

static struct leads *leads_of(const struct heap *heap, uint32_t index)
{
	const size_t count = COUNT_UP_TO(heap->reach.leads, heap->reach.lead_count, .block, index);

	return count && heap->reach.leads[count - 1].block == index ? &heap->reach.leads[count - 1] : NULL;
}

/* Handles a word of the leader (the lost block from which pointers are being followed), or of a block that is
 * indirectly lost through it. If the word points to another lost block, that block becomes indirectly lost through the
 * leader. If it was a leader before, its sums are added to those of the current leader. */
static void meet_lost(struct marking *marking, uint64_t word, uint32_t from, uint64_t at)
{
	struct heap *heap = marking->heap;
	const uint32_t index = heap_find(heap, word);

	if (index == HEAP_NONE || index == marking->leader || block_state(&heap->blocks[index]) != HEAP_LOST ||
	    mark_is_link(heap, index, word, from, at))
		return;
	struct leads *const leads = leads_of_leader(marking);

	block_set_state(&heap->blocks[index], HEAP_INDIRECT);
	if (heap->reach.ways)
		heap->reach.ways[index].from = from;
	leads->bytes += block_size(heap, &heap->blocks[index]);
	leads->blocks++;
	if (index > marking->leader) {
		mark_push(&marking->surely, index);
		return;
	}
	struct leads *const before = leads_of(heap, index);

	if (before) {
		leads->bytes += before->bytes;
		leads->blocks += before->blocks;
		*before = (struct leads){.block = index};
	}
}

static void find_lost(struct marking *marking)
{
	struct heap *heap = marking->heap;

	for (uint32_t i = 0; i < heap->block_count; i++) {
		if (block_state(&heap->blocks[i]) != HEAP_LOST)
			continue;
		marking->leader = i;
		each_word(marking, i, meet_lost);
		while (marking->surely.count)
			each_word(marking, marking->surely.items[--marking->surely.count], meet_lost);
	}
}

/* Makes lost blocks possibly lost, because they may be reachable through memory that the image does not contain. */
static void doubt_lost(struct heap *heap)
{
	for (size_t i = 0; i < heap->block_count; i++)
		if (block_state(&heap->blocks[i]) == HEAP_LOST)
			block_set_state(&heap->blocks[i], HEAP_POSSIBLE);
}

static void keep_ways(struct heap *heap)
{
	heap->reach.ways = xcalloc(heap->block_count, sizeof(*heap->reach.ways));
	for (size_t i = 0; i < heap->block_count; i++)
		heap->reach.ways[i] = (struct way){HEAP_NONE, HEAP_NONE};
}

void heap_classify_for(struct heap *heap, const struct classify_options *options)
{
	static const struct classify_options none;
	struct marking marking = {.heap = heap, .options = options ? options : &none, .class = HEAP_REACHABLE};

	if (!heap->block_count)
		return;
	if (marking.options->has_ways)
		keep_ways(heap);
	blocks_span(heap, &marking.lowest, &marking.highest);
	roots_each(heap, on_root, &marking);
	marking.class = HEAP_POSSIBLE;
	drain_possibly(&marking);
	if (heap->image->is_partial)
		doubt_lost(heap);
	else
		find_lost(&marking);
	free(marking.surely.items);
	free(marking.possibly);
}

void heap_classify(struct heap *heap)
{
	heap_classify_for(heap, NULL);
}

void heap_lost_by(const struct heap *heap, size_t index, uint64_t *bytes, uint64_t *blocks)
{
	const bool is_lost = block_state(&heap->blocks[index]) == HEAP_LOST;
	const struct leads *const leads = is_lost ? leads_of(heap, (uint32_t)index) : NULL;

	*bytes = leads ? leads->bytes : 0;
	*blocks = leads ? leads->blocks : 0;
}
