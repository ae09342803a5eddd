#include "config.h"
#include "scan/capture/core_parts.h"
#include "base/hash.h"
#include "base/util.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_MAX (1ull << 30) /* limit of the bytes that are read of all files */
#define PIECE    65536u       /* bytes that are read at once; a multiple of a word */

struct core_omitted_search {
	const struct object_memory *memory;
	int64_t time;
	const char *sysroot;
	uint64_t left; /* number of bytes that may still be read */
};

static bool has_segment(const struct object_memory *memory, const struct mapping *file)
{
	const struct heap_mapping *const items = memory->mappings;
	const size_t next = COUNT_UP_TO(items, memory->count, .start, file->start);

	return (next && items[next - 1].end > file->start) || (next < memory->count && items[next].start < file->end);
}

/* Adds the inode numbers of objects' files to `objects`. An object is recognised by its ELF header, which the core file
 * contains, because gdb writes an object's first page. */
static void core_omitted_find_objects(const struct object_memory *memory, const struct maps *files,
				      struct hash *objects)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct mapping *const file = &files->items[i];
		char magic[SELFMAG];

		if (!file->offset && memory->read(memory->context, file->start, magic, SELFMAG) == SELFMAG &&
		    !memcmp(magic, ELFMAG, SELFMAG))
			hash_set(objects, file->inode, 1);
	}
}

/* Returns true if one of the words is an address of writable memory. */
static bool has_address(const struct object_memory *memory, const unsigned char *bytes, size_t size)
{
	const unsigned width = memory->arch->pointer_size;
	const struct heap_mapping *const items = memory->mappings;
	const uint64_t highest = memory->count ? items[memory->count - 1].end : 0;

	for (size_t at = 0; at + width <= size; at += width) {
		const uint64_t word = arch_data_address(memory->arch, arch_pointer(memory->arch, bytes + at));

		if (word >= highest || word < items->start)
			continue;
		const struct heap_mapping *const m = &items[COUNT_UP_TO(items, memory->count, .start, word) - 1];

		if (word < m->end && m->writable)
			return true;
	}
	return false;
}

/* Returns true if this part of the file may have pointers. */
static bool part_may_point(struct core_omitted_search *search, int fd, uint64_t offset, uint64_t size)
{
	unsigned char bytes[PIECE];

	if (size > search->left)
		return true;
	search->left -= size;
	for (uint64_t at = 0; at < size; at += PIECE) {
		const size_t length = size - at < PIECE ? (size_t)(size - at) : PIECE;

		if (read_all_at(fd, bytes, length, offset + at) || has_address(search->memory, bytes, length))
			return true;
	}
	return false;
}

/* Returns true if the file may have changed since the core file was written, or in the same second. Package managers
 * and copies keep the mtime of the content, so the ctime is compared, too. It is not compared under a sysroot, where
 * all files are copies. */
static bool may_have_changed(const struct core_omitted_search *search, const struct stat *st)
{
	return st->st_mtim.tv_sec >= search->time || (!search->sysroot && st->st_ctim.tv_sec >= search->time);
}

/* Returns true if the mapped part of the open file may have pointers. Only bytes up to the file's end are examined: in
 * memory, the bytes after it are zeros. */
static bool open_file_may_point(struct core_omitted_search *search, const struct mapping *file, int fd,
				const struct stat *st)
{
	const uint64_t size = (uint64_t)st->st_size, mapped = file->end - file->start;
	const uint64_t after = size > file->offset ? size - file->offset : 0;
	char magic[SELFMAG];

	if (may_have_changed(search, st))
		return true;
	if (!read_all_at(fd, magic, SELFMAG, 0) && !memcmp(magic, ELFMAG, SELFMAG))
		return false;
	return part_may_point(search, fd, file->offset, after < mapped ? after : mapped);
}

static bool file_may_point(struct core_omitted_search *search, const struct mapping *file)
{
	struct stat st;

	if (file->deleted || file->path[0] != '/')
		return true;
	char *const path = xasprintf("%s%s", search->sysroot ? search->sysroot : "", file->path);
	const int fd = open_regular(path, &st);
	const bool may = fd < 0 || open_file_may_point(search, file, fd, &st);

	if (fd >= 0)
		close(fd);
	free(path);
	return may;
}

uint64_t core_omitted_bytes(const struct object_memory *memory, const struct maps *files, int64_t time,
			    const char *sysroot)
{
	struct core_omitted_search search = {.memory = memory, .time = time, .sysroot = sysroot, .left = READ_MAX};
	struct hash objects = {0};
	uint64_t bytes = 0;

	core_omitted_find_objects(memory, files, &objects);
	for (size_t i = 0; i < files->count; i++) {
		const struct mapping *const file = &files->items[i];

		if (!has_segment(memory, file) && !hash_get(&objects, file->inode) && file_may_point(&search, file))
			bytes = add_saturated(bytes, file->end - file->start);
	}
	hash_free(&objects);
	return bytes;
}
