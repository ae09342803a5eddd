/* A spool: files that wait in a folder until they are sent. Several threads of one process may use a spool. Files that
 * another process has left there are sent, too. */
#ifndef FT_FLEET_PUSH_SPOOL_H
#define FT_FLEET_PUSH_SPOOL_H

#include <stddef.h>
#include <stdint.h>

struct push_spool;

/* Opens a spool, and makes the folder if it does not exist. files, bytes: the most that the spool keeps; one file may
 * have all the bytes. Returns NULL, and a reason in `why`, if the folder cannot be used, or another process uses
 * it. */
struct push_spool *push_spool_open(const char *folder, size_t files, uint64_t bytes, char *why, size_t why_size);
/* Closes the spool; the files stay. NULL is allowed. */
void push_spool_close(struct push_spool *spool);

/* Adds a file of a time, in ns. If the spool has too many files or bytes then, removes the oldest ones, and adds their
 * number to *dropped. Returns 0, or -errno if the file could not be added; -EFBIG: it has more bytes than the spool
 * keeps. Called by one thread at a time. */
int push_spool_add(struct push_spool *spool, uint64_t time_ns, const void *data, size_t size, size_t *dropped);

/* The name of a file in the spool; "": none. The order of names is that of their times. */
struct push_spool_name {
	char text[64];
};

/* Sets *name to the first name after *name; to the first of all if there is none after it, and to "" if the spool is
 * empty. Returns the number of files. */
size_t push_spool_next(struct push_spool *spool, struct push_spool_name *name);
/* Returns the content of a file, with a NUL after it, which the caller frees; NULL and errno if that is impossible. */
char *push_spool_read(struct push_spool *spool, const struct push_spool_name *name, size_t *size);
void push_spool_remove(struct push_spool *spool, const struct push_spool_name *name);

#endif
