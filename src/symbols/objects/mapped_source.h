/* Finds a way to open a mapped file. */
#ifndef FT_SYMBOLS_OBJECTS_MAPPED_SOURCE_H
#define FT_SYMBOLS_OBJECTS_MAPPED_SOURCE_H

#include "symbols/objects/maps.h"

#include <sys/stat.h>

struct source {
	char *path; /* freed by source_free() */
	int fd;     /* O_PATH; closed by source_free() */
	struct stat st;
};

/* Finds a path by which exactly the mapping's file can be opened: /proc/PID/map_files, /proc/PID/exe,
 * /proc/PID/root/PATH or PATH; the latter three only if their device and inode are the mapping's. False if there is
 * none. */
bool source_find(pid_t pid, const struct mapping *mapping, struct source *source);
/* Opens the file for reading. Returns a descriptor, which the caller closes, or -errno. */
int source_open(const struct source *source);
void source_free(struct source *source);

#endif
