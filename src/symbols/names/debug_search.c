#include "config.h"
#include "base/util.h"
#include "symbols/names/debug_search.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/elf/refused_files.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CRC_MAX   (INT64_C(4) << 30) /* size, in bytes, of the largest file whose CRC is computed */
#define CRC_CHUNK 65536

/* ---- Checking a file ---- */

/* Returns true if the file has this CRC, computed as by objcopy --add-gnu-debuglink. */
static bool has_crc(int fd, const struct stat *st, uint32_t wanted)
{
	uint8_t chunk[CRC_CHUNK];
	uint32_t crc = 0;

	if (st->st_size > CRC_MAX)
		return false;
	for (off_t done = 0; done < st->st_size;) {
		const ssize_t got = pread(fd, chunk, sizeof(chunk), done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		crc = lzma_crc32(chunk, (size_t)got, crc);
		done += got;
	}
	return crc == wanted;
}

static bool debug_search_has_build_id(int fd, const struct stat *st, const struct debug_search *search,
				      const char **reason)
{
	const void *bits;
	Elf *const elf = elf_open(fd, st, reason);
	const ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &bits) : 0;
	const bool has = size > 0 && (size_t)size == search->build_id_size &&
			 !memcmp(bits, search->build_id, search->build_id_size);

	elf_end(elf);
	return has;
}

/* Returns true if the file is the debug file that is searched for. Otherwise sets *reason to a static text, or to NULL
 * if the file is the very file whose debug file is searched for. */
static bool is_it(int fd, const struct stat *st, const struct debug_search *search, const char **reason)
{
	*reason = NULL;
	if (st->st_dev == search->device && st->st_ino == search->inode)
		return false;
	*reason = refused_cut;
	if (elf_is_cut(fd, st))
		return false;
	*reason = "it is of another build";
	if (search->build_id_size)
		return debug_search_has_build_id(fd, st, search, reason);
	return !search->crc || has_crc(fd, st, search->crc);
}

/* Takes ownership of the path. Opens the file at this path if it is the debug file. Returns the descriptor, or -1. */
static int debug_search_try_path(const struct debug_search *search, char *path, struct stat *st, char **found)
{
	int fd = open_regular(path, st);
	const char *reason;

	if (fd < 0)
		refused_open("debug file", path);
	if (fd >= 0 && !is_it(fd, st, search, &reason)) {
		if (reason)
			refused_say("debug file", path, reason);
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		*found = path;
	else
		free(path);
	return fd;
}

/* ---- Trying paths ---- */

char *debug_search_build_id_path(const char *folder, int length, const char *build_id)
{
	return xasprintf("%.*s/.build-id/%.2s/%s.debug", length, folder, build_id, build_id + 2);
}

/* Calls `try` for each absolute folder until one contains the file. */
static int each_folder(const struct debug_search *search,
		       int (*try)(const struct debug_search *search, const char *folder, int length, struct stat *st,
				  char **path),
		       struct stat *st, char **path)
{
	int fd = -1;

	for (const char *folder = search->folders; *folder && fd < 0;) {
		const size_t length = strcspn(folder, ":");

		if (folder[0] == '/')
			fd = try(search, folder, (int)length, st, path);
		folder += length + (folder[length] == ':');
	}
	return fd;
}

static int try_build_id(const struct debug_search *search, const char *folder, int length, struct stat *st, char **path)
{
	char hex[BUILD_ID_HEX];

	elf_build_id_to_hex(search->build_id, (ssize_t)search->build_id_size, hex);
	return debug_search_try_path(search, debug_search_build_id_path(folder, length, hex), st, path);
}

static int by_build_id(const struct debug_search *search, struct stat *st, char **path)
{
	return search->build_id_size < 2 ? -1 : each_folder(search, try_build_id, st, path);
}

/* A search for a debug file by name. */
struct debug_search_naming {
	struct debug_search search;
	const char *name;
	char *folder; /* folder of the file whose debug file is searched for; ends with '/', or is "." */
};

/* For a file /usr/bin/x, tries FOLDER/usr/bin/NAME, FOLDER/bin/NAME and FOLDER/NAME. */
static int try_below(const struct debug_search *search, const char *folder, int length, struct stat *st, char **path)
{
	const struct debug_search_naming *const naming = (const struct debug_search_naming *)search;
	const char *below = naming->folder;
	int fd = -1;

	if (below[0] != '/')
		return -1;
	while (below && fd < 0) {
		below += strspn(below, "/");
		fd = debug_search_try_path(
			search, xasprintf("%.*s/%s%s%s", length, folder, below, *below ? "/" : "", naming->name), st,
			path);
		below = *below ? strchr(below, '/') : NULL;
	}
	return fd;
}

static int by_name(const struct debug_search *search, const char *file_path, struct stat *st, char **path)
{
	const char *const own = path_name(file_path);
	char *const made = xasprintf("%s.debug", own);
	struct debug_search_naming naming = {
		.search = *search,
		.name = search->link ? search->link : made,
		.folder = own == file_path ? xstrdup(".") : xstrndup(file_path, (size_t)(own - file_path)),
	};
	int fd = debug_search_try_path(search, xasprintf("%s/%s", naming.folder, naming.name), st, path);

	if (fd < 0)
		fd = debug_search_try_path(search, xasprintf("%s/.debug/%s", naming.folder, naming.name), st, path);
	if (fd < 0)
		fd = each_folder(&naming.search, try_below, st, path);
	free(naming.folder);
	free(made);
	return fd;
}

int debug_search_file(const struct debug_search *search, struct stat *st, char **path)
{
	int fd = by_build_id(search, st, path);

	for (size_t i = 0; i < ARRAY_SIZE(search->paths) && fd < 0; i++) {
		if (!search->paths[i])
			continue;
		fd = by_name(search, search->paths[i], st, path);
		/* If the path is a symbolic link, the debug file may be stored under the link's target. */
		char *const real = fd < 0 ? realpath(search->paths[i], NULL) : NULL;

		if (real && strcmp(real, search->paths[i]) != 0)
			fd = by_name(search, real, st, path);
		free(real);
	}
	return fd;
}

/* Tries the path FOLDER/.dwz/NAME. */
static int try_dwz(const struct debug_search *search, const char *folder, int length, struct stat *st, char **path)
{
	return debug_search_try_path(search, xasprintf("%.*s/.dwz/%s", length, folder, path_name(search->link)), st,
				     path);
}

/* Tries LINK relative to the folder of the file. */
static int try_beside(const struct debug_search *search, const char *file_path, struct stat *st, char **path)
{
	const int length = (int)(path_name(file_path) - file_path);

	return debug_search_try_path(search, xasprintf("%.*s%s", length, file_path, search->link), st, path);
}

int debug_search_alt(const struct debug_search *search, struct stat *st, char **path)
{
	const bool is_absolute = search->link[0] == '/';
	int fd = by_build_id(search, st, path);

	if (fd < 0 && is_absolute)
		fd = debug_search_try_path(search, xstrdup(search->link), st, path);
	for (size_t i = 0; i < ARRAY_SIZE(search->paths) && fd < 0 && !is_absolute; i++)
		if (search->paths[i])
			fd = try_beside(search, search->paths[i], st, path);
	return fd < 0 ? each_folder(search, try_dwz, st, path) : fd;
}
