#include "config.h"
#include "scan/places.h"
#include "symbols/data_names.h"

#include <inttypes.h>

static const struct heap_mapping *mapping_of(const struct heap_image *image, uint64_t address)
{
	const size_t count = COUNT_UP_TO(image->mappings, image->n_mappings, .start, address);

	return count && address < image->mappings[count - 1].end ? &image->mappings[count - 1] : NULL;
}

static bool is_in(const struct heap_mapping *m, uint64_t address)
{
	return address >= m->start && address < m->end;
}

/* A thread's variables lie in the same mapping as its stack, above that. */
static bool add_thread(struct buf *out, const struct heap_image *image, const struct heap_mapping *m, uint64_t address)
{
	for (size_t i = 0; i < image->n_threads; i++) {
		const struct heap_thread *thread = &image->threads[i];
		const bool has_both = is_in(m, thread->sp) && is_in(m, thread->thread_pointer);

		if (!is_in(m, thread->sp) && !is_in(m, thread->thread_pointer))
			continue;
		/* The first variables are below the thread pointer, where the stack begins above them. */
		buf_printf(out, "%s of thread %d",
			   !is_in(m, thread->sp) || (has_both && address + 4096 > thread->thread_pointer) ? "variables"
													  : "stack",
			   thread->tid);
		return true;
	}
	return false;
}

void scan_place_add(struct buf *out, struct data_names *names, const struct heap_image *image, uint64_t address,
		    bool is_exact)
{
	const struct heap_mapping *m = mapping_of(image, address);
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
	if (!add_thread(out, image, m, address))
		buf_printf(out, "%s 0x%" PRIx64 "-0x%" PRIx64, m->path[0] ? m->path : "mapping", m->start, m->end);
	if (is_exact)
		buf_printf(out, ", 0x%" PRIx64, address);
}
