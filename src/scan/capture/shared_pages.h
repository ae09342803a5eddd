/* The pages of shared memory that hold something though the process's own page table does not have them.
 *
 * Another process, another mapping of the same memory, or write(2) has filled them, or the process itself has, and has
 * dropped them since (MADV_DONTNEED). /proc/PID/pagemap says nothing of such a page. The object that is mapped says
 * which of its pages hold data (SEEK_DATA); where it cannot be opened, all of them are taken, up to a limit, because a
 * page that holds nothing comes into being when it is read. */
#ifndef FT_SCAN_CAPTURE_SHARED_PAGES_H
#define FT_SCAN_CAPTURE_SHARED_PAGES_H

#include "scan/capture/pages.h"
#include "symbols/objects/maps.h"

/* In shared memory beyond so many bytes of one copy, by address, only the pages are taken that the page table has. */
#define SHARED_MAX (1ull << 30)
/* So it is beyond this where it is not known which pages hold data: those that hold none come into being. */
#define SHARED_UNKNOWN_MAX (64ull << 20)

/* One reading of a process's layout; shared_begin() makes it, shared_end() ends it. */
struct shared {
	pid_t tid;
	const struct maps *maps;
	struct page_runs *runs;
	uint64_t left, unknown_left; /* of the limits, in bytes */
	uint64_t queries_left;       /* of the kernel, for holes */
	uint64_t missed;             /* bytes of pages that may hold data and are not taken */
	bool *has_waiters;           /* of each mapping: reading a page may wait for the process; NULL unread */
	/* The mapping that is looked through. */
	const struct mapping *mapping;
	uint64_t bytes_before; /* of the runs */
	bool is_opened, is_empty, is_known, is_refused;
	int fd;                   /* of its object; -1 none */
	uint64_t hole, data, end; /* of addresses: no data from `hole` to `data`, data from there to `end` */
};

struct shared shared_begin(pid_t tid, const struct maps *maps, struct page_runs *runs);
void shared_end(struct shared *shared);
/* Adds to the runs the pages of a mapping, which is one of the maps and shared. fd: pages_open(). */
void shared_add(struct shared *shared, int fd, const struct mapping *mapping);

#endif
