/* All words that may be pointers to blocks and are not in blocks themselves. */
#include "config.h"
#include "heap/glibc.h"
#include "base/util.h"

#include <elf.h>

#define RED_ZONE  128  /* below the stack pointer, on x86-64 */
#define TCB_PLACE 8192 /* from the end of a thread's stack to its control block, at most */

typedef void (*root_callback)(void *context, uint64_t word, uint64_t address, pid_t tid);

struct walk {
	struct heap *heap;
	root_callback callback;
	void *context;
	uint64_t lowest, highest; /* of all blocks */
};

static void give(const struct walk *walk, uint64_t word, uint64_t address, pid_t tid)
{
	word = image_pointer(walk->heap->image, word);
	if (word - walk->lowest <= walk->highest - walk->lowest)
		walk->callback(walk->context, word, address, tid);
}

static void give_words(struct walk *walk, uint64_t start, uint64_t end)
{
	const struct heap_image *image = walk->heap->image;
	const unsigned width = image->word_size;
	struct word_run run;

	for (uint64_t at = align_up(start, width); next_word_run(image, width, &at, end, &run);)
		for (size_t i = 0; i < run.size; i += width)
			give(walk, load_word(run.bytes + i, width), run.at + i, 0);
}

/* The main arena: its lists point to what is before free chunks, which is the end of a block. */
static void give_around_arena(struct walk *walk, uint64_t start, uint64_t end)
{
	const struct heap *heap = walk->heap;
	const uint64_t arena = heap->arena_count ? heap->arenas[0].start : 0;
	const uint64_t behind = arena ? state_member(heap->form, heap->arenas[0].bins, STATE_END) : 0;

	if (!arena || arena < start || arena >= end) {
		give_words(walk, start, end);
		return;
	}
	give_words(walk, start, arena);
	if (behind < end)
		give_words(walk, behind, end);
}

/* What the allocator has is left out. */
static void give_mapping(struct walk *walk, uint64_t start, uint64_t end)
{
	const struct heap *heap = walk->heap;
	uint64_t at = start;

	for (size_t i = COUNT_UP_TO(heap->regions, heap->region_count, .end, start); i < heap->region_count; i++) {
		const struct region *region = &heap->regions[i];

		if (region->whole >= end)
			break;
		if (region->whole > at)
			give_around_arena(walk, at, region->whole);
		if (region->end > at)
			at = region->end;
	}
	if (at < end)
		give_around_arena(walk, at, end);
}

static bool lies_in(const struct heap_mapping *m, uint64_t address)
{
	return address >= m->start && address < m->end;
}

/* The lowest stack pointer in the mapping, with what is used below it; 0: none is there. */
static uint64_t stack_in(const struct heap_image *image, const struct heap_mapping *m)
{
	uint64_t lowest = 0;

	for (size_t i = 0; i < image->n_threads; i++) {
		const struct heap_thread *thread = &image->threads[i];
		const unsigned below = image->machine == EM_X86_64 && !thread->in_syscall ? RED_ZONE : 0;

		if (lies_in(m, thread->sp) && (!lowest || thread->sp - below < lowest))
			lowest = thread->sp - below;
	}
	return lowest && lowest < m->start ? m->start : lowest;
}

/* The control block in the last pages of a thread's stack, on x86, where it begins with its own address, which is the
 * third word too; 0: none is there. */
static uint64_t control_block_in(struct heap *heap, const struct heap_mapping *m)
{
	const unsigned width = heap->image->word_size;
	const uint64_t start = m->end - m->start > TCB_PLACE ? m->end - TCB_PLACE : m->start;
	uint64_t word;

	for (uint64_t at = start; at + 3 * width <= m->end; at += 16)
		if (word_at(&heap->words, at, &word) && word == at && word_or_0(&heap->words, at + 2 * width) == at)
			return at;
	return 0;
}

/* The C library keeps the stacks of threads that have ended: behind pages without access, with the control block at the
 * end, and nobody's. Its address; 0: it is no such stack. */
static uint64_t left_control_block(struct heap *heap, const struct heap_mapping *m)
{
	const struct heap_image *image = heap->image;

	if (m == image->mappings || m[-1].end != m->start || m[-1].readable || m->path[0] ||
	    m->end - m->start < TCB_PLACE)
		return 0;
	for (size_t i = 0; i < image->n_threads; i++)
		if (lies_in(m, image->threads[i].sp) || lies_in(m, image->threads[i].thread_pointer))
			return 0;
	return control_block_in(heap, m);
}

/* The vector of a thread's variables (dtv) is known by its second entry, of two words each. */
static void give_vector(struct walk *walk, uint64_t control_block)
{
	const struct heap_image *image = walk->heap->image;
	const bool is_x86 = image->machine == EM_X86_64 || image->machine == EM_386;
	const uint64_t at = control_block + (is_x86 ? image->word_size : 0);
	const uint64_t word = word_or_0(&walk->heap->words, at);

	if (control_block && word)
		give(walk, word - 2 * image->word_size, at, 0);
}

/* Who is in the midst of malloc has the address of a block's header. */
static void give_header(struct walk *walk, uint64_t word, pid_t tid)
{
	const struct heap *heap = walk->heap;
	const uint64_t block = image_pointer(heap->image, word) + heap->header_before;
	const uint32_t index = heap->header_before ? heap_find(heap, block) : HEAP_NONE;

	if (index != HEAP_NONE && block_address(&heap->blocks[index]) == block)
		give(walk, block, 0, tid);
}

static void give_threads(struct walk *walk)
{
	const struct heap_image *image = walk->heap->image;

	for (size_t i = 0; i < image->n_threads; i++) {
		const struct heap_thread *thread = &image->threads[i];

		for (size_t k = 0; k < thread->n_words; k++) {
			give(walk, thread->words[k], 0, thread->tid);
			give_header(walk, thread->words[k], thread->tid);
		}
		give_vector(walk, thread->thread_pointer);
	}
}

void roots_each(struct heap *heap, root_callback callback, void *context)
{
	const struct heap_image *image = heap->image;
	struct walk walk = {.heap = heap, .callback = callback, .context = context};

	if (!heap->block_count)
		return;
	blocks_span(heap, &walk.lowest, &walk.highest);
	/* Variables first: where a block has several owners, that one says most. */
	for (int of_files = 1; of_files >= 0; of_files--)
		for (size_t i = 0; i < image->n_mappings; i++) {
			const struct heap_mapping *m = &image->mappings[i];
			const uint64_t stack = stack_in(image, m);

			if (!m->readable || (m->path[0] == '/') != of_files)
				continue;
			const uint64_t left = stack ? 0 : left_control_block(heap, m);

			give_vector(&walk, left);
			give_mapping(&walk, stack ? stack : left ? left : m->start, m->end);
		}
	give_threads(&walk);
}
