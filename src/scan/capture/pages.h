/* The pages of a process that have something in them. */
#ifndef FT_SCAN_CAPTURE_PAGES_H
#define FT_SCAN_CAPTURE_PAGES_H

#include "base/util.h"

#include <sys/types.h>

struct page_run {
	uint64_t start, end;
	uint64_t at;     /* where its bytes are among those of all runs */
	bool is_lacking; /* these pages are not in memory, as far as the process's page table says */
};

/* By address; behind each other in `at`. */
struct page_runs {
	struct page_run *items;
	size_t count, capacity;
	uint64_t bytes;
};

/* A descriptor for pages_add(), or -errno. */
int pages_open(pid_t tid);
/* Adds the pages from start to end that are in memory or swapped out, by /proc/TID/pagemap. Where that says nothing,
 * all of them. */
void pages_add(struct page_runs *runs, int fd, uint64_t start, uint64_t end);
/* The same, and those pages that the page table does not have and the callback wants, which is asked by ascending
 * address. */
void pages_add_lacking(struct page_runs *runs, int fd, uint64_t start, uint64_t end,
		       bool (*is_wanted)(void *context, uint64_t address), void *context);
/* Of a private mapping of a file only those that are no longer the file's. Where pagemap says nothing, none. */
void pages_add_changed(struct page_runs *runs, int fd, uint64_t start, uint64_t end);
/* The run that holds an address, or NULL. */
const struct page_run *pages_find(const struct page_runs *runs, uint64_t address);
/* Where the first run begins behind an address; UINT64_MAX: none does. */
uint64_t pages_next(const struct page_runs *runs, uint64_t address);
/* Copies all runs of a process to `to`, in their order, by several threads (copy_workers.h). How many bytes could not
 * be read and are zero, without those that are lacking: they are behind the end of a file, or guards, and the process
 * cannot read them either. -errno: the process has gone, or may not be read. */
int64_t pages_copy(const struct page_runs *runs, pid_t tid, unsigned char *to);
/* The same of the runs that are lacking alone, which are in memory after it. 0 or -errno. */
int pages_bring(const struct page_runs *runs, pid_t tid, unsigned char *to);
/* Has the kernel give the pages of memory of this process, whose bytes may be lost by it. 0 or -ENOMEM. */
int pages_touch(unsigned char *memory, uint64_t bytes);

#endif
