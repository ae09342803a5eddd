/* Copies ELF files into memory for libraries that map files. Other programs can change a file, and if they truncate a
 * mapped file, SIGBUS ends its reader. No program can truncate or change the copy. */
#ifndef FT_SYMBOLS_ELF_PRIVATE_COPY_H
#define FT_SYMBOLS_ELF_PRIVATE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* The parts of a file that a copy can contain besides the headers and the build-id. */
#define COPY_SYMBOLS 1u /* symbol tables, and .gnu_debugdata */
#define COPY_DEBUG   2u /* debug information */
#define COPY_FRAMES  4u /* unwind tables */

#define COPY_BUILD_ID_MAX 64

/* The link from a file's debug information to dwz's file: the file into which dwz(1) has moved the debug information
 * that several files share. */
struct copied_altlink {
	char *path; /* path of dwz's file, as the section contains it; NULL: there is no link */
	unsigned char build_id[COPY_BUILD_ID_MAX];
	size_t build_id_size;
};

struct private_copy {
	int fd;                    /* descriptor of the copy; -1: none */
	bool lacks_debug;          /* the debug information is not copied, because it is larger than the limit */
	struct copied_altlink alt; /* the file's link to dwz's file; not in the copy, because libdw would follow it */
};

/* Copies the given parts (COPY_...) of the regular file `fd`, at most 4 GiB (256 MiB with 32-bit addresses). st: status
 * of the file. The caller keeps fd. Returns false and sets *reason (a static text) if it is no ELF file, is damaged or
 * too large, or was changed meanwhile. */
bool private_copy_make(int fd, const struct stat *st, unsigned parts, struct private_copy *copy, const char **reason);
/* Copies the file at `path` (NULL: `fd`, which the caller keeps). Returns the descriptor of the copy, or -1 if it
 * cannot be made, or if reading takes too long (timed.h). */
int private_copy_in_time(const char *path, int fd, unsigned parts);
/* Closes and frees a copy; it may be empty. */
void private_copy_end(struct private_copy *copy);

#endif
