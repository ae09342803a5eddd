/* Finds a path by which a mapped file can be opened. */
#ifndef FT_SYMBOLS_OBJECTS_MAPPED_FILE_H
#define FT_SYMBOLS_OBJECTS_MAPPED_FILE_H

#include "symbols/objects/maps.h"

#include <sys/stat.h>

struct source {
	char *path; /* path of the file; freed by source_free() */
	int fd;     /* descriptor with O_PATH; closed by source_free() */
	struct stat st;
};

/* Finds a path by which exactly the mapped file can be opened. Tries /proc/PID/map_files, /proc/PID/exe,
 * /proc/PID/root/PATH and PATH; accepts the last three only if they lead to a file with the device and inode of the
 * mapping. Returns false if no path is found. */
bool source_find(pid_t pid, const struct mapping *mapping, struct source *source);
/* Opens the file for reading. Returns a descriptor, which the caller closes, or -errno. */
int source_open(const struct source *source);
void source_free(struct source *source);

#endif
