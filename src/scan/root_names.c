#include "config.h"
#include "scan/root_names.h"
#include "symbols/names/data_names.h"

#include <inttypes.h>

static bool root_names_is_in(const struct heap_mapping *m, uint64_t address)
{
	return address >= m->start && address < m->end;
}

#define CONTROL_BLOCK 4096 /* bytes around the thread pointer in which the C library stores a thread's data */

/* Returns true if the address is near the thread pointer. There, below (x86) or above the thread pointer, are a
 * thread's variables and the C library's own words. The mapping alone does not tell them from a stack, because the
 * kernel may have merged both, and other mappings of the program. */
static bool is_near(const struct heap_thread *thread, uint64_t address, uint64_t thread_bytes)
{
	const uint64_t span = thread_bytes > CONTROL_BLOCK ? thread_bytes : CONTROL_BLOCK;

	return thread->thread_pointer && add_saturated(address, span) > thread->thread_pointer &&
	       address < add_saturated(thread->thread_pointer, span);
}

static const struct heap_thread *variables_of(const struct heap_image *image, const struct heap_mapping *m,
					      uint64_t address, uint64_t thread_bytes)
{
	for (size_t i = 0; i < image->n_threads; i++)
		if (root_names_is_in(m, image->threads[i].thread_pointer) &&
		    is_near(&image->threads[i], address, thread_bytes))
			return &image->threads[i];
	return NULL;
}

/* Of the threads whose stack pointers are in the mapping, returns the one with the nearest stack pointer below the
 * address, or, if all are above it, with the lowest one. Returns NULL if there is none, or if its thread pointer is in
 * the mapping below the address: a stack ends before the thread's variables. */
static const struct heap_thread *stack_of(const struct heap_image *image, const struct heap_mapping *m,
					  uint64_t address)
{
	const struct heap_thread *nearest = NULL, *lowest = NULL;

	for (size_t i = 0; i < image->n_threads; i++) {
		const struct heap_thread *thread = &image->threads[i];

		if (!root_names_is_in(m, thread->sp))
			continue;
		if (!lowest || thread->sp < lowest->sp)
			lowest = thread;
		if (thread->sp <= address && (!nearest || thread->sp > nearest->sp))
			nearest = thread;
	}
	if (!nearest)
		return lowest; /* the address is below all stack pointers, in memory that a function uses or has used */
	return root_names_is_in(m, nearest->thread_pointer) && address > nearest->thread_pointer ? NULL : nearest;
}

static bool root_names_add_thread(struct buf *out, const struct heap_image *image, const struct heap_mapping *m,
				  uint64_t address, uint64_t thread_bytes)
{
	const struct heap_thread *variables = variables_of(image, m, address, thread_bytes);
	const struct heap_thread *stack = variables ? NULL : stack_of(image, m, address);

	if (variables)
		buf_printf(out, "variables of thread %d", variables->tid);
	else if (stack)
		buf_printf(out, "stack of thread %d", stack->tid);
	return variables || stack;
}

void scan_place_add(struct buf *out, struct data_names *names, const struct heap_image *image, uint64_t address,
		    bool is_exact)
{
	const struct heap_mapping *m = image_mapping(image, address);
	struct data_name name;

	if (data_names_find(names, address, &name)) {
		buf_printf(out, "%s: ", path_name(name.object));
		if (name.symbol)
			buf_add_str(out, name.symbol);
		else
			buf_printf(out, "0x%" PRIx64, name.offset);
		if (name.symbol && is_exact && name.offset)
			buf_printf(out, "+%" PRIu64, name.offset);
		return;
	}
	if (!m) {
		buf_printf(out, "0x%" PRIx64, address);
		return;
	}
	if (!root_names_add_thread(out, image, m, address, data_names_thread_bytes(names)))
		buf_printf(out, "%s 0x%" PRIx64 "-0x%" PRIx64, m->path[0] ? m->path : "mapping", m->start, m->end);
	if (is_exact)
		buf_printf(out, ", 0x%" PRIx64, address);
}
