/* Opens the .debug_frame of a file or of its separate debug file. */
#include "config.h"
#include "unwind/cfi.h"
#include "unwind/cfi_check.h"
#include "symbols/names/debug_search.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/elf/private_copy.h"
#include "base/timed.h"
#include "base/util.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns true if the bytes of .debug_frame, which libdw has uncompressed, are harmless. */
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

/* Opens the .debug_frame of a private copy of the file. Returns false if the file has no usable one. */
static bool cfi_debug_open_debug(struct cfi_debug *debug, int fd, const struct stat *st)
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

/* The result of a search for a .debug_frame. If the search takes too long, the worker of timed_do() frees this struct
 * when the search has ended. */
struct cfi_debug_finding {
	int fd;
	struct cfi_debug debug;
};

static void finding_free(void *context)
{
	struct cfi_debug_finding *const finding = context;

	cfi_debug_close(&finding->debug);
	if (finding->fd >= 0)
		close(finding->fd);
	free(finding);
}

/* Finds the separate debug file by the build-id, which proves that it belongs to this file. */
static int find_separate(Elf *elf, const struct stat *st, struct stat *found)
{
	struct debug_search search = {.folders = "/usr/lib/debug", .device = st->st_dev, .inode = st->st_ino};
	const void *id;
	const ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
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

static void open_separate(struct cfi_debug_finding *finding, const struct stat *st)
{
	struct stat separate_st;
	const char *reason;
	Elf *const elf = elf_open(finding->fd, st, &reason);
	const int separate = elf ? find_separate(elf, st, &separate_st) : -1;

	if (separate >= 0) {
		cfi_debug_open_debug(&finding->debug, separate, &separate_st);
		close(separate);
	}
	elf_end(elf);
}

static void cfi_debug_find(void *context)
{
	struct cfi_debug_finding *const finding = context;
	struct stat st;

	if (finding->fd >= 0 && !fstat(finding->fd, &st) && !cfi_debug_open_debug(&finding->debug, finding->fd, &st))
		open_separate(finding, &st);
}

Dwarf_CFI *cfi_debug_frame(struct cfi *cfi)
{
	if (cfi->debug_tried)
		return cfi->debug.cfi;
	cfi->debug_tried = true;
	if (cfi->fd < 0)
		return NULL;
	struct cfi_debug_finding *const finding = xcalloc(1, sizeof(*finding));

	finding->fd = fcntl(cfi->fd, F_DUPFD_CLOEXEC, 0);
	if (!timed_do(cfi_debug_find, finding_free, finding))
		return NULL;
	cfi->debug = finding->debug;
	finding->debug = (struct cfi_debug){0};
	finding_free(finding);
	return cfi->debug.cfi;
}
