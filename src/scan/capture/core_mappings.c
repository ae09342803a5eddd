#include "config.h"
#include "scan/capture/core_parts.h"
#include "base/hash.h"
#include "base/util.h"
#include "proc/proc.h"

#include <stdlib.h>
#include <string.h>

static void core_mappings_take_path(struct mapping *mapping, char *path, struct hash *by_path)
{
	uint64_t *number = hash_place(by_path, hash_bytes(path, strlen(path)));

	if (!*number)
		*number = by_path->count;
	mapping->inode = *number;
	mapping->path = path;
	mapping->deleted = proc_path_take_deleted(path);
}

/* Reads a note NT_FILE. It contains the number of mappings, the size of a page, {start, end, offset in pages} of each
 * mapping, then the paths, each with its NUL. */
void core_mappings_read(struct maps *files, const struct arch *arch, const unsigned char *bytes, size_t size)
{
	const unsigned width = arch->pointer_size;
	const uint64_t count = size >= 2 * width ? arch_pointer(arch, bytes) : 0;
	struct hash by_path = {0};

	if (!count || files->items || count > size / (3 * width) || 2 * width + count * 3 * width >= size)
		return;
	const size_t paths = 2 * width + count * 3 * width;
	const uint64_t page = arch_pointer(arch, bytes + width);

	files->text = xmalloc(size - paths + 1);
	memcpy(files->text, bytes + paths, size - paths);
	files->text[size - paths] = '\0';
	files->items = xcalloc(count, sizeof(*files->items));
	char *path = files->text, *const end = path + (size - paths);

	for (uint64_t i = 0, last = 0; i < count && path < end; i++) {
		const unsigned char *const at = bytes + (2 + 3 * i) * width;
		struct mapping mapping = {.start = arch_pointer(arch, at),
					  .end = arch_pointer(arch, at + width),
					  .offset = arch_pointer(arch, at + 2 * width) * page};
		const size_t length = strlen(path);

		if (mapping.start >= last && mapping.end > mapping.start) {
			core_mappings_take_path(&mapping, path, &by_path);
			files->items[files->count++] = mapping;
			last = mapping.end;
		}
		path += length + 1;
	}
	hash_free(&by_path);
}

static int core_mappings_compare(const void *one, const void *two)
{
	const struct heap_mapping *a = one, *b = two;

	return compare_u64(a->start, b->start);
}

static void core_mappings_join_path(struct mapping *file, struct heap_mapping *m)
{
	file->read = m->readable;
	file->write = m->writable;
	file->exec = m->executable;
	m->path = file->path;
	m->offset = file->offset;
	m->inode = file->inode;
}

struct heap_mapping *core_mappings_join(struct maps *files, struct heap_mapping *items, size_t *count)
{
	const size_t segments = *count;

	items = xreallocarray(items, segments + files->count + 1, sizeof(*items));
	for (size_t i = 0; i < files->count; i++) {
		struct mapping *const file = &files->items[i];
		const size_t k = COUNT_UP_TO(items, segments, .start, file->start);

		if (k && file->start < items[k - 1].end) {
			core_mappings_join_path(file, &items[k - 1]);
			continue;
		}
		file->read = file->exec = true;
		if (k < segments && items[k].start < file->end)
			continue;
		items[(*count)++] = (struct heap_mapping){.start = file->start,
							  .end = file->end,
							  .offset = file->offset,
							  .readable = true,
							  .executable = true,
							  .inode = file->inode,
							  .path = file->path};
	}
	qsort(items, *count, sizeof(*items), core_mappings_compare);
	return items;
}
