/* Reads /proc/PID/maps into an array. */
#ifndef FT_SYMBOLS_OBJECTS_MAPS_H
#define FT_SYMBOLS_OBJECTS_MAPS_H

#include "base/util.h"
#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset;
	bool read, write, exec, shared;
	bool has_tags; /* its memory has tags (PROT_MTE): set by maps_mark_tags() */
	unsigned dev_major, dev_minor;
	uint64_t inode;   /* 0: no file */
	const char *path; /* without " (deleted)", which sets `deleted`; newlines are unescaped; "" if none */
	bool deleted;
};

struct maps {
	struct mapping *items; /* by ascending address */
	size_t count;
	char *text; /* the paths point into it */
};

/* Reads the mappings of a process. 0 or -errno (-ENOENT, -ESRCH: the process is gone; -EACCES). Undone by maps_free()
 * after success. */
int maps_read(pid_t pid, struct maps *maps);
/* Reads the mappings from a text in the format of /proc/PID/maps, which is copied. 0 or -EINVAL. */
int maps_parse(const char *text, struct maps *maps);
void maps_free(struct maps *maps);
/* Marks the mappings that have tags (PROT_MTE), for which the kernel takes about as long as for pagemap. 0 or
 * -errno. */
int maps_read_tags(pid_t pid, struct maps *maps);
/* The same, from the text of smaps. */
void maps_mark_tags(const char *text, struct maps *maps);
/* Sets for each mapping whether userfaultfd(2) brings its missing pages: reading such a page waits until the process
 * that serves the mapping has brought it. 0 or -errno. */
int maps_read_waiters(pid_t pid, const struct maps *maps, bool *has_waiters);
/* The same, from the text of smaps. */
void maps_mark_waiters(const char *text, const struct maps *maps, bool *has_waiters);
/* Returns the mapping that contains an address, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);

#endif
