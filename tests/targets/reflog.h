/* The files of the preloaded loggers: REFLOG names a folder; each thread writes <pid>.<tid>.<exec> there, in which
 * <exec> is an id that differs after each exec of the process. A file is a struct header, then struct events, in a
 * shared mapping, so that no event is lost however the process ends. The logger takes no lock and allocates nothing, so
 * it works in handlers, forked children and dying processes. tests/scenarios/reflog.py reads the files. */
#ifndef REFLOG_H
#define REFLOG_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT     __attribute__((visibility("default")))
#define FAST_LOCAL __attribute__((tls_model("initial-exec")))
/* size of one thread's file, which is sparse: room for 4 million events, in 32-bit processes 260,000 */
#define FILE_SIZE ((size_t)(sizeof(long) == 8 ? 256 : 16) << 20)
#define GROW      ((size_t)1 << 20)
#define LOG_FD    900 /* the logger's descriptors begin here */

/* The logger calls no function of the C library to open or map, because those may be logged themselves. */
#ifdef SYS_mmap2
#define SYS_MAP SYS_mmap2
#else
#define SYS_MAP SYS_mmap
#endif

struct event {
	uint64_t sequence; /* common to all threads of the process */
	uint64_t id, size;
	char name[40]; /* '+' or '-', then the symbol */
};

struct header {
	uint64_t count, lost;
	uint64_t time_ns; /* when the file was created */
	char program[40];
};

_Static_assert(sizeof(struct event) == 64 && sizeof(struct header) == 64, "read by reflog.py");

static struct event early[64]; /* events before the environment exists */
static atomic_uint early_count;
static atomic_ulong sequence;

static __thread FAST_LOCAL struct header *file;
static __thread FAST_LOCAL size_t file_bytes; /* allocated bytes of the file */
static __thread FAST_LOCAL int file_fd, file_tid;
static __thread FAST_LOCAL int no_file;

static const char *folder(void)
{
	extern char **environ;

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, "REFLOG=", 7))
			return *e + 7;
	return NULL;
}

/* Writes decimal digits without snprintf, which may allocate. Returns the end of the text. */
static char *put_number(char *to, unsigned n)
{
	char digits[12];
	int i = 0;

	do
		digits[i++] = (char)('0' + n % 10);
	while (n /= 10);
	while (i)
		*to++ = digits[--i];
	return to;
}

/* Writes an id of the program that differs between two programs that one process executes. */
static char *put_image(char *to)
{
	const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);

	for (int i = 0; i < 8; i++) {
		*to++ = "0123456789abcdef"[random[i] >> 4];
		*to++ = "0123456789abcdef"[random[i] & 15];
	}
	return to;
}

/* Stores the file name of the program, without its folder. */
static void put_program(char name[40])
{
	char path[4096];
	const long size = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);

	path[size > 0 ? size : 0] = '\0';
	const char *slash = strrchr(path, '/');

	strncpy(name, slash ? slash + 1 : path, 39);
}

static void open_file(const char *where, int tid)
{
	char path[4200], *end = stpncpy(path, where, 4096);
	struct timespec now = {0, 0};

	*end++ = '/';
	end = put_number(end, (unsigned)syscall(SYS_getpid));
	*end++ = '.';
	end = put_number(end, (unsigned)tid);
	*end++ = '.';
	end = put_image(end);
	*end = '\0';
	file_tid = tid;
	file = NULL;
	no_file = 1;
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	/* A descriptor number that the program does not use itself. */
	file_fd = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LOG_FD);
	if (file_fd < 0)
		file_fd = fd;
	else
		syscall(SYS_close, fd);
	const off_t size = lseek(file_fd, 0, SEEK_END);

	file_bytes = size > 0 ? (size_t)size : GROW;
	if (size <= 0 && ftruncate(file_fd, (off_t)file_bytes))
		return;
	void *mapped = (void *)syscall(SYS_MAP, NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
				       file_fd, 0);

	if (mapped == MAP_FAILED)
		return;
	file = mapped;
	no_file = 0;
	if (size <= 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		file->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		put_program(file->program);
	}
}

static void store(const struct event *event)
{
	struct event *const events = (struct event *)(file + 1);

	if (sizeof(*file) + (file->count + 1) * sizeof(*event) > file_bytes) {
		if (file_bytes + GROW > FILE_SIZE || ftruncate(file_fd, (off_t)(file_bytes + GROW))) {
			file->lost++;
			return;
		}
		file_bytes += GROW;
	}
	events[file->count] = *event;
	atomic_thread_fence(memory_order_release);
	file->count++;
}

static uint64_t next_sequence(void)
{
	return atomic_fetch_add(&sequence, 1);
}

static void write_event(const struct event *event)
{
	/* In a fork or vfork child this thread's variables are those of its parent, but its tid is another one. */
	const int tid = (int)syscall(SYS_gettid);

	if (!file || file_tid != tid) {
		const char *where = folder();

		if (!where) {
			const unsigned i = atomic_fetch_add(&early_count, 1);

			if (i < sizeof(early) / sizeof(*early))
				early[i] = *event;
			return;
		}
		if (file_tid != tid || !no_file)
			open_file(where, tid);
		const unsigned held = file ? atomic_exchange(&early_count, 0) : 0;

		for (unsigned i = 0; i < held && i < sizeof(early) / sizeof(*early); i++)
			store(&early[i]);
	}
	if (file)
		store(event);
}

static void log_event(uint64_t at, const char *name, const void *id, size_t size)
{
	struct event event = {.sequence = at, .id = (uintptr_t)id, .size = size};
	const int error = errno;

	strncpy(event.name, name, sizeof(event.name) - 1);
	write_event(&event);
	errno = error;
}

#endif
