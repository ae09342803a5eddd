/* Finds out which object contains an allocator, and whether a thread runs its code. */
#include "config.h"
#include "heap/allocator_code.h"
#include "base/util.h"

#include <string.h>

#define FRAME_WORDS 8 /* words at the stack's top, one of which can be a return address to the allocator */

/* Returns the mapping of the file that has an address among its variables, or NULL. The variables that are zero at
 * first are in an anonymous mapping after that of the file. */
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
	/* Outside of the C library, a thread may have old return addresses on its stack for as long as it waits in the
	 * kernel or computes. Only a thread that runs the C library is checked further. */
	const struct heap_mapping *const m = image_mapping(heap->image, thread->pc);

	if (thread->in_syscall || !m || !code_is_c_library(m->path))
		return false;
	for (unsigned i = 0; i < FRAME_WORDS; i++)
		if (is_code(heap->image, path, word_or_0(&heap->words, thread->sp + i * heap->words.width)))
			return true;
	return false;
}

bool code_is_left(struct heap *heap, uint64_t address)
{
	const char *path = code_object(heap->image, address);

	for (size_t i = 0; path && i < heap->image->n_threads; i++)
		if (allocator_code_is_in(heap, path, &heap->image->threads[i]))
			return inconsistent(heap, "a thread is inside malloc");
	return true;
}
