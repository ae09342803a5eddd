#include "config.h"
#include "scan/capture/pages.h"
#include "scan/capture/copy_workers.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* Bits of the words in pagemap (Documentation/admin-guide/mm/pagemap.rst in the kernel's sources). */
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)
#define PAGE_OF_FILE (1ull << 61) /* the page belongs to a file or to shared memory */
#define PAGE_GUARD   (1ull << 58) /* reading the page raises SIGSEGV: MADV_GUARD_INSTALL */
#define PAGE_ALONE   (1ull << 56) /* no other process has mapped the page */
#define WORDS        8192         /* number of words that a thread reads at a time */
#define WORDS_MAX    (32 * WORDS) /* maximum number of words in memory at a time: those of a GiB with pages of 4 KiB */

#define PIECE      (4u << 20) /* bytes that a thread copies at a time; larger pieces are not faster */
#define PIECES_MAX 256
#define TOUCHED    (16u << 20) /* bytes whose pages a thread allocates at a time; a multiple of a huge page */

int pages_open(pid_t tid)
{
	return proc_open(tid, "pagemap", O_RDONLY);
}

static void add_run(struct page_runs *runs, uint64_t start, uint64_t end, bool is_lacking, bool is_write_only)
{
	struct page_run *last = runs->count ? &runs->items[runs->count - 1] : NULL;

	if (last && last->end == start && last->is_lacking == is_lacking && last->is_write_only == is_write_only) {
		last->end = end;
	} else {
		ARRAY_GROW(runs->items, runs->capacity, runs->count);
		runs->items[runs->count++] = (struct page_run){.start = start,
							       .end = end,
							       .at = runs->bytes,
							       .is_lacking = is_lacking,
							       .is_write_only = is_write_only};
	}
	runs->bytes += end - start;
}

/* The choice of pages to add. */
struct page_choice {
	const struct mapping *mapping;
	uint64_t unwanted; /* pages with one of these bits in pagemap are not added */
	/* returns true if the page at this address, which has no entry in pagemap, is added; NULL: none is added */
	bool (*wants_lacking)(void *context, uint64_t at);
	void *context;
};

static bool mapping_is_write_only(const struct mapping *mapping)
{
	return mapping->write && !mapping->read;
}

static void add_page(struct page_runs *runs, uint64_t at, uint64_t word, const struct page_choice *choice)
{
	const bool is_there = word & (PAGE_PRESENT | PAGE_SWAPPED);

	if (is_there ? !(word & choice->unwanted) : choice->wants_lacking && choice->wants_lacking(choice->context, at))
		add_run(runs, at, at + page_size(), !(word & PAGE_PRESENT), mapping_is_write_only(choice->mapping));
}

/* The words of pagemap for consecutive pages. */
struct pages_words {
	int fd;
	uint64_t first; /* number of the first page */
	uint64_t *items;
	atomic_uint_fast64_t known; /* number of words, from the first one on, that could be read */
};

static void read_words(void *context, uint64_t from, uint64_t to)
{
	struct pages_words *const words = context;
	const size_t size = sizeof(*words->items);
	const ssize_t got =
		pread(words->fd, words->items + from, (to - from) * size, (off_t)((words->first + from) * size));
	const uint64_t end = from + (got < 0 ? 0 : (uint64_t)got / size);
	uint64_t known = atomic_load(&words->known);

	while (end < to && end < known && !atomic_compare_exchange_weak(&words->known, &known, end))
		;
}

/* ---- The page of zeros ---- */

/* Memory that was read but never written consists of a shared page of zeros, the small or the huge one, which is marked
 * as present. A table made by calloc() may contain gigabytes of such memory. From Linux 6.7 on the kernel shows where
 * these pages are (Documentation/admin-guide/mm/pagemap.rst, PAGEMAP_SCAN). On older kernels these pages are copied. */

struct pagemap_region {
	uint64_t start, end, categories;
};

struct pagemap_scan {
	uint64_t size, flags, start, end, walk_end, regions, region_count, pages_max;
	uint64_t inverted, all_of, any_of, returned;
};

#define PAGEMAP_SCAN_CALL _IOWR('f', 16, struct pagemap_scan)
#define SCAN_ZEROS        (1u << 5)
#define REGIONS           512

static bool may_have_zeros(const struct pages_words *words)
{
	for (uint64_t i = 0; i < words->known; i++)
		if ((words->items[i] & (PAGE_PRESENT | PAGE_ALONE)) == PAGE_PRESENT)
			return true;
	return false;
}

static void forget_pages(struct pages_words *words, const struct pagemap_region *region)
{
	const uint64_t page = page_size(), from = region->start / page, to = region->end / page;

	for (uint64_t at = from; at < to; at++)
		if (at >= words->first && at - words->first < words->known)
			words->items[at - words->first] &= ~PAGE_PRESENT;
}

/* Clears PAGE_PRESENT in the words of pages of zeros, so that these pages are not copied. */
static void forget_zeros(struct pages_words *words)
{
	struct pagemap_region regions[REGIONS];
	struct pagemap_scan scan = {.size = sizeof(scan),
				    .start = words->first * page_size(),
				    .end = (words->first + words->known) * page_size(),
				    .regions = (uintptr_t)regions,
				    .region_count = REGIONS,
				    .all_of = SCAN_ZEROS,
				    .returned = SCAN_ZEROS};

	if (!may_have_zeros(words))
		return;
	while (scan.start < scan.end) {
		const int count = ioctl(words->fd, PAGEMAP_SCAN_CALL, &scan);

		if (count < 0)
			return;
		for (int i = 0; i < count; i++)
			forget_pages(words, &regions[i]);
		if (scan.walk_end <= scan.start)
			return;
		scan.start = scan.walk_end;
	}
}

/* Adds pages of the mapping. Returns the address from which on pagemap could not be read, or the mapping's end. */
static uint64_t add_pages(struct page_runs *runs, int fd, const struct page_choice *choice)
{
	const uint64_t page = page_size(), end = choice->mapping->end, pages = (end - choice->mapping->start) / page;
	const uint64_t most = pages < WORDS_MAX ? pages : WORDS_MAX;
	struct pages_words words = {.fd = fd, .items = xreallocarray(NULL, (size_t)most + 1, sizeof(*words.items))};
	uint64_t at = choice->mapping->start;
	bool is_known = true;

	while (at < end && is_known) {
		const uint64_t left = (end - at) / page, wanted = left < most ? left : most;

		words.first = at / page;
		words.known = wanted;
		workers_share(wanted, WORDS, read_words, &words);
		forget_zeros(&words);
		for (uint64_t i = 0; i < words.known; i++, at += page)
			add_page(runs, at, words.items[i], choice);
		is_known = words.known == wanted;
	}
	free(words.items);
	return at;
}

/* Adds pages of the mapping. If pagemap cannot be read from some address on, adds all pages from there on. */
static void add_pages_or_all(struct page_runs *runs, int fd, const struct page_choice *choice)
{
	const struct mapping *const mapping = choice->mapping;
	const uint64_t at = add_pages(runs, fd, choice);

	if (at < mapping->end)
		add_run(runs, at, mapping->end, false, mapping_is_write_only(mapping));
}

void pages_add(struct page_runs *runs, int fd, const struct mapping *mapping)
{
	add_pages_or_all(runs, fd, &(struct page_choice){.mapping = mapping, .unwanted = PAGE_GUARD});
}

void pages_add_lacking(struct page_runs *runs, int fd, const struct mapping *mapping,
		       bool (*is_wanted)(void *context, uint64_t address), void *context)
{
	add_pages_or_all(
		runs, fd,
		&(struct page_choice){
			.mapping = mapping, .unwanted = PAGE_GUARD, .wants_lacking = is_wanted, .context = context});
}

void pages_add_changed(struct page_runs *runs, int fd, const struct mapping *mapping)
{
	add_pages(runs, fd, &(struct page_choice){.mapping = mapping, .unwanted = PAGE_OF_FILE | PAGE_GUARD});
}

const struct page_run *pages_find(const struct page_runs *runs, uint64_t address)
{
	const size_t count = COUNT_UP_TO(runs->items, runs->count, .start, address);

	return count && address < runs->items[count - 1].end ? &runs->items[count - 1] : NULL;
}

uint64_t pages_next(const struct page_runs *runs, uint64_t address)
{
	const size_t count = COUNT_UP_TO(runs->items, runs->count, .start, address);

	return count < runs->count ? runs->items[count].start : UINT64_MAX;
}

/* ---- The copy ---- */

/* The progress of the copy: `at` bytes of run `index` have been copied. */
struct position {
	size_t index;
	uint64_t at;
};

struct copy {
	const struct page_runs *runs;
	pid_t tid;
	unsigned char *to;
	bool is_of_lacking; /* true if only runs with is_lacking are copied */
	int memory;         /* /proc/TID/mem, for the runs with is_write_only; else -1 */
	atomic_int error;   /* 0 or -errno */
	atomic_uint_fast64_t unreadable;
};

static struct position position_of(const struct page_runs *runs, uint64_t at)
{
	const size_t index = COUNT_UP_TO(runs->items, runs->count, .at, at) - 1;

	return (struct position){.index = index, .at = at - runs->items[index].at};
}

static void pages_go_on(const struct page_runs *runs, struct position *position, uint64_t bytes)
{
	while (bytes) {
		const struct page_run *run = &runs->items[position->index];
		const uint64_t left = run->end - run->start - position->at;

		if (bytes < left) {
			position->at += bytes;
			return;
		}
		bytes -= left;
		position->index++;
		position->at = 0;
	}
}

/* Makes a list of the pieces of memory from a position on, with at most `most` bytes in all. Returns the number of
 * pieces; *bytes: their sum in bytes. */
static size_t next_pieces(const struct page_runs *runs, struct position from, uint64_t most, struct iovec *pieces,
			  uint64_t *bytes)
{
	size_t count = 0;

	for (*bytes = 0; count < PIECES_MAX && *bytes < most; count++) {
		const struct page_run *run = &runs->items[from.index];
		const uint64_t left = run->end - run->start - from.at;
		const size_t size = (size_t)(left < most - *bytes ? left : most - *bytes);

		pieces[count] = (struct iovec){(void *)(uintptr_t)(run->start + from.at), size};
		*bytes += size;
		pages_go_on(runs, &from, size);
	}
	return count;
}

static ssize_t pages_read_pieces(pid_t tid, unsigned char *to, uint64_t bytes, const struct iovec *pieces, size_t count)
{
	struct iovec local = {to, bytes};
	const ssize_t got = process_vm_readv(tid, &local, 1, pieces, count, 0);

	return got < 0 ? -errno : got;
}

/* Makes a page of the copy zero because it cannot be read. Returns its size. */
static ssize_t pass_over(struct copy *copy, const struct page_run *run, unsigned char *to)
{
	memset(to, 0, page_size());
	atomic_fetch_add(&copy->unreadable, run->is_lacking ? 0 : page_size());
	return (ssize_t)page_size();
}

/* Copies pages that the process has mapped only for writing. process_vm_readv() cannot read them, but /proc/TID/mem
 * can. Returns what copy_pieces() does. */
static ssize_t copy_write_only(struct copy *copy, const struct page_run *run, unsigned char *to,
			       const struct iovec *piece)
{
	const ssize_t got = pread(copy->memory, to, piece->iov_len, (off_t)(uintptr_t)piece->iov_base);

	return got < (ssize_t)page_size() ? pass_over(copy, run, to) : (ssize_t)align_down((uint64_t)got, page_size());
}

/* Copies all or some of the bytes of the pieces. Returns their number, a multiple of the page size, or -errno. */
static ssize_t copy_pieces(struct copy *copy, struct position position, struct iovec *pieces, size_t count,
			   uint64_t bytes)
{
	const uint64_t page = page_size();
	const struct page_run *const run = &copy->runs->items[position.index];
	unsigned char *const to = copy->to + run->at + position.at;

	if (run->is_write_only)
		return copy_write_only(copy, run, to, &pieces[0]);
	ssize_t got = pages_read_pieces(copy->tid, to, bytes, pieces, count);

	if (got == -EFAULT || (got >= 0 && got < (ssize_t)page)) {
		/* A page of the first piece cannot be read. Tries this piece's first page alone; if that fails, the
		 * page is zero in the copy. */
		pieces[0].iov_len = page;
		got = pages_read_pieces(copy->tid, to, page, pieces, 1);
		if (got != (ssize_t)page && got != -ESRCH && got != -EPERM)
			got = pass_over(copy, run, to);
	}
	return got < 0 ? got : (ssize_t)align_down((uint64_t)got, page);
}

static void copy_range(void *context, uint64_t from, uint64_t to)
{
	struct copy *const copy = context;
	struct position position = position_of(copy->runs, from);
	struct iovec pieces[PIECES_MAX];
	uint64_t bytes;

	while (from < to && !atomic_load(&copy->error)) {
		const struct page_run *const run = &copy->runs->items[position.index];
		const uint64_t left = run->end - run->start - position.at;
		ssize_t got;

		if (copy->is_of_lacking) {
			bytes = left < to - from ? left : to - from;
			pieces[0] = (struct iovec){(void *)(uintptr_t)(run->start + position.at), bytes};
			got = run->is_lacking ? copy_pieces(copy, position, pieces, 1, bytes) : (ssize_t)bytes;
		} else {
			const size_t count = next_pieces(copy->runs, position, to - from, pieces, &bytes);

			got = copy_pieces(copy, position, pieces, count, bytes);
		}
		if (got < 0) {
			atomic_store(&copy->error, (int)got);
			return;
		}
		from += (uint64_t)got;
		pages_go_on(copy->runs, &position, (uint64_t)got);
	}
}

static bool has_write_only(const struct page_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].is_write_only)
			return true;
	return false;
}

static int64_t copy_all(struct copy *copy)
{
	copy->memory = has_write_only(copy->runs) ? proc_open(copy->tid, "mem", O_RDONLY) : -1;
	workers_share(copy->runs->bytes, PIECE, copy_range, copy);
	if (copy->memory >= 0)
		close(copy->memory);
	return copy->error ? copy->error : (int64_t)copy->unreadable;
}

int64_t pages_copy(const struct page_runs *runs, pid_t tid, unsigned char *to)
{
	return copy_all(&(struct copy){.runs = runs, .tid = tid, .to = to});
}

int pages_bring(const struct page_runs *runs, pid_t tid, unsigned char *to)
{
	const int64_t unreadable = copy_all(&(struct copy){.runs = runs, .tid = tid, .to = to, .is_of_lacking = true});

	return unreadable < 0 ? (int)unreadable : 0;
}

/* ---- The memory for the copy ---- */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* from Linux 5.14 on */
#endif

struct touch {
	unsigned char *memory;
	atomic_int error;
};

static void touch_range(void *context, uint64_t from, uint64_t to)
{
	struct touch *const touch = context;

	if (!madvise(touch->memory + from, to - from, MADV_POPULATE_WRITE))
		return;
	if (errno == ENOMEM)
		atomic_store(&touch->error, -ENOMEM);
	else
		for (; from < to; from += page_size())
			((volatile unsigned char *)touch->memory)[from] = 0;
}

int pages_touch(unsigned char *memory, uint64_t bytes)
{
	struct touch touch = {.memory = memory};

	workers_share(bytes, TOUCHED, touch_range, &touch);
	return touch.error;
}
