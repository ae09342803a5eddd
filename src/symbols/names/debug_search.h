/* Finds separate debug files: by build-id in the folders for debug files, and by the name that a file gives for its
 * debug file. */
#ifndef FT_SYMBOLS_NAMES_DEBUG_SEARCH_H
#define FT_SYMBOLS_NAMES_DEBUG_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct debug_search {
	const char *folders;    /* folders, ':' separated; only those that begin with '/' are searched */
	const char *paths[2];   /* paths of the file whose debug file is searched for; NULL: none */
	uint64_t device, inode; /* identity of that file, which is not accepted as its own debug file */
	const char *link;       /* name of the debug file; NULL: the file's own name with .debug appended */
	uint32_t crc;           /* CRC of the debug file; 0: unknown */
	const unsigned char *build_id;
	size_t build_id_size; /* 0: the file has no build-id */
};

/* Opens the debug file that has the build-id in *search or, if that is missing, the CRC in *search (any CRC if it is
 * 0). Opens only regular files, without blocking. Returns the descriptor and sets *st and *path, which the caller
 * frees. Returns -1 if there is no such file. */
int debug_search_file(const struct debug_search *search, struct stat *st, char **path);
/* Like debug_search_file(), but for dwz's file (private_copy.h), whose name in `link` is absolute, or relative to the
 * folder of a path in `paths`. Also searches the subfolder .dwz of each of `folders`. */
int debug_search_alt(const struct debug_search *search, struct stat *st, char **path);

/* Returns the path FOLDER/.build-id/ab/cdef....debug, where abcdef... are the hexadecimal digits of a build-id, at
 * least two. length: number of bytes of the folder's path. The caller frees the path. */
char *debug_search_build_id_path(const char *folder, int length, const char *build_id);

#endif
