/* .debug_frame, of a file or of its separate debug file. */
#include "config.h"
#include "unwind/cfi.h"
#include "unwind/cfi_check.h"
#include "symbols/debug_search.h"
#include "symbols/private_copy.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libdw has uncompressed it. */
static bool debug_is_harmless(Elf *elf)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Elf_Scn *section = NULL;
	size_t names;

	if (!ident || elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(section, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (!name || shdr.sh_type == SHT_NOBITS ||
		    (strcmp(name, ".debug_frame") && strcmp(name, ".zdebug_frame")))
			continue;
		Elf_Data *data = elf_rawdata(section, NULL);

		return data && data->d_buf && cfi_is_harmless(ident, data, false, NULL, false);
	}
	return false;
}

void cfi_debug_close(struct cfi_debug *debug)
{
	if (debug->dwarf)
		dwarf_end(debug->dwarf);
	if (debug->has_copy)
		close(debug->copy);
	*debug = (struct cfi_debug){0};
}

/* Takes the .debug_frame of a file's copy. False: it has none. */
static bool open_debug(struct cfi_debug *debug, int fd, const struct stat *st)
{
	struct private_copy copy;
	const char *reason;

	if (!private_copy_make(fd, st, COPY_FRAMES, &copy, &reason))
		return false;
	debug->copy = copy.fd;
	debug->has_copy = true;
	free(copy.alt.path);
	debug->dwarf = dwarf_begin(copy.fd, DWARF_C_READ);
	if (debug->dwarf && debug_is_harmless(dwarf_getelf(debug->dwarf)))
		debug->cfi = dwarf_getcfi(debug->dwarf);
	if (!debug->cfi)
		cfi_debug_close(debug);
	return debug->cfi;
}

/* The separate debug file, by its build-id: it is this file's for certain. */
static int find_separate(struct cfi *cfi, const struct stat *st, struct stat *found)
{
	struct debug_search search = {
		.folders = "/usr/lib/debug", .paths = {""}, .device = st->st_dev, .inode = st->st_ino};
	const void *id;
	const ssize_t size = dwelf_elf_gnu_build_id(cfi->elf, &id);
	char *path = NULL;
	int fd;

	if (size <= 0)
		return -1;
	search.build_id = id;
	search.build_id_size = (size_t)size;
	fd = debug_search_file(&search, found, &path);
	free(path);
	return fd;
}

Dwarf_CFI *cfi_debug_frame(struct cfi *cfi)
{
	struct stat st, separate_st;
	int separate;

	if (cfi->debug_tried)
		return cfi->debug.cfi;
	cfi->debug_tried = true;
	if (cfi->fd < 0 || fstat(cfi->fd, &st) || open_debug(&cfi->debug, cfi->fd, &st))
		return cfi->debug.cfi;
	separate = find_separate(cfi, &st, &separate_st);
	if (separate >= 0) {
		open_debug(&cfi->debug, separate, &separate_st);
		close(separate);
	}
	return cfi->debug.cfi;
}
