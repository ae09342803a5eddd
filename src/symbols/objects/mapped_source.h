/* How a mapped file can be opened now. */
#ifndef FT_SYMBOLS_OBJECTS_MAPPED_SOURCE_H
#define FT_SYMBOLS_OBJECTS_MAPPED_SOURCE_H

#include "symbols/objects/maps.h"

#include <sys/stat.h>

struct source {
	char *path; /* the caller frees it */
	int fd;     /* O_PATH, the caller closes it */
	struct stat st;
};

/* Finds a path by which exactly the file of that mapping can be opened: /proc/PID/map_files,
 * /proc/PID/exe, /proc/PID/root/PATH or PATH; the latter three only if device and inode are the
 * mapping's. False if there is none. */
bool source_find(pid_t pid, const struct mapping *mapping, struct source *source);
/* Opens it for reading; a descriptor or -errno. */
int source_open(const struct source *source);
void source_free(struct source *source);

#endif
