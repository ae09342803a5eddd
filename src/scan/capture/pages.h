/* Finds and copies the pages of a process that have contents. */
#ifndef FT_SCAN_CAPTURE_PAGES_H
#define FT_SCAN_CAPTURE_PAGES_H

#include "symbols/objects/maps.h"

#include <sys/types.h>

struct page_run {
	uint64_t start, end;
	uint64_t at;        /* offset of the run's bytes in the copy of all runs */
	bool is_lacking;    /* true if the pages are not in memory: swapped out, or without a page table entry */
	bool is_write_only; /* true if the process has mapped the pages with PROT_WRITE only */
};

/* Runs of pages, sorted by address. The bytes of all runs follow each other in the copy without gaps. */
struct page_runs {
	struct page_run *items;
	size_t count, capacity;
	uint64_t bytes;
};

/* Opens /proc/TID/pagemap. Returns a descriptor for pages_add(), or -errno. */
int pages_open(pid_t tid);
/* Adds the pages of a mapping that are in memory or swapped out, according to /proc/TID/pagemap, except guard pages and
 * (from Linux 6.7 on) pages of zeros. If pagemap cannot be read, adds all pages. */
void pages_add(struct page_runs *runs, int fd, const struct mapping *mapping);
/* Adds the same pages as pages_add(). Also calls is_wanted() for each page that has no entry in the page table, by
 * ascending address, and adds the pages for which it returns true. */
void pages_add_lacking(struct page_runs *runs, int fd, const struct mapping *mapping,
		       bool (*is_wanted)(void *context, uint64_t address), void *context);
/* Adds the pages of a private mapping of a file that no longer have the file's contents. If pagemap cannot be read,
 * adds none. */
void pages_add_changed(struct page_runs *runs, int fd, const struct mapping *mapping);
/* Returns the run that contains an address, or NULL. */
const struct page_run *pages_find(const struct page_runs *runs, uint64_t address);
/* Returns the start of the first run after an address; UINT64_MAX if there is none. */
uint64_t pages_next(const struct page_runs *runs, uint64_t address);
/* Copies all runs of a process to `to`, in their order, by several threads (copy_workers.h). Returns the number of
 * bytes that could not be read; these are zero in the copy. Unreadable pages of runs with is_lacking are not counted,
 * because the process usually cannot read them either: they are after the end of a file, or are guard pages. Returns
 * -errno if the process has ended, or may not be read. */
int64_t pages_copy(const struct page_runs *runs, pid_t tid, unsigned char *to);
/* Copies only the runs with is_lacking, so that their pages are in memory afterwards. Returns 0 or -errno. */
int pages_bring(const struct page_runs *runs, pid_t tid, unsigned char *to);
/* Makes the kernel allocate the pages of a range of functrace's own memory. The contents of the range may be lost.
 * Returns 0 or -ENOMEM. */
int pages_touch(unsigned char *memory, uint64_t bytes);

#endif
