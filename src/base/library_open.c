/* Replaces open() for one library: see library_open.h. */
#include "config.h"
#include "base/library_open.h"

#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef O_LARGEFILE
#define O_LARGEFILE 0
#endif

static struct opened_library {
	uintptr_t start, end; /* the library's address range */
	int (*opener)(const char *path);
} library;

struct library_open_search {
	uintptr_t address, start, end;
};

static int library_open_find(struct dl_phdr_info *info, size_t size, void *context)
{
	struct library_open_search *search = context;
	uintptr_t start = UINTPTR_MAX, end = 0;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *const segment = &info->dlpi_phdr[i];
		const uintptr_t from = (uintptr_t)(info->dlpi_addr + segment->p_vaddr);

		if (segment->p_type != PT_LOAD)
			continue;
		start = from < start ? from : start;
		end = from + segment->p_memsz > end ? from + segment->p_memsz : end;
	}
	if (search->address < start || search->address >= end)
		return 0;
	search->start = start;
	search->end = end;
	return 1;
}

bool library_open_by(const void *function, int (*opener)(const char *path))
{
	struct library_open_search search = {.address = (uintptr_t)function};

	if (!dl_iterate_phdr(library_open_find, &search) ||
	    ((uintptr_t)&library >= search.start && (uintptr_t)&library < search.end))
		return false;
	library = (struct opened_library){search.start, search.end, opener};
	return true;
}

static int open_as(const void *caller, const char *path, int flags, mode_t mode)
{
	const uintptr_t from = (uintptr_t)caller;

	if (library.opener && from >= library.start && from < library.end)
		return library.opener(path);
	return openat(AT_FDCWD, path, flags, mode);
}

/* Defines open() under each name by which a library may call it: open64() for large files, and __open_2() and
 * __open64_2(), which code compiled with _FORTIFY_SOURCE calls without a mode. */
#define OPEN(function, name, more)                                                                                     \
	int function(const char *path, int flags, ...) __asm__(name);                                                  \
	int function(const char *path, int flags, ...)                                                                 \
	{                                                                                                              \
		mode_t mode = 0;                                                                                       \
		va_list list;                                                                                          \
                                                                                                                       \
		va_start(list, flags);                                                                                 \
		if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))                                                    \
			mode = va_arg(list, mode_t);                                                                   \
		va_end(list);                                                                                          \
		return open_as(__builtin_return_address(0), path, flags | (more), mode);                               \
	}

OPEN(library_open, "open", 0)
OPEN(library_open64, "open64", O_LARGEFILE)
#ifdef __GLIBC__
OPEN(library_open_2, "__open_2", 0)
OPEN(library_open64_2, "__open64_2", O_LARGEFILE)
#endif
