/* Finds the roots: all words outside of blocks that may be pointers to blocks. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "heap/thread_stacks.h"
#include "base/util.h"

#include <stdlib.h>

typedef void (*root_callback)(void *context, uint64_t word, uint64_t address, pid_t tid);

struct roots_walk {
	struct heap *heap;
	const struct arch *arch;
	root_callback callback;
	void *context;
	uint64_t lowest, highest; /* range of the addresses of all blocks */
};

static void roots_give(const struct roots_walk *walk, uint64_t word, uint64_t address, pid_t tid)
{
	word = arch_data_address(walk->arch, word);
	if (word - walk->lowest <= walk->highest - walk->lowest)
		walk->callback(walk->context, word, address, tid);
}

static void give_words(struct roots_walk *walk, uint64_t start, uint64_t end)
{
	const struct heap_image *image = walk->heap->image;
	const unsigned width = image->arch->pointer_size;
	struct word_run run;

	for (uint64_t at = align_up(start, width); next_word_run(image, width, &at, end, &run);)
		for (size_t i = 0; i < run.size; i += width)
			roots_give(walk, load_word(run.bytes + i, width), run.at + i, 0);
}

/* Calls back for the words of a range, except words in ignored memory. */
static void give_counted(struct roots_walk *walk, uint64_t start, uint64_t end)
{
	const struct heap *heap = walk->heap;

	for (size_t i = COUNT_UP_TO(heap->excluded.ignored, heap->excluded.ignored_count, .end, start);
	     i < heap->excluded.ignored_count && heap->excluded.ignored[i].start < end; i++) {
		if (heap->excluded.ignored[i].start > start)
			give_words(walk, start, heap->excluded.ignored[i].start);
		start = heap->excluded.ignored[i].end;
	}
	if (start < end)
		give_words(walk, start, end);
}

/* Calls back for the words of a range, except words in the allocator's regions. */
static void give_mapping(struct roots_walk *walk, uint64_t start, uint64_t end)
{
	const struct heap *heap = walk->heap;
	uint64_t at = start;

	for (size_t i = COUNT_UP_TO(heap->regions, heap->region_count, .end, start); i < heap->region_count; i++) {
		const struct region *region = &heap->regions[i];

		if (region->begin >= end)
			break;
		if (region->begin > at)
			give_counted(walk, at, region->begin);
		if (region->end > at)
			at = region->end;
	}
	if (at < end)
		give_counted(walk, at, end);
}

/* Calls back with the start of the block that contains a thread's dtv (vector of variables). The pointer in the
 * thread's control block is an interior pointer: it points to the vector's second entry, and an entry has two words. */
static void give_vector(struct roots_walk *walk, uint64_t control_block)
{
	const struct heap_image *image = walk->heap->image;
	const int64_t place = image->arch->tls.dtv_word * image->arch->pointer_size;
	const uint64_t at = control_block + (uint64_t)place;
	const uint64_t word = word_or_0(&walk->heap->words, at);

	if (control_block && word)
		roots_give(walk, word - 2 * image->arch->pointer_size, at, 0);
}

static void give_inside(void *context, uint64_t word, uint64_t address, pid_t tid)
{
	roots_give(context, word, address, tid);
}

/* Calls back for the block into which `address`, a thread's stack pointer or thread pointer, points. Such a block
 * contains the thread's stack, or its control block and variables (musl's dlopen(3) allocates these to make room for
 * more variables). The block is in use even if all pointers to it are interior pointers. */
static void give_block_of(struct roots_walk *walk, const struct heap_thread *thread, uint64_t address)
{
	const uint32_t index = heap_find(walk->heap, address);

	if (index != HEAP_NONE)
		roots_give(walk, block_address(&walk->heap->blocks[index]), 0, thread->tid);
}

static void give_threads(struct roots_walk *walk)
{
	const struct heap_image *image = walk->heap->image;

	for (size_t i = 0; i < image->n_threads; i++) {
		const struct heap_thread *thread = &image->threads[i];

		for (size_t k = 0; k < thread->n_words; k++)
			roots_give(walk, thread->words[k], 0, thread->tid);
		inside_each(walk->heap, thread, give_inside, walk);
		give_block_of(walk, thread, thread->sp);
		give_block_of(walk, thread, thread->thread_pointer);
		give_vector(walk, thread->thread_pointer);
	}
}

static void give_left(void *context, uint64_t control_block, const struct thread_stack *stack)
{
	(void)stack;
	give_vector(context, control_block);
}

static int roots_compare_ranges(const void *one, const void *two)
{
	const struct range *a = one, *b = two;

	return compare_u64(a->start, b->start);
}

/* Collects the memory whose words are not roots: the unused ranges of stacks, the structs malloc_state of main arenas,
 * and the allocator's own data outside of regions. The lists in a malloc_state point to headers of free chunks. A
 * header begins in the last word of the block before it, so these pointers look like interior pointers to that
 * block. */
static void find_ignored(struct heap *heap)
{
	size_t count, kept = 0;
	struct range *ranges = stacks_unused(heap, &count);

	ranges = xreallocarray(ranges, count + heap->glibc.arena_count + heap->excluded.own_count + 1, sizeof(*ranges));
	for (size_t i = 0; i < heap->glibc.arena_count; i++)
		if (heap->glibc.arenas[i].is_main)
			ranges[count++] =
				(struct range){heap->glibc.arenas[i].start,
					       state_member(heap->layout, heap->glibc.arenas[i].bins, STATE_END)};
	for (size_t i = 0; i < heap->excluded.own_count; i++)
		ranges[count++] = heap->excluded.own[i];
	qsort(ranges, count, sizeof(*ranges), roots_compare_ranges);
	for (size_t i = 0; i < count; i++) {
		if (kept && ranges[i].start <= ranges[kept - 1].end) {
			if (ranges[i].end > ranges[kept - 1].end)
				ranges[kept - 1].end = ranges[i].end;
		} else {
			ranges[kept++] = ranges[i];
		}
	}
	free(heap->excluded.ignored);
	heap->excluded.ignored = ranges;
	heap->excluded.ignored_count = kept;
}

void roots_each(struct heap *heap, root_callback callback, void *context)
{
	const struct heap_image *image = heap->image;
	struct roots_walk walk = {.heap = heap, .arch = image->arch, .callback = callback, .context = context};

	if (!heap->block_count)
		return;
	find_ignored(heap);
	blocks_span(heap, &walk.lowest, &walk.highest);
	/* The variables of files come first, because the first root that reaches a block is reported, and a
	 * variable's name says most about the block. */
	for (int of_files = 1; of_files >= 0; of_files--)
		for (size_t i = 0; i < image->n_mappings; i++) {
			const struct heap_mapping *m = &image->mappings[i];

			if (m->readable && !image_is_protected(m) && (m->path[0] == '/') == of_files)
				give_mapping(&walk, m->variables ? m->variables : m->start, m->end);
		}
	stacks_each_left(heap, give_left, &walk);
	give_threads(&walk);
}
