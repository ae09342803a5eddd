/* Finds separate debug files: by build-id in folders for them, and by the name that a file gives for its own. */
#ifndef FT_SYMBOLS_NAMES_DEBUG_SEARCH_H
#define FT_SYMBOLS_NAMES_DEBUG_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct debug_search {
	const char *folders;    /* ':' separated; only those that begin with '/' are searched */
	const char *paths[2];   /* of the file whose debug file is looked for; NULL none */
	uint64_t device, inode; /* of that file, which is not its own debug file */
	const char *link;       /* the debug file's name; NULL: the file's own name and .debug */
	uint32_t crc;           /* of the file with that name; 0: unknown */
	const unsigned char *build_id;
	size_t build_id_size; /* 0: the file has none */
};

/* Opens the debug file that has this build-id or, without a build-id, this CRC. Opens only regular files, and does not
 * wait. Returns the descriptor, with its status in *st and its path in *path, which the caller frees; -1 if there is
 * none. */
int debug_search_file(const struct debug_search *search, struct stat *st, char **path);
/* The same for dwz's file, to which a file refers by the name `link`: absolute, or relative to the folder of one of the
 * paths. */
int debug_search_alt(const struct debug_search *search, struct stat *st, char **path);

#endif
