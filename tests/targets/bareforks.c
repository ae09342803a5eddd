/* bareforks HOW [COUNT] [LIBRARY]: children that make no traced call, or make their first one only after their parent
 * has changed its copy of the memory.
 *
 *   bare        COUNT children one after the other, each of which ends at once
 *   counted     three such children, then COUNT between two gates
 *   clean       as bare; each child compares its text with its files, byte for byte
 *   late        COUNT children; the parent makes calls from new places meanwhile, and releases a block that they
 *               inherit; then they make their calls
 *   held        COUNT children that make their calls after the parent's next gate, and live until all have made them
 *   grandchild  a child that makes no call forks one that does
 *   orphan      the same, but the grandchild makes its call after the child has ended
 *   unload      the parent unloads a library that the child still calls
 *   unload-own  the same, if only the library's own allocator is traced
 *   born        children that make a call if they are traced, until standard input has ended, and five more */
#include "target.h"
#include <dlfcn.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void *kept;

static NOINLINE void one_pair(size_t size)
{
	void *p = malloc(size);

	CHECK(p);
	KEEP(p);
	free(p);
}

static void release_kept(void)
{
	free(kept);
	kept = NULL;
	expect_release(1, 34002, "free");
}

static void reap(pid_t pid, int wanted)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		CHECK(errno == EINTR);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted) {
		say("a child's wait status is %#x", (unsigned)status);
		_exit(92);
	}
}

/* ---- Text ---- */

static char maps[1 << 20];

static size_t read_maps(void)
{
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	while (fd >= 0 && used < sizeof(maps) - 1 && (got = read(fd, maps + used, sizeof(maps) - 1 - used)) > 0)
		used += (size_t)got;
	close(fd);
	maps[used] = '\0';
	return used;
}

/* Returns true if a mapping of text is the same as its file, or if the file cannot be read. Does not allocate. */
static bool is_as_its_file(const char *path, const char *start, size_t size, unsigned long offset)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return true;
	const void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, (off_t)offset);
	const bool same = file == MAP_FAILED || !memcmp(start, file, size);

	if (file != MAP_FAILED)
		munmap((void *)file, size);
	close(fd);
	return same;
}

static bool text_is_clean(void)
{
	read_maps();
	for (char *line = maps, *end; (end = strchr(line, '\n')); line = end + 1) {
		unsigned long start, stop, offset;
		char rights[8], path[512];

		*end = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511s", &start, &stop, rights, &offset, path) == 5 &&
		    path[0] == '/' && !strcmp(rights, "r-xp") &&
		    !is_as_its_file(path, (const char *)start, stop - start, offset))
			return false;
	}
	return true;
}

/* ---- The modes ---- */

static void forks(unsigned count, bool look)
{
	for (unsigned i = 0; i < count; i++) {
		const pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid)
			_exit(!look || text_is_clean() ? 7 : 8);
		reap(pid, 7);
	}
}

/* Each use of this macro contains calls with return sites of their own, which need breakpoints of their own. */
#define SITES(size)                                                                                                    \
	do {                                                                                                           \
		one_pair(size);                                                                                        \
		for (int round = 0; round < 2; round++) {                                                              \
			void *a = malloc(size);                                                                        \
			KEEP(a);                                                                                       \
			void *b = malloc(size);                                                                        \
			KEEP(b);                                                                                       \
			void *c = calloc(1, size);                                                                     \
			KEEP(c);                                                                                       \
			a = realloc(a, size);                                                                          \
			KEEP(a);                                                                                       \
			free(a);                                                                                       \
			free(b);                                                                                       \
			free(c);                                                                                       \
		}                                                                                                      \
	} while (0)

static pid_t waiting_child(const int ends[2])
{
	const pid_t pid = fork();
	char byte;

	CHECK(pid >= 0);
	if (pid)
		return pid;
	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0)
		CHECK(errno == EINTR);
	one_pair(34001);
	free(kept); /* inherited from the parent, which has released its copy meanwhile */
	one_pair(34001);
	_exit(7);
}

static void late(unsigned count)
{
	pid_t pids[64];
	int ends[2];

	CHECK(count >= 2 && count <= 64 && pipe(ends) == 0);
	for (unsigned i = 0; i < count; i++) {
		pids[i] = waiting_child(ends);
		if (i == count / 2)
			SITES(34003);
	}
	SITES(34004);
	release_kept();
	close(ends[0]);
	close(ends[1]);
	for (unsigned i = 0; i < count; i++)
		reap(pids[i], 7);
	expect_alloc(5, 34003, "malloc");
	expect_alloc(2, 34003, "calloc");
	expect_alloc(2, 34003, "realloc");
	expect_release(2, 34003, "realloc");
	expect_release(7, 34003, "free");
	expect_alloc(5, 34004, "malloc");
	expect_alloc(2, 34004, "calloc");
	expect_alloc(2, 34004, "realloc");
	expect_release(2, 34004, "realloc");
	expect_release(7, 34004, "free");
	say("expect-child + %u 34001 malloc", 2 * count);
	say("expect-child - %u 34001 free", 2 * count);
}

static void wait_for_close(const int ends[2])
{
	char byte;

	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0)
		CHECK(errno == EINTR);
}

static void held(unsigned count)
{
	int begin[2], end[2], done[2];
	pid_t pids[64];
	char byte;

	CHECK(count <= 64 && pipe(begin) == 0 && pipe(end) == 0 && pipe(done) == 0);
	for (unsigned i = 0; i < count; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0);
		if (pids[i])
			continue;
		wait_for_close(begin);
		one_pair(34001);
		free(kept);
		one_pair(34001);
		CHECK(write(done[1], "d", 1) == 1);
		wait_for_close(end);
		_exit(7);
	}
	gate();
	close(begin[0]);
	close(begin[1]);
	for (unsigned i = 0; i < count; i++)
		CHECK(read(done[0], &byte, 1) == 1);
	close(end[0]);
	close(end[1]);
	for (unsigned i = 0; i < count; i++)
		reap(pids[i], 7);
	release_kept();
	say("expect-child + %u 34001 malloc", 2 * count);
	say("expect-child - %u 34001 free", 2 * count);
}

/* Creates children until standard input has ended, and a few more. Prints how many of them were traced. The first
 * traced child is created while functrace attaches: it inherits a text without breakpoints. */
static void born(void)
{
	unsigned traced = 0, more = 5;
	int status;

	say("ready");
	while (more) {
		const pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			if (!is_traced())
				_exit(8);
			one_pair(34001);
			_exit(7);
		}
		CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
		traced += WEXITSTATUS(status) == 7;
		more -= poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, 0) != 0;
	}
	say("traced %u", traced);
}

static void grandchild(void)
{
	const pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		const pid_t next = fork();

		if (!next) {
			one_pair(34001);
			free(kept);
			_exit(7);
		}
		reap(next, 7);
		_exit(7);
	}
	reap(pid, 7);
	release_kept();
	say("expect-child + 1 34001 malloc");
	say("expect-child - 1 34001 free");
}

static void orphan(void)
{
	int ends[2];
	char byte;

	CHECK(pipe(ends) == 0);
	const pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		const pid_t parent = getpid();
		const pid_t next = fork();

		if (next)
			_exit(7);
		while (getppid() == parent)
			sleep_ms(1);
		one_pair(34001);
		free(kept);
		CHECK(write(ends[1], "x", 1) == 1);
		_exit(7);
	}
	reap(pid, 7);
	CHECK(read(ends[0], &byte, 1) == 1);
	release_kept();
	say("expect-child + 1 34001 malloc");
	say("expect-child - 1 34001 free");
}

/* Unloads a library that a child still calls. own: only the library's allocator is traced. */
static void unload(const char *path, bool own)
{
	void *library = dlopen(path, RTLD_NOW);
	int ends[2];
	char byte;

	CHECK(library && pipe(ends) == 0);
	int (*work)(unsigned) = (int (*)(unsigned))dlsym(library, "library_work");

	CHECK(work);
	work(0);
	const pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		close(ends[1]);
		CHECK(read(ends[0], &byte, 1) == 0);
		work(1);
		_exit(7);
	}
	CHECK(dlclose(library) == 0);
	one_pair(34005);
	close(ends[1]);
	reap(pid, 7);
	free(kept);
	kept = NULL;
	expect_alloc(1, 35002, "je_malloc");
	expect_release(1, 35002, "je_free");
	say("expect-child + 1 35002 je_malloc");
	say("expect-child - 1 35002 je_free");
	if (own)
		return;
	expect_release(1, 34002, "free");
	expect_alloc(1, 34005, "malloc");
	expect_release(1, 34005, "free");
	expect_alloc(1, 35001, "malloc");
	expect_release(1, 35001, "free");
	say("expect-child + 1 35001 malloc");
	say("expect-child - 1 35001 free");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "bare";
	const unsigned count = argument(argc, argv, 2, 20);

	if (!strcmp(how, "born")) {
		born();
		return 0;
	}
	gate();
	kept = malloc(34002);
	CHECK(kept);
	one_pair(34006); /* so that the tables of probes and breakpoints are not empty */
	if (strcmp(how, "unload-own") != 0) {
		expect_alloc(1, 34002, "malloc");
		expect_alloc(1, 34006, "malloc");
		expect_release(1, 34006, "free");
	}
	if (!strcmp(how, "counted")) {
		forks(3, false);
		gate();
		forks(count, false);
		gate();
	} else if (!strcmp(how, "bare"))
		forks(count, false);
	else if (!strcmp(how, "clean"))
		forks(count, true);
	else if (!strcmp(how, "late"))
		late(count);
	else if (!strcmp(how, "held"))
		held(count);
	else if (!strcmp(how, "grandchild"))
		grandchild();
	else if (!strcmp(how, "orphan"))
		orphan();
	else if (!strncmp(how, "unload", 6) && argc > 3)
		unload(argv[3], !strcmp(how, "unload-own"));
	else
		CHECK(!"a known HOW");
	if (kept)
		expect_live(1, 34002);
	gate();
	return 0;
}
