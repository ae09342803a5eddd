/* Copies in memory of ELF files that others can change, for libraries that map what they read: a mapped file that is
 * cut ends its reader by SIGBUS. Nobody can cut or change a copy. */
#ifndef FT_SYMBOLS_ELF_PRIVATE_COPY_H
#define FT_SYMBOLS_ELF_PRIVATE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* What a copy has besides headers and the build-id. */
#define COPY_SYMBOLS 1u /* tables of symbols, packed ones, too */
#define COPY_DEBUG   2u /* debug information */
#define COPY_FRAMES  4u /* unwind tables */

#define COPY_BUILD_ID_MAX 64

/* dwz's file that another one's debug information refers to. */
struct copied_altlink {
	char *path; /* as the file names it; NULL: there is none */
	unsigned char build_id[COPY_BUILD_ID_MAX];
	size_t build_id_size;
};

struct private_copy {
	int fd;                    /* of the copy; -1: there is none */
	bool lacks_debug;          /* its debug information is larger than the limit, and left out */
	struct copied_altlink alt; /* the copy itself does not name it: libdw would open it */
};

/* Copies those parts of the regular file `fd`, of which st has been read, at most 4 GiB (256 MiB where addresses have
 * 32 bits). fd stays the caller's. False and *reason (a static text): it is no ELF file, it is damaged, or it was
 * changed while it was read. */
bool private_copy_make(int fd, const struct stat *st, unsigned parts, struct private_copy *copy, const char **reason);
/* The copy's descriptor, of the file at `path` (NULL: of `fd`, which stays the caller's); -1: there is none, or reading
 * takes too long (timed.h). */
int private_copy_in_time(const char *path, int fd, unsigned parts);
/* Closes and frees what it still has. */
void private_copy_end(struct private_copy *copy);

#endif
