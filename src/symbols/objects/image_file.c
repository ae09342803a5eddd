/* Finds the files of a process from its core file, which contains their paths and perhaps their first pages. */
#include "config.h"
#include "symbols/objects/image_file.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/elf/refused_files.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char image_file_missing[] = "there is no such file here";

struct image_file_search_data {
	const struct objects_image *image;
	const struct mapping *mapping;
	const struct elf_file *header; /* the file as read from the image's memory; NULL: the image lacks its header */
	char *wrong_path;              /* path of a file that differs from the process's file; NULL: none */
	char wrong_build_id[BUILD_ID_HEX];
};

/* Reads the file's header from the image's memory: the segments, and usually the build-id. */
static struct elf_file *image_file_read_header(const struct objects_image *image, size_t index)
{
	const struct mapping *const first = maps_find_header(image->maps, index);
	const char *reason;

	return first ? elf_file_from_memory(&image->memory, first->start, first->end, false, &reason) : NULL;
}

/* Returns true if the file is the file that the process had mapped. Without a build-id, only the file's time can show
 * that it is a different file. must_agree: return true only if the build-ids are equal. */
static bool image_file_is_same(const struct image_file_search_data *search, const struct elf_file *file,
			       bool must_agree)
{
	const struct elf_file *header = search->header;

	if (file->machine != search->image->machine)
		return false;
	if (header && header->build_id[0])
		return !strcmp(header->build_id, file->build_id);
	return !must_agree && !search->mapping->deleted && (int64_t)file->key.mtime_sec <= search->image->time;
}

static struct elf_file *image_file_try_path(struct image_file_search_data *search, const char *path, bool must_agree)
{
	const char *reason;
	struct stat st;
	const int fd = open_regular(path, &st);

	if (fd < 0) {
		refused_open("file", path);
		return NULL;
	}
	struct elf_file *file = elf_file_read(fd, &st, &reason);

	if (file && elf_is_cut(fd, &st))
		refused_say(refused_symbols, path, refused_cut);
	close(fd);
	if (!file || image_file_is_same(search, file, must_agree))
		return file;
	if (!search->wrong_path) {
		search->wrong_path = xstrdup(path);
		memcpy(search->wrong_build_id, file->build_id, sizeof(file->build_id));
	}
	elf_file_unref(file);
	return NULL;
}

static void image_file_report_wrong_file(const struct image_file_search_data *search)
{
	const char *const path = search->mapping->path;
	const char *const build_id = search->header ? search->header->build_id : "";

	if (*build_id)
		msg_warn("%s is not the file that the process had mapped: its build-id is %s, that of the mapped file "
			 "is %s. Addresses in it get no names. Say where the process's files are: --sysroot=DIR (then "
			 "the file is DIR%s).",
			 search->wrong_path, *search->wrong_build_id ? search->wrong_build_id : "missing", build_id,
			 path);
	else
		msg_warn("%s may not be the file that the process had mapped: it is newer, and the core file "
			 "has no build-id of it. Addresses in it get no names. Say where the process's files are: "
			 "--sysroot=DIR (then the file is DIR%s).",
			 search->wrong_path, path);
}

static struct elf_file *image_file_search(struct image_file_search_data *search, char **open_path)
{
	const char *const sysroot = search->image->sysroot, *const path = search->mapping->path;
	struct elf_file *file;

	*open_path = xasprintf("%s%s", sysroot ? sysroot : "", path);
	file = image_file_try_path(search, *open_path, false);
	if (file || !sysroot)
		return file;
	/* The process may have run on another system. On this system, a different file may have this path, so the
	 * build-ids must be equal. */
	free(*open_path);
	*open_path = xstrdup(path);
	return image_file_try_path(search, *open_path, true);
}

struct elf_file *image_file_find(const struct objects_image *image, size_t index, char **open_path, const char **reason)
{
	struct elf_file *header = image_file_read_header(image, index);
	struct image_file_search_data search = {
		.image = image, .mapping = &image->maps->items[index], .header = header};
	struct elf_file *file = NULL;

	*open_path = NULL;
	if (search.mapping->path[0] == '/')
		file = image_file_search(&search, open_path);
	if (!file) {
		if (search.wrong_path)
			image_file_report_wrong_file(&search);
		free(*open_path);
		*open_path = NULL;
		*reason = search.wrong_path ? "it is not the file that the process had mapped" : image_file_missing;
		file = header;
		header = NULL;
	}
	elf_file_unref(header);
	free(search.wrong_path);
	return file;
}
