#include "config.h"
#include "scan/capture/process_mappings.h"
#include "scan/capture/mapping_choice.h"
#include "scan/capture/object_segments.h"

#include <stdlib.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

static size_t read_at_address(void *context, uint64_t address, void *data, size_t size)
{
	const pid_t *const tid = context;
	const struct iovec local = {data, size}, remote = {(void *)(uintptr_t)address, size};
	const ssize_t got = process_vm_readv(*tid, &local, 1, &remote, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

static bool is_same_part(const struct heap_mapping *a, const struct heap_mapping *b)
{
	return a->start == b->start && a->offset == b->offset && a->device == b->device && a->inode == b->inode;
}

static uint64_t learned_variables(const struct process_mappings *learned, const struct heap_mapping *m)
{
	const size_t count = COUNT_UP_TO(learned->objects, learned->count, .start, m->start);
	const struct heap_mapping *const object = count ? &learned->objects[count - 1] : NULL;

	return object && is_same_part(object, m) ? object->variables : 0;
}

struct heap_mapping *process_mappings_list(const struct process_mappings *learned, const struct maps *maps,
					   struct heap_mapping *items)
{
	items = xreallocarray(items, maps->count + 1, sizeof(*items));
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *m = &maps->items[i];

		items[i] = (struct heap_mapping){.start = m->start,
						 .end = m->end,
						 .offset = m->offset,
						 .readable = m->read || m->write,
						 .writable = m->write,
						 .executable = m->exec,
						 .shared = m->shared,
						 .has_tags = m->has_tags,
						 .device = makedev(m->dev_major, m->dev_minor),
						 .inode = m->inode,
						 .path = m->path};
		items[i].variables = learned_variables(learned, &items[i]);
	}
	return items;
}

void process_mappings_learn(struct process_mappings *learned, const struct maps *maps, pid_t tid,
			    const struct arch *arch)
{
	process_mappings_free(learned);
	struct heap_mapping *const items = process_mappings_list(learned, maps, NULL);
	const struct object_memory memory = {items, maps->count, arch, read_at_address, &tid};
	struct heap_mapping *const objects = xcalloc(maps->count + 1, sizeof(*objects));
	size_t count = 0;

	for (size_t i = 0; i < maps->count; i++) {
		const bool has_variables = !items[i].shared && (items[i].writable || mapping_is_constant(maps, i));

		items[i].variables = has_variables ? segments_first_variable(&memory, i) : 0;
		items[i].path = NULL; /* belongs to `maps`, which may be freed before *learned */
		if (items[i].variables)
			objects[count++] = items[i];
	}
	free(items);
	*learned = (struct process_mappings){objects, count};
}

void process_mappings_free(struct process_mappings *learned)
{
	free(learned->objects);
	*learned = (struct process_mappings){0};
}
