#include "config.h"
#include "symbols/names/dwo_file.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/elf/private_copy.h"
#include "symbols/elf/refused_files.h"
#include "base/library_open.h"
#include "base/msg.h"
#include "base/util.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The .dwo file that this thread looks for. It is kept here because libdw passes to open_for_libdw() only the path that
 * libdw has built from the file's name. */
static __thread struct {
	const char *name;   /* name of the .dwo file as in the skeleton unit; NULL: no file is looked for */
	const char *beside; /* a path in whose folder the .dwo file may be */
} wanted;

static int copy_of(const char *path)
{
	struct private_copy copy;
	const char *reason;
	struct stat st;
	const int fd = open_regular(path, &st);

	if (fd < 0) {
		refused_open("debug file", path);
		return -1;
	}
	const bool is_cut = elf_is_cut(fd, &st);
	const bool done =
		!is_cut && private_copy_make(fd, &st, COPY_DEBUG | COPY_SYMBOLS | COPY_FRAMES, &copy, &reason);

	close(fd);
	if (!done) {
		refused_say("debug file", path, is_cut ? refused_cut : reason);
		errno = ENOEXEC;
		return -1;
	}
	free(copy.alt.path);
	return copy.fd;
}

/* Returns true if the path is the memory of a process (/proc/PID/mem), which libdwfl opens by itself to read [vdso]. */
static bool is_process_memory(const char *path)
{
	int pid, end = 0;

	return !wanted.name && sscanf(path, "/proc/%d/mem%n", &pid, &end) == 1 && end && !path[end];
}

static int open_for_libdw(const char *path)
{
	if (is_process_memory(path))
		return openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	int fd = copy_of(path);

	if (fd >= 0 || !wanted.name || wanted.name[0] == '/')
		return fd;
	char *const here =
		xasprintf("%.*s%s", (int)(path_name(wanted.beside) - wanted.beside), wanted.beside, wanted.name);

	fd = copy_of(here);
	free(here);
	return fd;
}

static void dwo_files_start(void)
{
	if (!library_open_by((const void *)(uintptr_t)dwarf_begin, open_for_libdw))
		msg_debug(DBG_SYMBOLS, 1,
			  "the open() of libdw cannot be replaced: libdw opens .dwo files itself, and may block");
}

void dwo_files_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, dwo_files_start);
}

static const char *string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

Dwarf_Die split_unit(Dwarf_Die *skeleton, const char *beside)
{
	const char *const name = string_of(skeleton, DW_AT_dwo_name);
	Dwarf_Die split = {0};

	wanted.name = name ? name : string_of(skeleton, DW_AT_GNU_dwo_name);
	wanted.beside = beside;
	if (dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) || !split.addr)
		split = *skeleton;
	wanted.name = NULL;
	return split;
}
