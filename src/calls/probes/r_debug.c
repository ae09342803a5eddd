#include "config.h"
#include "calls/probes/r_debug.h"
#include "calls/probes/probes.h"
#include "ptrace/target_memory.h"

#include <elf.h>
#include <string.h>

/* Reads the data that the dynamic linker keeps for debuggers (<link.h>). The program's dynamic section points to struct
 * r_debug, {version, map, brk, state}, which points to the list of objects, struct link_map {bias, name, dynamic
 * section, next}. */

/* Limits for reading the target's memory, which may be damaged: the dynamic section may lack its end, and the list of
 * objects may be circular. */
#define ENTRIES_MAX 1000
#define OBJECTS_MAX 10000

#define ENTRIES_READ 32u /* number of entries read at once; most dynamic sections have fewer */

/* Returns the address of the struct r_debug, or 0. The linker sets the entry DT_DEBUG when it begins to run. */
static uint64_t find_r_debug(struct process *p)
{
	const unsigned word = p->arch->pointer_size, entry = 2 * word;
	const uint64_t offset = p->program ? elf_file_dynamic(p->program->file) : 0;
	unsigned char bytes[ENTRIES_READ * 16];

	for (unsigned done = 0; offset && done < ENTRIES_MAX;) {
		const uint64_t at = p->program->bias + offset + (uint64_t)entry * done;
		const ssize_t got = memory_read_some(p, at, bytes, (size_t)ENTRIES_READ * entry);
		const unsigned count = got > 0 ? (unsigned)got / entry : 0;

		for (unsigned i = 0; i < count; i++) {
			const uint64_t tag = arch_pointer(p->arch, bytes + i * entry);

			if (tag == DT_NULL)
				return 0;
			if (tag == DT_DEBUG)
				return arch_pointer(p->arch, bytes + i * entry + word);
		}
		if (!count)
			return 0;
		done += count;
	}
	return 0;
}

static uint64_t r_debug(struct process *p)
{
	if (!p->probes->r_debug)
		p->probes->r_debug = find_r_debug(p);
	return p->probes->r_debug;
}

bool r_debug_is_complete(struct process *p)
{
	const uint64_t offset = 3 * p->arch->pointer_size;
	uint32_t state;

	/* 0 is RT_CONSISTENT. */
	return !r_debug(p) || memory_read(p, p->probes->r_debug + offset, &state, sizeof(state)) < 0 || !state;
}

void r_debug_mark_lasting(struct process *p)
{
	const unsigned word = p->arch->pointer_size;
	const struct object *linker = r_debug(p) ? objects_find(&p->objects, p->probes->r_debug) : NULL;
	unsigned char links[2 * 8]; /* the fields of a link_map for the dynamic section and the next object */
	uint64_t map;

	if (p->program)
		p->program->lasting = true;
	if (!linker || memory_read_pointer(p, p->probes->r_debug + word, &map) < 0)
		return;
	/* Marks the objects up to the linker as lasting. All of these were loaded at program start, because the linker
	 * adds each object that it loads later at the end of the list. */
	for (unsigned i = 0; map && i < OBJECTS_MAX; i++) {
		if (memory_read(p, map + 2 * word, links, 2 * word) < 0)
			return;
		struct object *object = objects_find(&p->objects, arch_pointer(p->arch, links));

		map = arch_pointer(p->arch, links + word);
		if (object)
			object->lasting = true;
		if (object == linker)
			return;
	}
}
