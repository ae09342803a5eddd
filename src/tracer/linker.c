#include "config.h"
#include "tracer/model.h"

#include <elf.h>

/* What the dynamic linker tells debuggers (<link.h>): the program's dynamic section points to its struct r_debug,
 * {version, map, brk, state}, which heads the list of objects, struct link_map {bias, name, dynamic section, next}. */

/* Both are the target's memory: lists may go in a circle. */
#define ENTRIES_MAX 1000
#define OBJECTS_MAX 10000

/* Once the linker has begun, the entry DT_DEBUG is set. */
static uint64_t find_r_debug(struct process *p)
{
	const unsigned word = p->arch->pointer_size;
	const uint64_t offset = p->program ? elf_file_dynamic(p->program->file) : 0;
	uint64_t tag, value;

	for (unsigned i = 0; offset && i < ENTRIES_MAX; i++) {
		const uint64_t at = p->program->bias + offset + 2 * (uint64_t)word * i;

		if (memory_read_pointer(p, at, &tag) < 0 || memory_read_pointer(p, at + word, &value) < 0 ||
		    tag == DT_NULL)
			return 0;
		if (tag == DT_DEBUG)
			return value;
	}
	return 0;
}

static uint64_t r_debug(struct process *p)
{
	if (!p->r_debug)
		p->r_debug = find_r_debug(p);
	return p->r_debug;
}

void linker_notice(struct task *task)
{
	struct process *p = task->process;
	const uint64_t offset = 3 * p->arch->pointer_size;
	uint32_t state;

	/* 0 is RT_CONSISTENT: not about to, but done. */
	if (r_debug(p) && memory_read(p, p->r_debug + offset, &state, sizeof(state)) == 0 && state)
		return;
	p->anchor = p->shared ? task->tid : 0;
	process_update_objects(p);
	p->anchor = 0;
}

void linker_mark_lasting(struct process *p)
{
	const unsigned word = p->arch->pointer_size;
	const struct object *linker = r_debug(p) ? objects_find(&p->objects, p->r_debug) : NULL;
	uint64_t map, dynamic;

	if (p->program)
		p->program->lasting = true;
	if (!linker || memory_read_pointer(p, p->r_debug + word, &map) < 0)
		return;
	/* What the program needs from its start on stands before the linker itself, what is loaded later behind it. */
	for (unsigned i = 0; map && i < OBJECTS_MAX; i++) {
		if (memory_read_pointer(p, map + 2 * word, &dynamic) < 0 ||
		    memory_read_pointer(p, map + 3 * word, &map) < 0)
			return;
		struct object *object = objects_find(&p->objects, dynamic);

		if (object)
			object->lasting = true;
		if (object == linker)
			return;
	}
}
