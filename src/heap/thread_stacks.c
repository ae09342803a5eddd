/* Finds the memory of threads' stacks, and which ranges of it no function uses. Only the kernel's mapping [stack] and
 * memory that the C library itself has recorded as a stack are taken for stacks, because a stack pointer may also point
 * into a mapping or block with other data of the program. */
#include "config.h"
#include "heap/thread_stacks.h"
#include "base/util.h"
#include "heap/allocator_code.h"

#include <stdlib.h>

#define PAGE          4096u
#define DESCRIPTOR    4096u          /* upper limit of the bytes of a struct pthread */
#define ABOVE_MAX     (1ull << 20)   /* upper limit of the bytes from a thread pointer to its stack's end */
#define LEFT_MAX      (256ull << 20) /* maximum number of bytes of a mapping searched for ended threads' stacks */
#define CONTROL_ALIGN 16u

#define LEAST_ADDRESS   4096u      /* lower numbers are not addresses */
#define ALTERNATE_LEAST 1024u      /* least size of an alternate stack, in bytes */
#define ALTERNATE_MAX   (8u << 20) /* upper limit of the bytes from a handler's stack pointer to its signal frame */

/* Returns where a thread's struct pthread may begin: depending on the processor, the struct begins or ends at the
 * thread pointer. */
static uint64_t descriptor_of(const struct heap_image *image, uint64_t thread_pointer)
{
	return image->arch->tls.is_below_variables ? thread_pointer - DESCRIPTOR : thread_pointer;
}

/* Returns true if four words can be those of glibc's struct pthread: {start and size of the memory, size of the guard
 * pages at its start, requested guard size}. Sets *memory to the stack. Memory that the program supplied has no
 * guard. */
static bool is_glibc_stack(const uint64_t word[4], uint64_t thread_pointer, struct thread_stack *memory)
{
	const uint64_t begin = word[0], size = word[1], guard = word[2];

	if (!begin || begin > thread_pointer || thread_pointer - begin >= size ||
	    size - (thread_pointer - begin) > ABOVE_MAX || guard % PAGE || guard >= size || word[3] > guard)
		return false;
	*memory = (struct thread_stack){.start = begin + guard, .end = begin + size, .has_guard = guard != 0};
	return memory->start <= thread_pointer;
}

/* Returns true if five words can be those of musl's struct pthread: {start and size of the mapping, end and size of the
 * stack, size of the guard pages}. Sets *memory to the stack. */
static bool is_musl_stack(const uint64_t word[5], uint64_t thread_pointer, struct thread_stack *memory)
{
	const uint64_t begin = word[0], size = word[1], end = word[2], stack = word[3], guard = word[4];

	if (!begin || begin > thread_pointer || thread_pointer - begin >= size || end > thread_pointer || end < begin ||
	    stack > end - begin || end - stack != begin + guard)
		return false;
	*memory = (struct thread_stack){.start = end - stack, .end = end, .has_guard = guard != 0};
	return true;
}

/* Returns true if all of a range is readable memory. stack_memory_of() needs this check, because any data may follow a
 * struct pthread, such as variables of a static program, and numbers in these data can look like the bounds of a
 * stack. */
static bool thread_stacks_is_memory(const struct heap_image *image, uint64_t start, uint64_t end)
{
	while (start < end) {
		const struct heap_mapping *const m = image_mapping(image, start);

		if (!m || !m->readable)
			return false;
		start = m->end;
	}
	return true;
}

bool stack_memory_of(struct heap *heap, uint64_t thread_pointer, struct thread_stack *memory)
{
	const unsigned width = heap->words.width;
	const uint64_t first = descriptor_of(heap->image, thread_pointer);
	struct thread_stack found;
	uint64_t word[5];
	bool has_any = false;

	if (thread_pointer < DESCRIPTOR || thread_pointer % width)
		return false;
	for (uint64_t at = first; at < first + DESCRIPTOR; at += width) {
		for (unsigned i = 0; i < ARRAY_SIZE(word); i++)
			word[i] = word_or_0(&heap->words, at + i * width);
		const bool is_musl = is_musl_stack(word, thread_pointer, &found);

		if ((!is_musl && !is_glibc_stack(word, thread_pointer, &found)) ||
		    !thread_stacks_is_memory(heap->image, found.start, thread_pointer))
			continue;
		/* A match of musl's words is preferred, because the last three of them and the next word can look like
		 * glibc's words for a stack that has no guard. Among several matches of glibc's words, the stack with
		 * the highest start is taken. */
		if (is_musl || !has_any || found.start > memory->start)
			*memory = found;
		if (is_musl)
			return true;
		has_any = true;
	}
	return has_any;
}

/* ---- Unused memory of stacks ---- */

struct thread_stacks_ranges {
	struct range *items;
	size_t count, capacity;
};

static void thread_stacks_add(struct thread_stacks_ranges *ranges, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	ARRAY_GROW(ranges->items, ranges->capacity, ranges->count);
	ranges->items[ranges->count++] = (struct range){start, end};
}

static bool lies_in(const struct range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

static bool has_c_library(const struct heap_image *image)
{
	for (size_t i = 0; i < image->n_mappings; i++)
		if (code_is_c_library(image->mappings[i].path))
			return true;
	return false;
}

/* Returns true if a thread's function may have variables in the red zone. Outside of system calls, any function may.
 * During a system call, only a function outside of the C library may, because it contains the system call instruction
 * itself. Below the C library's functions, the red zone contains only old words of earlier functions. In a static
 * program, the C library has no file of its own, so each system call is assumed to be one of the library. */
static bool may_use_red_zone(const struct heap_image *image, const struct heap_thread *thread, bool has_library)
{
	const struct heap_mapping *const m = image_mapping(image, thread->pc);

	if (thread->is_ending)
		return false;
	return !thread->in_syscall || (m && !code_is_c_library(m->path) && has_library);
}

/* Returns the lowest address that each thread uses on its stack. The caller frees the array. */
static uint64_t *used_of_threads(const struct heap_image *image)
{
	const bool has_library = has_c_library(image);
	uint64_t *const used = xcalloc(image->n_threads + 1, sizeof(*used));

	for (size_t i = 0; i < image->n_threads; i++) {
		const struct heap_thread *const thread = &image->threads[i];
		const unsigned below = may_use_red_zone(image, thread, has_library) ? image->arch->stack.red_zone : 0;

		used[i] = thread->sp > below ? thread->sp - below : 0;
	}
	return used;
}

/* Returns true if the words are the stack_t {start, flags, size} of sigaltstack(2) in a signal frame, and the signal
 * was delivered on that alternate stack. */
static bool is_alternate(const struct heap_thread *thread, const struct heap_mapping *m, uint64_t at,
			 const uint64_t word[4])
{
	return word[0] >= m->start && word[0] <= thread->sp && !(word[1] & 0x7fffffff) && word[2] >= ALTERNATE_LEAST &&
	       word[2] > at - word[0] && word[2] <= m->end - word[0];
}

/* Returns true if the words are a signal frame without a stack_t, and the interrupted function's stack pointer is
 * below the handler's. Then the handler is on an alternate stack. */
static bool is_interrupted(const struct heap_image *image, const struct heap_thread *thread,
			   const struct heap_mapping *m, const uint64_t word[4])
{
	const struct arch *const arch = image->arch;
	uint64_t sp;

	return arch->signal.frame_stack && arch->signal.frame_stack(word, &sp) && sp >= m->start && sp < thread->sp;
}

/* Returns true if a signal frame above the thread's stack pointer shows that the thread runs a handler on an alternate
 * stack. Then memory below the stack pointer may be in use: the interrupted functions' frames may be there. */
static bool is_on_alternate(struct heap *heap, const struct heap_thread *thread)
{
	const struct heap_mapping *const m = image_mapping(heap->image, thread->sp);
	const unsigned width = heap->words.width;
	/* On processors with frame_stack(), a signal frame may have no stack_t; such a frame begins with a small
	 * number. */
	const bool has_small = heap->image->arch->signal.frame_stack;
	uint64_t word[4];

	if (!m)
		return false;
	const uint64_t room = m->end - thread->sp, end = thread->sp + (room < ALTERNATE_MAX ? room : ALTERNATE_MAX);

	for (uint64_t at = align_up(thread->sp, width), next; at < end; at = next) {
		/* A large array on the stack may have pages that the image does not contain: untouched pages, or pages
		 * of zeros. */
		if (!word_at(&heap->words, at, &word[0])) {
			next = hole_next_page(heap->image, at);
			continue;
		}
		next = at + width;
		if ((word[0] < m->start || word[0] > thread->sp) && (word[0] >= LEAST_ADDRESS || !has_small))
			continue;
		for (unsigned i = 1; i < ARRAY_SIZE(word); i++)
			word[i] = word_or_0(&heap->words, at + i * width);
		if (is_alternate(thread, m, at, word) || is_interrupted(heap->image, thread, m, word))
			return true;
	}
	return false;
}

/* If the thread runs on the stack that the C library has recorded, or on the kernel's [stack], adds the unused part of
 * this stack to `ranges`: from the stack's start to the lowest address that this or another thread uses there. Adds
 * nothing if the thread runs a handler on an alternate stack. used: used_of_threads(). */
static void add_below(struct heap *heap, const struct heap_thread *thread, const uint64_t *used,
		      struct thread_stacks_ranges *ranges)
{
	const struct heap_image *image = heap->image;
	const struct heap_mapping *const m = image_mapping(image, thread->sp);
	struct thread_stack memory;
	struct range unused;

	if (stack_memory_of(heap, thread->thread_pointer, &memory) && thread->sp >= memory.start &&
	    thread->sp < memory.end)
		unused = (struct range){memory.start, thread->sp};
	else if (m && !strcmp(m->path, "[stack]"))
		unused = (struct range){m->start, thread->sp};
	else
		return;
	if (is_on_alternate(heap, thread))
		return;
	for (size_t i = 0; i < image->n_threads; i++)
		if (image->threads[i].sp >= unused.start && used[i] < unused.end)
			unused.end = used[i];
	thread_stacks_add(ranges, unused.start, unused.end);
}

/* ---- Stacks of threads that have ended ---- */

static bool is_of_thread(const struct heap_image *image, const struct thread_stack *memory)
{
	for (size_t i = 0; i < image->n_threads; i++) {
		const struct heap_thread *thread = &image->threads[i];
		const struct range range = {memory->start, memory->end};

		if (lies_in(&range, thread->sp) || lies_in(&range, thread->thread_pointer))
			return true;
	}
	return false;
}

/* Returns true if the control block of an ended thread is at an address, and the C library, which mapped the
 * thread's stack, keeps the stack for a new thread. The first and the third word of a control block are its own
 * address. */
static bool is_left(struct heap *heap, uint64_t at, struct thread_stack *memory)
{
	uint64_t third;

	return word_at(&heap->words, at + 2 * heap->words.width, &third) && third == at &&
	       stack_memory_of(heap, at, memory) && memory->has_guard && !is_of_thread(heap->image, memory);
}

/* Calls back for each stack of an ended thread in a mapping. */
static void each_left(struct heap *heap, const struct heap_mapping *m,
		      void (*callback)(void *context, uint64_t control_block, const struct thread_stack *memory),
		      void *context)
{
	const unsigned width = heap->words.width;
	struct thread_stack memory;
	struct word_run run;
	uint64_t seen = 0;

	for (uint64_t at = m->start; seen < LEFT_MAX && next_word_run(heap->image, width, &at, m->end, &run);
	     seen += run.size)
		for (size_t i = -run.at % CONTROL_ALIGN; i + width <= run.size; i += CONTROL_ALIGN)
			if (load_word(run.bytes + i, width) == run.at + i && is_left(heap, run.at + i, &memory))
				callback(context, run.at + i, &memory);
}

void stacks_each_left(struct heap *heap,
		      void (*callback)(void *context, uint64_t control_block, const struct thread_stack *memory),
		      void *context)
{
	const struct heap_image *image = heap->image;

	if (!image->arch->tls.has_self)
		return;
	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *const m = &image->mappings[i];

		if (image_is_anonymous(m) && !region_of(heap, m->start))
			each_left(heap, m, callback, context);
	}
}

static void add_left(void *context, uint64_t control_block, const struct thread_stack *memory)
{
	thread_stacks_add(context, memory->start, control_block);
}

struct range *stacks_unused(struct heap *heap, size_t *count)
{
	struct thread_stacks_ranges ranges = {0};
	uint64_t *const used = used_of_threads(heap->image);

	for (size_t i = 0; i < heap->image->n_threads; i++)
		add_below(heap, &heap->image->threads[i], used, &ranges);
	free(used);
	stacks_each_left(heap, add_left, &ranges);
	*count = ranges.count;
	return ranges.items;
}
