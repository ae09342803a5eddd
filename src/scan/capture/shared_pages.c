#include "config.h"
#include "scan/capture/shared_pages.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define QUERIES_MAX (1u << 20)

struct shared shared_begin(pid_t tid, const struct maps *maps, struct page_runs *runs)
{
	return (struct shared){.tid = tid,
			       .maps = maps,
			       .runs = runs,
			       .left = SHARED_MAX,
			       .unknown_left = SHARED_UNKNOWN_MAX,
			       .queries_left = QUERIES_MAX,
			       .fd = -1};
}

static void close_object(struct shared *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void shared_end(struct shared *s)
{
	close_object(s);
	free(s->has_waiters);
	s->has_waiters = NULL;
}

/* ---- The object ---- */

/* Returns true if reading the file's pages needs only the kernel and a disk. Reading from other file systems (FUSE,
 * NFS) may wait for a server, which may be the stopped process. Huge pages (hugetlbfs) are taken from a pool, which may
 * then be empty when the process needs a page. */
static bool shared_pages_is_local(int fd)
{
	static const uint32_t magics[] = {
		0x01021994, /* tmpfs, memfd, System V's shared memory */
		0x858458f6, /* ramfs */
		0xef53,     /* ext2, ext3, ext4 */
		0x58465342, /* xfs */
		0x9123683e, /* btrfs */
		0xf2f52010, /* f2fs */
		0x2fc12fc1, /* zfs */
		0x794c7630, /* overlayfs */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if ((uint32_t)fs.f_type == magics[i])
			return true;
	return false;
}

/* Opens for reading a regular file that is open with O_PATH. This has no side effect. Returns a descriptor, or -1. */
static int reopen(int place)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The kind of object that the mapping shows, and whether it could be opened. */
enum shared_pages_object {
	OBJECT_UNKNOWN,
	OBJECT_OPEN,
	OBJECT_DEVICE, /* not a regular file; treated as if it had no data in pages that are not in the page table */
	OBJECT_OTHER,  /* a file on a file system whose pages are not read */
};

static enum shared_pages_object open_path(struct shared *s, const char *path, bool is_by_range)
{
	const struct mapping *const m = s->mapping;
	const int place = open(path, O_PATH | O_CLOEXEC);
	enum shared_pages_object object = OBJECT_UNKNOWN;
	struct stat st;

	if (place < 0)
		return OBJECT_UNKNOWN;
	/* The path may name another file now; /proc/PID/map_files cannot. */
	if (!fstat(place, &st) &&
	    (is_by_range || (st.st_dev == makedev(m->dev_major, m->dev_minor) && st.st_ino == m->inode))) {
		object = !S_ISREG(st.st_mode)           ? OBJECT_DEVICE
			 : shared_pages_is_local(place) ? OBJECT_OPEN
							: OBJECT_OTHER;
		s->fd = object == OBJECT_OPEN ? reopen(place) : -1;
		object = object == OBJECT_OPEN && s->fd < 0 ? OBJECT_UNKNOWN : object;
	}
	close(place);
	return object;
}

/* Opens the object by the mapping's range of addresses, for which CAP_CHECKPOINT_RESTORE is needed, or by its path. */
static enum shared_pages_object open_object(struct shared *s)
{
	const struct mapping *const m = s->mapping;
	char *path = xasprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, s->tid, m->start, m->end);
	enum shared_pages_object object = open_path(s, path, true);

	free(path);
	/* A path without a leading '/' is only a name, like "anon_inode:[perf_event]" or "socket:[1]". */
	if (m->path[0] != '/')
		return object == OBJECT_UNKNOWN ? OBJECT_DEVICE : object;
	if (object != OBJECT_UNKNOWN || m->deleted)
		return object;
	path = xasprintf("/proc/%d/root%s", s->tid, m->path);
	object = open_path(s, path, false);
	free(path);
	return object;
}

/* Returns true if the mapping is the kernel's own memory, which has no path: anonymous, System V's, a memfd's. All such
 * memory has the device number of an anonymous mapping, so the function makes an anonymous mapping for comparison. */
static bool is_kernel_memory(const struct mapping *m)
{
	const size_t size = page_size();
	void *const own = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct maps maps;
	bool is_same = false;

	if (own == MAP_FAILED)
		return false;
	if (!maps_read(getpid(), &maps)) {
		const struct mapping *const one = maps_find(&maps, (uintptr_t)own);

		is_same = one && one->dev_major == m->dev_major && one->dev_minor == m->dev_minor;
		maps_free(&maps);
	}
	munmap(own, size);
	return is_same;
}

/* ---- The pages of an object ---- */

/* Returns true if reading a page may wait for a thread that provides the page (userfaultfd). That thread is probably
 * stopped, so the read might not end. This is checked only for mappings that are read, because the kernel takes long to
 * make smaps. */
static bool has_waiters(struct shared *s)
{
	if (!s->has_waiters) {
		s->has_waiters = xcalloc(s->maps->count + 1, sizeof(*s->has_waiters));
		if (maps_read_waiters(s->tid, s->maps, s->has_waiters))
			memset(s->has_waiters, true, s->maps->count);
	}
	return s->has_waiters[s->mapping - s->maps->items];
}

static void open_mapping(struct shared *s)
{
	const enum shared_pages_object object = open_object(s);

	s->is_opened = true;
	s->is_empty = object == OBJECT_DEVICE;
	s->is_known = object == OBJECT_OPEN;
	s->is_refused = object == OBJECT_OTHER || (object == OBJECT_UNKNOWN && !is_kernel_memory(s->mapping));
}

/* Returns the address, from `address` on, at which lseek(2) finds data or a hole (`whence`) in the mapping; `none` if
 * it finds nothing there. Returns `address` if lseek(2) fails. */
static uint64_t seek_in_mapping(struct shared *s, uint64_t address, int whence, uint64_t none)
{
	const struct mapping *const m = s->mapping;
	const off_t at = lseek(s->fd, (off_t)(address - m->start + m->offset), whence);

	s->queries_left--;
	if (at < 0)
		return errno == ENXIO ? none : address;
	const uint64_t from = (uint64_t)at > m->offset ? (uint64_t)at - m->offset : 0;

	return from < m->end - m->start ? m->start + from : none;
}

static bool is_data(struct shared *s, uint64_t address)
{
	if (address < s->hole || address >= s->end) {
		s->hole = address;
		s->data = align_down(seek_in_mapping(s, address, SEEK_DATA, s->mapping->end), page_size());
		s->end = s->data < s->mapping->end
				 ? align_up(seek_in_mapping(s, s->data, SEEK_HOLE, s->mapping->end), page_size())
				 : s->mapping->end;
		if (s->end <= s->data)
			s->end = s->data + page_size();
	}
	return address >= s->data;
}

static uint64_t subtract_to_zero(uint64_t left, uint64_t used)
{
	return left > used ? left - used : 0;
}

/* Returns true if a page that is not in the page table is to be copied. */
static bool shared_pages_is_wanted(void *shared, uint64_t address)
{
	struct shared *const s = shared;

	if (!s->is_opened)
		open_mapping(s);
	const bool is_asked = s->is_known && s->queries_left > 1;

	if (s->is_empty || (is_asked && !is_data(s, address)))
		return false;
	const bool is_within = s->is_known ? is_asked : s->unknown_left > 0;

	if (!s->is_refused && is_within && subtract_to_zero(s->left, s->runs->bytes - s->bytes_before) &&
	    !has_waiters(s))
		return true;
	s->missed += page_size();
	return false;
}

/* Adds the pages of a mapping to the runs. Reduces unknown_left by the mapping's size, not by the number of bytes read,
 * so that the choice of pages does not depend on earlier scans. Otherwise each scan of a process would make the kernel
 * allocate more pages. */
void shared_add(struct shared *s, int fd, const struct mapping *m)
{
	s->mapping = m;
	s->bytes_before = s->runs->bytes;
	s->is_opened = s->is_known = s->is_empty = s->is_refused = false;
	s->hole = s->data = s->end = 0;
	s->unknown_left = subtract_to_zero(s->unknown_left, m->end - m->start);
	pages_add_lacking(s->runs, fd, m, shared_pages_is_wanted, s);
	s->left = subtract_to_zero(s->left, s->runs->bytes - s->bytes_before);
	close_object(s);
}
