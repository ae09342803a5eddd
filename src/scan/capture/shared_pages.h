/* Finds the pages of shared memory that have contents although the process's own page table does not have them.
 *
 * Another process, another mapping of the same memory, or write(2) has filled them, or the process itself, which has
 * dropped them since (MADV_DONTNEED). /proc/PID/pagemap says nothing about such a page. The mapped object says which
 * of its pages have data (SEEK_DATA). If it cannot be opened, all of them are taken, up to a limit, because the
 * kernel allocates an empty page when it is read. */
#ifndef FT_SCAN_CAPTURE_SHARED_PAGES_H
#define FT_SCAN_CAPTURE_SHARED_PAGES_H

#include "scan/capture/pages.h"
#include "symbols/objects/maps.h"

/* The limit for one copy, in bytes of shared memory. Beyond it, by address, only pages in the page table are taken. */
#define SHARED_MAX (1ull << 30)
/* The limit where it is unknown which pages have data, because reading allocates the empty ones. */
#define SHARED_UNKNOWN_MAX (64ull << 20)

/* The state of one reading of a process's mappings, from shared_begin() to shared_end(). */
struct shared {
	pid_t tid;
	const struct maps *maps;
	struct page_runs *runs;
	uint64_t left, unknown_left; /* what is left of the limits, in bytes */
	uint64_t queries_left;       /* how often the kernel may still be asked for holes */
	uint64_t missed;             /* bytes of pages that may have data and are not taken */
	bool *has_waiters;           /* for each mapping: reading may wait for the process; NULL: not known yet */
	/* The mapping that is looked at. */
	const struct mapping *mapping;
	uint64_t bytes_before; /* in `runs` */
	bool is_opened, is_empty, is_known, is_refused;
	int fd;                   /* of its object; -1: not open */
	uint64_t hole, data, end; /* addresses: no data from `hole` to `data`, data from there to `end` */
};

struct shared shared_begin(pid_t tid, const struct maps *maps, struct page_runs *runs);
void shared_end(struct shared *shared);
/* Adds the pages of a mapping, which is one of `maps` and shared, to the runs. fd: from pages_open(). */
void shared_add(struct shared *shared, int fd, const struct mapping *mapping);

#endif
