/* Finds out which object contains an allocator, and whether a thread runs the allocator's code. */
#include "config.h"
#include "heap/allocator_code.h"
#include "base/util.h"

#include <string.h>

#define FRAME_WORDS 8 /* number of words at the top of the stack that are searched for return addresses */

/* Returns the mapping of the file whose variables include an address, or NULL. Variables that are initially zero are
 * in an anonymous mapping that follows the file's mapping. */
static const struct heap_mapping *allocator_code_file_of(const struct heap_image *image, uint64_t address)
{
	const struct heap_mapping *m = image_mapping(image, address);

	if (m && !m->path[0] && m > image->mappings && m[-1].end == m->start)
		m--;
	return m && m->path[0] == '/' ? m : NULL;
}

const char *code_object(const struct heap_image *image, uint64_t address)
{
	const struct heap_mapping *const m = allocator_code_file_of(image, address);

	return m && strstr(m->path, ".so") ? m->path : NULL;
}

static bool is_code(const struct heap_image *image, const char *path, uint64_t address)
{
	const struct heap_mapping *m = image_mapping(image, address);

	return m && m->executable && !strcmp(m->path, path);
}

bool code_is_beside(const struct heap_image *image, uint64_t variable, uint64_t pc)
{
	const struct heap_mapping *const m = allocator_code_file_of(image, variable);

	return m && is_code(image, m->path, pc);
}

bool code_is_c_library(const char *path)
{
	const char *const name = path_name(path);

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-2", 6) || !strncmp(name, "libpthread", 10) ||
	       !strncmp(name, "ld-musl-", 8);
}

static bool allocator_code_is_in(struct heap *heap, const char *path, const struct heap_thread *thread)
{
	if (is_code(heap->image, path, thread->pc))
		return true;
	/* While a thread waits in the kernel or computes outside of the C library, old return addresses may remain
	 * on its stack for a long time. So the stack is checked only if the thread runs code of the C library. */
	const struct heap_mapping *const m = image_mapping(heap->image, thread->pc);

	if (thread->in_syscall || !m || !code_is_c_library(m->path))
		return false;
	for (unsigned i = 0; i < FRAME_WORDS; i++)
		if (is_code(heap->image, path, word_or_0(&heap->words, thread->sp + i * heap->words.width)))
			return true;
	return false;
}

bool no_thread_in_allocator(struct heap *heap, uint64_t address)
{
	const char *path = code_object(heap->image, address);

	for (size_t i = 0; path && i < heap->image->n_threads; i++)
		if (allocator_code_is_in(heap, path, &heap->image->threads[i]))
			return inconsistent(heap, "a thread is inside malloc");
	return true;
}
