/* Mappings, and POSIX shared memory: each function in success and failure, and every way to unmap a part of a mapping.
 * At the end the trace's live mappings are compared with the kernel's list (resources.py). */
#include "kind.h"
#include <sys/mman.h>
#ifdef __GLIBC__
#include <linux/close_range.h>
#endif

/* The headers define which of the two names is called. */
#if defined(_FILE_OFFSET_BITS) && _FILE_OFFSET_BITS == 64
#define MMAP "mmap64|mmap"
#else
#define MMAP "mmap|mmap64"
#endif

#define PAGE ((size_t)4096)
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static char name[64], *free_place;

static unsigned long number(const void *p)
{
	return (unsigned long)p;
}

static char *map(size_t pages, int flags, int fd, const char *kind)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ, flags, fd, 0);

	CHECK(p != MAP_FAILED);
	recorded(MMAP "<%s>(%zu) = %#lx", kind, pages * PAGE, number(p));
	return p;
}

/* At exactly this address. */
static void put(char *at, size_t pages, int flags, int fd)
{
	CHECK(mmap(at, pages * PAGE, PROT_READ, flags | MAP_FIXED, fd, 0) == at);
}

static void unmap(char *p, size_t pages)
{
	CHECK(munmap(p, pages * PAGE) == 0);
}

static void gone(const char *function, const char *kind, const char *p)
{
	recorded("%s<%s>(%#lx)", function, kind, number(p));
}

static void made(const char *function, const char *kind, size_t pages, const char *p)
{
	recorded("%s<%s>(%zu) = %#lx", function, kind, pages * PAGE, number(p));
}

static int object(void)
{
	const int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);

	CHECK(fd >= 0 && ftruncate(fd, 20 * 4096) == 0);
	recorded("shm_open<pshmobj>(1) = #name");
	recorded("shm_open<pshmfd>(1) = %#x", (unsigned)fd);
	return fd;
}

static void failing(int fd)
{
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 800, 0) == MAP_FAILED && errno == EBADF);
	CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 7) == MAP_FAILED);
	CHECK(mmap((void *)8, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED);
	CHECK(munmap(free_place, 0) == -1 && munmap(free_place + 1, PAGE) == -1);
	CHECK(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
	CHECK(shm_open("/functrace-there-is-no-such-one", O_RDWR, 0) == -1);
	CHECK(shm_unlink("/functrace-there-is-no-such-one") == -1);
	CHECK(close(800) == -1);
	/* Nothing is mapped there: the call succeeds, but releases nothing. */
	unmap(free_place, 1);
}

/* Makes mappings of each kind, and unmaps them; most are unmapped as a whole. */
static void whole(int fd, int file)
{
	char *p = map(2, MAP_SHARED, fd, "pshmmap");

	unmap(p, 2);
	gone("munmap", "pshmmap", p);
	p = map(3, MAP_PRIVATE, file, "fshmmap");
	unmap(p, 3);
	gone("munmap", "fshmmap", p);
	p = map(4, MAP_PRIVATE | MAP_ANONYMOUS, -1, "shmmap");
	CHECK(munmap(p, 1) == 0); /* a page of it */
	gone("munmap", "shmmap", p);
	made("munmap", "shmmap", 3, p + PAGE);
	unmap(p, 4); /* from below it */
	gone("munmap", "shmmap", p + PAGE);
	p = mmap(NULL, 100, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	recorded(MMAP "<pshmmap>(100) = %#lx", number(p));
	CHECK(munmap(p, 200) == 0);
	gone("munmap", "pshmmap", p);
}

/* Unmaps the middle of a mapping, then the lower and the upper end of the upper rest, then the remaining parts. */
static void in_parts(int fd)
{
	char *const p = map(10, MAP_SHARED, fd, "pshmmap");

	unmap(p + 3 * PAGE, 2);
	gone("munmap", "pshmmap", p);
	made("munmap", "pshmmap", 3, p);
	made("munmap", "pshmmap", 5, p + 5 * PAGE);
	unmap(p + 5 * PAGE, 1);
	gone("munmap", "pshmmap", p + 5 * PAGE);
	made("munmap", "pshmmap", 4, p + 6 * PAGE);
	unmap(p + 9 * PAGE, 1);
	gone("munmap", "pshmmap", p + 6 * PAGE);
	made("munmap", "pshmmap", 3, p + 6 * PAGE);
	unmap(p, 10);
	gone("munmap", "pshmmap", p);
	gone("munmap", "pshmmap", p + 6 * PAGE);
}

/* Makes adjacent mappings of each kind; then one call unmaps parts of all. The call's records are in the order of the
 * kinds. */
static void of_all_kinds(int fd, int file)
{
	char *const p = free_place;

	put(p, 2, MAP_SHARED, fd);
	made(MMAP, "pshmmap", 2, p);
	put(p + 2 * PAGE, 2, MAP_PRIVATE, file);
	made(MMAP, "fshmmap", 2, p + 2 * PAGE);
	put(p + 4 * PAGE, 2, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	made(MMAP, "shmmap", 2, p + 4 * PAGE);
	unmap(p + PAGE, 4);
	gone("munmap", "pshmmap", p);
	made("munmap", "pshmmap", 1, p);
	gone("munmap", "fshmmap", p + 2 * PAGE);
	gone("munmap", "shmmap", p + 4 * PAGE);
	made("munmap", "shmmap", 1, p + 5 * PAGE);
	/* A mapping that replaces the two remaining parts and fills the gap between them. */
	put(p, 6, MAP_PRIVATE, file);
	gone(MMAP, "pshmmap", p);
	gone(MMAP, "shmmap", p + 5 * PAGE);
	made(MMAP, "fshmmap", 6, p);
	/* A mapping in the middle of that one. */
	put(p + 2 * PAGE, 1, MAP_SHARED, fd);
	gone(MMAP, "fshmmap", p);
	made(MMAP, "fshmmap", 2, p);
	made(MMAP, "fshmmap", 3, p + 3 * PAGE);
	made(MMAP, "pshmmap", 1, p + 2 * PAGE);
	unmap(p, 6);
	gone("munmap", "pshmmap", p + 2 * PAGE);
	gone("munmap", "fshmmap", p);
	gone("munmap", "fshmmap", p + 3 * PAGE);
}

static void moved(int fd)
{
	char *p = map(4, MAP_SHARED, fd, "pshmmap"), *q;

	q = mremap(p, 4 * PAGE, 2 * PAGE, 0); /* shrinks */
	CHECK(q == p);
	gone("mremap", "pshmmap", p);
	made("mremap", "pshmmap", 2, p);
	q = mremap(p, 2 * PAGE, 8 * PAGE, MREMAP_MAYMOVE); /* grows, here or elsewhere */
	CHECK(q != MAP_FAILED);
	gone("mremap", "pshmmap", p);
	made("mremap", "pshmmap", 8, q);
	p = mremap(q, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, free_place);
	CHECK(p == free_place);
	gone("mremap", "pshmmap", q);
	made("mremap", "pshmmap", 8, p);
	/* Moves a part of the mapping to a place where another mapping is. */
	put(p + 10 * PAGE, 2, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	made(MMAP, "shmmap", 2, p + 10 * PAGE);
	q = mremap(p + 2 * PAGE, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + 9 * PAGE);
	CHECK(q == p + 9 * PAGE);
	gone("mremap", "pshmmap", p);
	made("mremap", "pshmmap", 2, p);
	made("mremap", "pshmmap", 3, p + 5 * PAGE);
	gone("mremap", "shmmap", p + 10 * PAGE);
	made("mremap", "pshmmap", 3, q);
	char *const more = mremap(p, 0, PAGE, MREMAP_MAYMOVE); /* another mapping of the same memory */

	CHECK(more != MAP_FAILED && more != p);
	made("mremap", "pshmmap", 1, more);
	unmap(more, 1);
	gone("munmap", "pshmmap", more);
	CHECK(mremap(p, PAGE, PAGE, MREMAP_FIXED, p) == MAP_FAILED);
	CHECK(mremap(p, 0, PAGE, 0) == MAP_FAILED);
	unmap(p, 20);
	gone("munmap", "pshmmap", p);
	gone("munmap", "pshmmap", p + 5 * PAGE);
	gone("munmap", "pshmmap", q);
}

/* Moves the pages of a mapping by MREMAP_DONTUNMAP, which leaves the old place mapped. */
static void old_place_stays_mapped(void)
{
	char *const p = map(4, MAP_PRIVATE | MAP_ANONYMOUS, -1, "shmmap");
	char *q = mremap(p, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | 4 /* MREMAP_DONTUNMAP */, NULL);

	CHECK(q != p);
	if (q != MAP_FAILED) { /* since Linux 5.7 */
		made("mremap", "shmmap", 4, q);
		unmap(q, 4);
		gone("munmap", "shmmap", q);
	}
	/* The same, to a place inside another mapping. */
	put(free_place, 6, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	made(MMAP, "shmmap", 6, free_place);
	q = mremap(p, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED | 4, free_place + PAGE);
	if (q != MAP_FAILED) {
		gone("mremap", "shmmap", free_place);
		made("mremap", "shmmap", 1, free_place);
		made("mremap", "shmmap", 1, free_place + 5 * PAGE);
		made("mremap", "shmmap", 4, q);
	}
	CHECK(mremap(p, 4 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | 4, NULL) == MAP_FAILED);
	unmap(free_place, 6);
	gone("munmap", "shmmap", free_place);
	if (q != MAP_FAILED) {
		gone("munmap", "shmmap", q);
		gone("munmap", "shmmap", free_place + 5 * PAGE);
	}
	unmap(p, 4);
	gone("munmap", "shmmap", p);
}

static void descriptors(int fd)
{
	const int again = shm_open(name, O_RDWR | O_CREAT, 0600);

	CHECK(again >= 0);
	recorded("shm_open<pshmfd>(1) = %#x", (unsigned)again);
	CHECK(close(again) == 0);
	recorded("close<pshmfd>(%#x)", (unsigned)again);
	/* Without its slash the name is that of the same object. */
	const int third = shm_open(name + 1, O_RDONLY | O_CREAT, 0);

	CHECK(third >= 0);
	recorded("shm_open<pshmfd>(1) = %#x", (unsigned)third);
	CHECK(dup2(third, third) == third && dup2(800, third) == -1 && dup2(STDIN_FILENO, third) == third);
	recorded("dup2<pshmfd>(%#x)", (unsigned)third);
	CHECK(close(third) == 0);
#ifdef CLOSE_RANGE_CLOEXEC /* since glibc 2.34 */
	const int fourth = shm_open(name, O_RDONLY, 0), last = shm_open(name, O_RDONLY, 0);

	CHECK(fourth >= 0 && last > fourth);
	recorded("shm_open<pshmfd>(1) = %#x", (unsigned)fourth);
	recorded("shm_open<pshmfd>(1) = %#x", (unsigned)last);
	CHECK(close_range((unsigned)fourth, (unsigned)last, CLOSE_RANGE_CLOEXEC) == 0);
	CHECK(close_range((unsigned)last, (unsigned)fourth, 0) == -1);
	/* A descriptor of the gate may be between them. */
	CHECK(close_range((unsigned)fourth, last == fourth + 1 ? (unsigned)last : (unsigned)fourth, 0) == 0);
	CHECK(last == fourth + 1 || close_range((unsigned)last, (unsigned)last, 0) == 0);
	recorded("close_range<pshmfd>(%#x)", (unsigned)fourth);
	recorded("close_range<pshmfd>(%#x)", (unsigned)last);
#endif
	CHECK(shm_unlink(name) == 0);
	recorded("shm_unlink<pshmobj>(#name)");
	CHECK(close(fd) == 0);
	recorded("close<pshmfd>(%#x)", (unsigned)fd);
}

/* Prints the kernel's list of mappings. */
static void list_mappings(void)
{
	static char text[1 << 16];
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t got;

	CHECK(fd >= 0);
	while ((got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	syscall(SYS_close, fd);
	text[size] = '\0';
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		recorded("maps %s", line);
	}
}

static void left_over(int file)
{
	const int line = __LINE__ + 1;
	const int fd = shm_open(name, O_RDWR | O_CREAT, 0600);

	CHECK(fd >= 0 && ftruncate(fd, 20 * 4096) == 0);
	recorded("shm_open<pshmobj>(1) = #name");
	recorded("shm_open<pshmfd>(1) = %#x", (unsigned)fd);
	left("pshmobj", 1, 1, line);
	left("pshmfd", 1, 1, line);
	map(5, MAP_SHARED, fd, "pshmmap");
	char *const p = map(6, MAP_PRIVATE, file, "fshmmap");

	left("pshmmap", 1, 5 * PAGE, 0);
	const int split = __LINE__ + 1;
	CHECK(munmap(p + 2 * PAGE, PAGE) == 0);
	gone("munmap", "fshmmap", p);
	made("munmap", "fshmmap", 2, p);
	made("munmap", "fshmmap", 3, p + 3 * PAGE);
	left("fshmmap", 2, 5 * PAGE, split);
	map(7, MAP_PRIVATE | MAP_ANONYMOUS, -1, "shmmap");
	left("shmmap", 1, 7 * PAGE, 0);
	list_mappings();
	/* Removed by an untraced call, so that no object stays in the system. */
	char path[128];

	snprintf(path, sizeof(path), "/dev/shm%s", name);
	CHECK(unlink(path) == 0);
}

int main(void)
{
	const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	CHECK(file >= 0);
	snprintf(name, sizeof(name), "/functrace-kind-%d", (int)getpid());
	gate();
	free_place = map(40, MAP_PRIVATE | MAP_ANONYMOUS, -1, "shmmap");
	unmap(free_place, 40);
	gone("munmap", "shmmap", free_place);
	const int fd = object();

	failing(fd);
	whole(fd, file);
	in_parts(fd);
	of_all_kinds(fd, file);
	moved(fd);
	old_place_stays_mapped();
	descriptors(fd);
	left_over(file);
	gate();
	return 0;
}
