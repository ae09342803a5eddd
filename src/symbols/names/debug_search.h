/* Where separate debug files are: by build-id in folders for that, and by the name that a file has for its own. */
#ifndef FT_SYMBOLS_NAMES_DEBUG_SEARCH_H
#define FT_SYMBOLS_NAMES_DEBUG_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct debug_search {
	const char *folders;    /* ':' separated; those that begin with '/' are looked into */
	const char *paths[2];   /* of the file whose debug file is looked for; NULL none */
	uint64_t device, inode; /* of that file, which is not its own debug file */
	const char *link;       /* the debug file's name; NULL: the file's own, with .debug behind */
	uint32_t crc;           /* of a file of that name; 0: unknown */
	const unsigned char *build_id;
	size_t build_id_size; /* 0: has none */
};

/* Opens the debug file: only a regular file, and without waiting. One of that build-id, else of that CRC. Returns the
 * descriptor, what fstat() says of it, and its path, which the caller frees; -1: there is none. */
int debug_search_file(const struct debug_search *search, struct stat *st, char **path);
/* The same for dwz's file, which another one refers to by the name `link`: absolute, or relative to the folder of
 * one of the paths. */
int debug_search_alt(const struct debug_search *search, struct stat *st, char **path);

#endif
