/* Pointers in shared memory whose pages are not in the process's page table: sharedpages HOW.
 *
 * Only a table in shared memory points to 1000 blocks of 56 bytes; nothing points to 10 of 40 bytes.
 *	forked   the table was filled before a fork; the child, which runs on, has not touched it
 *	mapping  it was filled by another mapping of the same memory (memfd_create)
 *	written  it was filled by pwrite(2) to the mapped file, a new one in the current folder
 *	beside   the same, and a changed private page of the file is mapped before the shared part
 *	constant the table is in memory without a file, and a file without pointers is mapped, private and read-only
 *	dropped  it was filled here, and its pages were dropped (MADV_DONTNEED)
 *	attached it is of System V, filled before the segment was detached and attached again
 *	sparse   as mapping, at the end of 8 GiB without other data; prints at the end whether the rest is still empty
 *	wide     as mapping, at the end of 80 MiB
 *	guarded  it was filled here, beside a page that cannot be read (MADV_GUARD_INSTALL)
 *	served   it was filled here, and a page beside it waits for userfaultfd(2), which is never served
 * Prints "ready", the process id and the address of the table; ends with the standard input. */
#include "target.h"
#include <fcntl.h>
#include <stdbool.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define BLOCKS 1000
#define LOST   10
#define SPARSE (8ull << 30)
#define WIDE   (80ull << 20)

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

static const char *how;
static void **table;
static size_t size; /* of the mapping; the table is its last part */
static int fd = -1;

static bool is(const char *word)
{
	return !strcmp(how, word);
}

static void *map(void)
{
	void *const at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static void **table_in(void *mapping)
{
	return (void **)((char *)mapping + size - BLOCKS * sizeof(*table));
}

static void open_file(void)
{
	char path[] = "sharedpages.XXXXXX";

	fd = is("written") || is("beside") || is("constant") ? mkstemp(path)
							     : (int)syscall(SYS_memfd_create, "table", 0);
	CHECK(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
}

NOINLINE static void fill(void **to)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		to[i] = memset(malloc(56), 0x11, 56);
}

/* Fills the table by a mapping that no longer exists during the scan. */
NOINLINE static void fill_elsewhere(void)
{
	char *const other = map();

	fill(table_in(other));
	munmap(other, size);
}

NOINLINE static void fill_by_write(void)
{
	void *blocks[BLOCKS];

	fill(blocks);
	CHECK(pwrite(fd, blocks, sizeof(blocks), (off_t)(size - sizeof(blocks))) == sizeof(blocks));
}

NOINLINE static void fill_segment(void)
{
	const int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	void *at = shmat(id, NULL, 0);

	CHECK(id >= 0 && at != (void *)-1);
	fill(table_in(at));
	CHECK(shmdt(at) == 0 && (at = shmat(id, NULL, 0)) != (void *)-1);
	shmctl(id, IPC_RMID, NULL);
	table = table_in(at);
}

/* Changes the page before the table's first one, in the modes guarded and served. */
NOINLINE static void make_odd(char *page, size_t bytes)
{
	if (is("guarded") && madvise(page, bytes, MADV_GUARD_INSTALL))
		exit(77);
	if (is("served")) {
		const int server = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
		struct uffdio_api api = {.api = UFFD_API};
		struct uffdio_register range = {.range = {(uintptr_t)page, bytes},
						.mode = UFFDIO_REGISTER_MODE_MISSING};

		if (server < 0 || ioctl(server, UFFDIO_API, &api) || ioctl(server, UFFDIO_REGISTER, &range))
			exit(77);
	}
}

/* Maps a file without pointers, privately and read-only. */
NOINLINE static void map_constant(void)
{
	static char text[65536];

	open_file();
	CHECK(write(fd, memset(text, 'x', sizeof(text)), sizeof(text)) == sizeof(text));
	CHECK(mmap(NULL, sizeof(text), PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);
	fd = -1;
}

/* Maps the first page of the table's mapping again, privately, and changes it. */
NOINLINE static void change_first_page(size_t bytes)
{
	char *const first = (char *)(table + BLOCKS) - size;

	CHECK(mmap(first, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) == first);
	*first = 1;
}

NOINLINE static void lose(void)
{
	for (unsigned i = 0; i < LOST; i++) {
		void *p = memset(malloc(40), 0x33, 40);

		KEEP(p);
	}
}

NOINLINE static void prepare(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	size = is("sparse") ? (size_t)SPARSE : is("wide") ? WIDE : 16 * page;
	if (is("mapping") || is("written") || is("beside") || is("sparse") || is("wide"))
		open_file();
	if (is("constant"))
		map_constant();
	if (is("attached")) {
		fill_segment();
		return;
	}
	if (is("written") || is("beside"))
		fill_by_write();
	else if (fd >= 0)
		fill_elsewhere();
	table = table_in(map());
	if (fd < 0)
		fill(table);
	if (is("beside"))
		change_first_page(page);
	if (is("dropped"))
		CHECK(madvise((char *)(table + BLOCKS) - size, size, MADV_DONTNEED) == 0);
	make_odd((char *)((uintptr_t)table & ~(page - 1)) - page, page);
}

int main(int argc, char **argv)
{
	struct stat st;
	int status;

	CHECK(argc == 2);
	how = argv[1];
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	prepare();
	lose();
	wipe_stack();
	if (is("forked")) {
		const pid_t child = fork();

		CHECK(child >= 0);
		if (child)
			return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	}
	wipe_stack();
	say("ready");
	say("%d %p", getpid(), (void *)table);
	wait_for_input_end();
	if (is("sparse"))
		say("%s", !fstat(fd, &st) && st.st_blocks < 64 ? "sparse" : "filled");
	return 0;
}
