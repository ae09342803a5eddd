/* /proc/PID/maps as an array. */
#ifndef FT_SYMBOLS_OBJECTS_MAPS_H
#define FT_SYMBOLS_OBJECTS_MAPS_H

#include "base/util.h"
#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset;
	bool read, write, exec, shared;
	bool has_tags; /* the processor keeps tags of its memory, maps_mark_tags() */
	unsigned dev_major, dev_minor;
	uint64_t inode;   /* 0: no file */
	const char *path; /* "" if none; " (deleted)" taken off and `deleted` set; newlines unescaped */
	bool deleted;
};

struct maps {
	struct mapping *items; /* by ascending address */
	size_t count;
	char *text; /* what the paths point into */
};

/* 0 or -errno (-ENOENT, -ESRCH: the process has gone; -EACCES). maps_free after success. */
int maps_read(pid_t pid, struct maps *maps);
/* Reads the mappings from a text in that format, which is copied. */
int maps_parse(const char *text, struct maps *maps);
void maps_free(struct maps *maps);
/* Enters which of the mappings have tags (PROT_MTE), which takes the kernel about as long as pagemap. 0 or -errno. */
int maps_read_tags(pid_t pid, struct maps *maps);
/* The same from the text of smaps. */
void maps_mark_tags(const char *text, struct maps *maps);
/* Of each mapping whether a page of it that is missing is brought by userfaultfd(2): reading it waits until the process
 * that serves it has brought the page. As maps_read_tags(). */
int maps_read_waiters(pid_t pid, const struct maps *maps, bool *has_waiters);
/* The same from the text of smaps. */
void maps_mark_waiters(const char *text, const struct maps *maps, bool *has_waiters);
/* The mapping that holds an address, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);

#endif
