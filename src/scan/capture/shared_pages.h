/* Finds the pages of shared memory that have contents although the process's own page table does not contain them.
 *
 * Such a page was written by another process, through another mapping of the same memory, or by write(2); or the
 * process itself has written it, and then dropped it (MADV_DONTNEED). /proc/PID/pagemap says nothing about such a page.
 * The mapped object (here: a file, or anonymous shared memory) says which of its pages have data (SEEK_DATA). If the
 * kernel's own memory (anonymous, System V's, a memfd's) cannot be opened, all of its pages are copied, but only up to
 * a limit, because reading an empty page makes the kernel allocate it. If another file cannot be opened, such pages are
 * not copied. */
#ifndef FT_SCAN_CAPTURE_SHARED_PAGES_H
#define FT_SCAN_CAPTURE_SHARED_PAGES_H

#include "scan/capture/pages.h"
#include "symbols/objects/maps.h"

/* The limit for one copy, in bytes of shared memory. After these bytes, in order of address, only pages in the page
 * table are copied. */
#define SHARED_MAX (1ull << 30)
/* The limit in bytes if it is unknown which pages have data. It is low because reading an empty page allocates it. */
#define SHARED_UNKNOWN_MAX (64ull << 20)

/* The state of one reading of a process's mappings, from shared_begin() to shared_end(). */
struct shared {
	pid_t tid;
	const struct maps *maps;
	struct page_runs *runs;
	uint64_t left, unknown_left; /* bytes left of SHARED_MAX and of SHARED_UNKNOWN_MAX */
	uint64_t queries_left;       /* number of further queries to the kernel for holes */
	uint64_t missed;             /* bytes of pages that may have data and are not copied */
	bool *has_waiters;           /* for each mapping, true if a read may wait for the process; NULL: not read yet */
	/* State of the current mapping. */
	const struct mapping *mapping;
	uint64_t bytes_before; /* bytes in `runs` before this mapping */
	bool is_opened, is_empty, is_known, is_refused;
	int fd;                   /* descriptor of the mapped object; -1 if not open */
	uint64_t hole, data, end; /* addresses: there is no data from `hole` to `data`, and data from there to `end` */
};

struct shared shared_begin(pid_t tid, const struct maps *maps, struct page_runs *runs);
void shared_end(struct shared *shared);
/* Adds the pages of a mapping to the runs. The mapping is an element of `maps`, and shared. fd: from pages_open(). */
void shared_add(struct shared *shared, int fd, const struct mapping *mapping);

#endif
