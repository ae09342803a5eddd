/* Copies ELF files, which other programs can change, into memory, for libraries that map what they read: if a mapped
 * file is cut, SIGBUS ends its reader. No program can cut or change a copy. */
#ifndef FT_SYMBOLS_ELF_PRIVATE_COPY_H
#define FT_SYMBOLS_ELF_PRIVATE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Parts of a copy besides the headers and the build-id. */
#define COPY_SYMBOLS 1u /* tables of symbols, and .gnu_debugdata */
#define COPY_DEBUG   2u /* debug information */
#define COPY_FRAMES  4u /* unwind tables */

#define COPY_BUILD_ID_MAX 64

/* The file of dwz to which a file's debug information refers. */
struct copied_altlink {
	char *path; /* as the file names it; NULL: there is none */
	unsigned char build_id[COPY_BUILD_ID_MAX];
	size_t build_id_size;
};

struct private_copy {
	int fd;                    /* of the copy; -1: there is none */
	bool lacks_debug;          /* the debug information is left out, because it is above the limit */
	struct copied_altlink alt; /* left out of the copy itself, because libdw would open it */
};

/* Copies these parts (COPY_...) of the regular file `fd`, which st describes: at most 4 GiB (256 MiB where addresses
 * have 32 bits). The caller keeps fd. False and *reason (a static text) if it is no ELF file, is damaged or too large,
 * or was changed meanwhile. */
bool private_copy_make(int fd, const struct stat *st, unsigned parts, struct private_copy *copy, const char **reason);
/* Copies the file at `path` (NULL: `fd`, which the caller keeps). Returns the descriptor of the copy; -1 if it cannot
 * be made, or if reading takes too long (timed.h). */
int private_copy_in_time(const char *path, int fd, unsigned parts);
/* Closes and frees what the copy still has. */
void private_copy_end(struct private_copy *copy);

#endif
