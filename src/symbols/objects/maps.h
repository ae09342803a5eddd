/* Reads /proc/PID/maps into an array. */
#ifndef FT_SYMBOLS_OBJECTS_MAPS_H
#define FT_SYMBOLS_OBJECTS_MAPS_H

#include "base/util.h"
#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset;
	bool read, write, exec, shared;
	bool has_tags; /* the memory has tags (PROT_MTE); set by maps_mark_tags() */
	unsigned dev_major, dev_minor;
	uint64_t inode; /* inode of the mapped file; 0: none */
	/* path of the file; "" if none. Newlines are unescaped; a final " (deleted)" is cut off, and `deleted` is
	 * set */
	const char *path;
	bool deleted;
};

struct maps {
	struct mapping *items; /* the mappings by ascending address */
	size_t count;
	char *text; /* the text that was read; the paths point into it */
};

/* Reads the mappings of a process; the caller frees them with maps_free() after success. Returns 0 or -errno (-ENOENT,
 * -ESRCH: the process is gone; -EACCES). */
int maps_read(pid_t pid, struct maps *maps);
/* Parses a text that has the format of /proc/PID/maps, and takes ownership of it, also on error. Returns 0 or
 * -EINVAL. */
int maps_parse(char *text, struct maps *maps);
void maps_free(struct maps *maps);
/* Sets has_tags of the mappings with tags (PROT_MTE). This takes about as long as reading the pagemap. Returns 0 or
 * -errno. */
int maps_read_tags(pid_t pid, struct maps *maps);
/* Sets has_tags from the text of /proc/PID/smaps. */
void maps_mark_tags(const char *text, struct maps *maps);
/* Sets has_waiters[i] for each mapping `i`: true if userfaultfd(2) handles its missing pages, so that a read of such a
 * page blocks until the process that serves the userfaultfd has provided the page. Elements of mappings that no longer
 * exist are not set. Returns 0 or -errno. */
int maps_read_waiters(pid_t pid, const struct maps *maps, bool *has_waiters);
/* Sets has_waiters from the text of /proc/PID/smaps. */
void maps_mark_waiters(const char *text, const struct maps *maps, bool *has_waiters);
/* Returns true if both mappings are mappings of the same file. */
bool mapping_same_file(const struct mapping *a, const struct mapping *b);
/* Finds the ELF header of the file that is mapped by mapping `index`: returns the file's mapping with offset 0, which
 * is this mapping, or one of the 63 before it. Returns NULL if there is none. */
const struct mapping *maps_find_header(const struct maps *maps, size_t index);
/* Returns the mapping that contains an address, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);

#endif
