/* The reference logger of kinds other than memory: preloaded into a traced program, it logs the resources that the
 * program opens, closes, maps, creates and joins, as reflog.c does for memory (reflog.h), so that a trace of the same
 * run can be compared with the log event by event (tests/scenarios/kinds_logged.py). The C library's internal calls do
 * not reach the logger.
 *
 * An event's name is '+' or '-', the function, and the kind. A release has its place in the order of events
 * where the function was called. A release of a stream or folder is logged in any case, other releases only if they
 * have succeeded. Mappings are logged as calls: kinds_logged.py derives which parts of mappings these create and
 * release. */
#include "reflog.h"

#include <dirent.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

/* The next definition of the function, which this one replaces. */
#define NEXT(name)                                                                                                     \
	static __typeof__(name) *next;                                                                                 \
	if (!next)                                                                                                     \
	next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define FD(fd) ((void *)(intptr_t)(fd))

static unsigned char is_shared[LOG_FD]; /* opened by shm_open */

static int is_open(int fd)
{
	const int error = errno;
	const int open = fd >= 0 && fd < LOG_FD && syscall(SYS_fcntl, fd, F_GETFD) >= 0;

	errno = error;
	return open;
}

static void opened(const char *name, int fd)
{
	if (fd >= 0)
		log_event(next_sequence(), name, FD(fd), 1);
}

static void closed(uint64_t at, const char *name, const char *shared_name, int fd)
{
	log_event(at, name, FD(fd), 0);
	if (fd < LOG_FD && is_shared[fd])
		log_event(at, shared_name, FD(fd), 0);
	if (fd < LOG_FD)
		is_shared[fd] = 0;
}

/* ---- Descriptors ---- */

#define OPENS(name, parameters, ...)                                                                                   \
	EXPORT int name parameters                                                                                     \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		const int fd = next(__VA_ARGS__);                                                                      \
                                                                                                                       \
		opened("+" #name "<fd>", fd);                                                                          \
		return fd;                                                                                             \
	}
/* Reads the argument `mode`, if a file may be created. */
#define MODE(flags)                                                                                                    \
	va_list rest;                                                                                                  \
	va_start(rest, flags);                                                                                         \
	const mode_t mode = (flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? va_arg(rest, mode_t) : 0;               \
	va_end(rest)
#define OPENS_FILE(name)                                                                                               \
	EXPORT int name(const char *path, int flags, ...)                                                              \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		MODE(flags);                                                                                           \
		const int fd = next(path, flags, mode);                                                                \
                                                                                                                       \
		opened("+" #name "<fd>", fd);                                                                          \
		return fd;                                                                                             \
	}
#define OPENS_AT(name)                                                                                                 \
	EXPORT int name(int folder, const char *path, int flags, ...)                                                  \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		MODE(flags);                                                                                           \
		const int fd = next(folder, path, flags, mode);                                                        \
                                                                                                                       \
		opened("+" #name "<fd>", fd);                                                                          \
		return fd;                                                                                             \
	}
#define OPENS_TWO(name, fds, parameters, ...)                                                                          \
	EXPORT int name parameters                                                                                     \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		const int error = next(__VA_ARGS__);                                                                   \
                                                                                                                       \
		for (int i = 0; !error && i < 2; i++)                                                                  \
			opened("+" #name "<fd>", (fds)[i]);                                                            \
		return error;                                                                                          \
	}

int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

OPENS_FILE(open)
OPENS_FILE(open64)
OPENS_AT(openat)
OPENS_AT(openat64)
OPENS(__open_2, (const char *path, int flags), path, flags)
OPENS(__open64_2, (const char *path, int flags), path, flags)
OPENS(__openat_2, (int folder, const char *path, int flags), folder, path, flags)
OPENS(__openat64_2, (int folder, const char *path, int flags), folder, path, flags)
OPENS(creat, (const char *path, mode_t mode), path, mode)
OPENS(creat64, (const char *path, mode_t mode), path, mode)
OPENS(mkstemp, (char *path), path)
OPENS(mkstemp64, (char *path), path)
OPENS(mkostemp, (char *path, int flags), path, flags)
OPENS(mkostemp64, (char *path, int flags), path, flags)
OPENS(memfd_create, (const char *name, unsigned flags), name, flags)
OPENS(dup, (int old), old)
OPENS(socket, (int domain, int type, int protocol), domain, type, protocol)
OPENS(accept, (int end, struct sockaddr *address, socklen_t *size), end, address, size)
OPENS(accept4, (int end, struct sockaddr *address, socklen_t *size, int flags), end, address, size, flags)
OPENS(eventfd, (unsigned value, int flags), value, flags)
OPENS(timerfd_create, (clockid_t id, int flags), id, flags)
OPENS(epoll_create, (int size), size)
OPENS(epoll_create1, (int flags), flags)
OPENS(inotify_init, (void))
OPENS(inotify_init1, (int flags), flags)
OPENS_TWO(pipe, fds, (int fds[2]), fds)
OPENS_TWO(pipe2, fds, (int fds[2], int flags), fds, flags)
OPENS_TWO(socketpair, fds, (int domain, int type, int protocol, int fds[2]), domain, type, protocol, fds)

#define DUPLICATES(name)                                                                                               \
	EXPORT int name(int fd, int command, ...)                                                                      \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		va_list rest;                                                                                          \
		va_start(rest, command);                                                                               \
		void *const argument = va_arg(rest, void *);                                                           \
		va_end(rest);                                                                                          \
		const int result = next(fd, command, argument);                                                        \
                                                                                                                       \
		if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)                                                  \
			opened("+" #name "<fd>", result);                                                              \
		return result;                                                                                         \
	}
DUPLICATES(fcntl)
DUPLICATES(fcntl64)

static void duplicated(uint64_t at, const char *from, const char *shared, const char *to, int fd, int was_open)
{
	if (was_open)
		closed(at, from, shared, fd);
	opened(to, fd);
}

EXPORT int dup2(int from, int to)
{
	NEXT(dup2);
	const uint64_t at = next_sequence();
	const int was_open = is_open(to), fd = next(from, to);

	if (fd >= 0 && from != to)
		duplicated(at, "-dup2<fd>", "-dup2<pshmfd>", "+dup2<fd>", fd, was_open);
	return fd;
}

EXPORT int dup3(int from, int to, int flags)
{
	NEXT(dup3);
	const uint64_t at = next_sequence();
	const int was_open = is_open(to), fd = next(from, to, flags);

	if (fd >= 0)
		duplicated(at, "-dup3<fd>", "-dup3<pshmfd>", "+dup3<fd>", fd, was_open);
	return fd;
}

EXPORT int shm_open(const char *name, int flags, mode_t mode)
{
	NEXT(shm_open);
	const int fd = next(name, flags, mode);

	opened("+shm_open<fd>", fd);
	opened("+shm_open<pshmfd>", fd);
	if (fd >= 0 && fd < LOG_FD)
		is_shared[fd] = 1;
	return fd;
}

EXPORT int close(int fd)
{
	NEXT(close);
	const uint64_t at = next_sequence();
	/* Cleared before the call: as soon as the descriptor is closed, another thread may get one with this number. */
	const int was_shared = fd >= 0 && fd < LOG_FD ? is_shared[fd] : 0;

	if (was_shared)
		is_shared[fd] = 0;
	const int error = next(fd);

	if (!error)
		log_event(at, "-close<fd>", FD(fd), 0);
	if (!error && was_shared)
		log_event(at, "-close<pshmfd>", FD(fd), 0);
	return error;
}

#ifndef CLOSE_RANGE_CLOEXEC
int close_range(unsigned, unsigned, int);
#endif

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	NEXT(close_range);
	unsigned char open[LOG_FD] = {0};
	const uint64_t at = next_sequence();

	for (unsigned fd = first; fd <= last && fd < LOG_FD; fd++)
		open[fd] = (unsigned char)is_open((int)fd);
	const int error = next(first, last, flags);

	for (unsigned fd = first; !error && !(flags & 4) && fd <= last && fd < LOG_FD; fd++)
		if (open[fd])
			closed(at, "-close_range<fd>", "-close_range<pshmfd>", (int)fd);
	return error;
}

/* ---- Streams and folders ---- */

#define STREAMS(name, parameters, ...)                                                                                 \
	EXPORT FILE *name parameters                                                                                   \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		FILE *const file_ = next(__VA_ARGS__);                                                                 \
                                                                                                                       \
		if (file_)                                                                                             \
			log_event(next_sequence(), "+" #name "<fp>", file_, 1);                                        \
		return file_;                                                                                          \
	}
STREAMS(fopen, (const char *path, const char *mode), path, mode)
STREAMS(fopen64, (const char *path, const char *mode), path, mode)
STREAMS(popen, (const char *command, const char *type), command, type)
STREAMS(tmpfile, (void))
STREAMS(tmpfile64, (void))
STREAMS(fmemopen, (void *bytes, size_t size, const char *mode), bytes, size, mode)
STREAMS(open_memstream, (char **bytes, size_t *size), bytes, size)

EXPORT FILE *fdopen(int fd, const char *mode)
{
	NEXT(fdopen);
	const uint64_t at = next_sequence();
	const int was_open = is_open(fd);
	FILE *const stream = next(fd, mode);

	if (stream && was_open)
		log_event(at, "-fdopen<fd>", FD(fd), 0);
	if (stream)
		log_event(next_sequence(), "+fdopen<fp>", stream, 1);
	return stream;
}

/* Standard streams are not logged, because their opening was not logged. */
#define ENDS(name)                                                                                                     \
	EXPORT int name(FILE *stream)                                                                                  \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		if (stream != stdin && stream != stdout && stream != stderr)                                           \
			log_event(next_sequence(), "-" #name "<fp>", stream, 0);                                       \
		return next(stream);                                                                                   \
	}
ENDS(fclose)
ENDS(pclose)

EXPORT DIR *opendir(const char *path)
{
	NEXT(opendir);
	DIR *const dir = next(path);

	if (dir)
		log_event(next_sequence(), "+opendir<dir>", dir, 1);
	return dir;
}

EXPORT DIR *fdopendir(int fd)
{
	NEXT(fdopendir);
	const uint64_t at = next_sequence();
	const int was_open = is_open(fd);
	DIR *const dir = next(fd);

	if (dir && was_open)
		log_event(at, "-fdopendir<fd>", FD(fd), 0);
	if (dir)
		log_event(next_sequence(), "+fdopendir<dir>", dir, 1);
	return dir;
}

EXPORT int closedir(DIR *dir)
{
	NEXT(closedir);
	log_event(next_sequence(), "-closedir<dir>", dir, 0);
	return next(dir);
}

/* ---- Threads ---- */

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*function)(void *), void *data)
{
	NEXT(pthread_create);
	int state = PTHREAD_CREATE_JOINABLE;

	if (attr)
		pthread_attr_getdetachstate(attr, &state);
	const int error = next(id, attr, function, data);

	if (!error)
		log_event(next_sequence(),
			  state == PTHREAD_CREATE_DETACHED ? "+pthread_create<_pthread_t>"
							   : "+pthread_create<pthread_t>",
			  (void *)*id, 1);
	return error;
}

#define LEAVES(name, parameters, ...)                                                                                  \
	EXPORT int name parameters                                                                                     \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		const uint64_t at = next_sequence();                                                                   \
		const int error = next(__VA_ARGS__);                                                                   \
                                                                                                                       \
		if (!error)                                                                                            \
			log_event(at, "-" #name "<pthread_t>", (void *)id, 0);                                         \
		return error;                                                                                          \
	}
LEAVES(pthread_join, (pthread_t id, void **result), id, result)
LEAVES(pthread_tryjoin_np, (pthread_t id, void **result), id, result)
LEAVES(pthread_timedjoin_np, (pthread_t id, void **result, const struct timespec *until), id, result, until)
LEAVES(pthread_detach, (pthread_t id), id)

/* ---- Mappings ---- */

static const char *mapped_kind(int flags, int fd)
{
	if (flags & MAP_ANONYMOUS)
		return flags & MAP_FIXED ? "+mmap!<shmmap>" : "+mmap<shmmap>";
	if (fd >= 0 && fd < LOG_FD && is_shared[fd])
		return flags & MAP_FIXED ? "+mmap!<pshmmap>" : "+mmap<pshmmap>";
	return flags & MAP_FIXED ? "+mmap!<fshmmap>" : "+mmap<fshmmap>";
}

#define MAPS(name, offset_type)                                                                                        \
	EXPORT void *name(void *address, size_t size, int access, int flags, int fd, offset_type offset)               \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		const char *const kind = mapped_kind(flags, fd);                                                       \
		void *const at = next(address, size, access, flags, fd, offset);                                       \
                                                                                                                       \
		if (at != MAP_FAILED)                                                                                  \
			log_event(next_sequence(), kind, at, size);                                                    \
		return at;                                                                                             \
	}
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

EXPORT int munmap(void *address, size_t size)
{
	NEXT(munmap);
	const uint64_t at = next_sequence();
	const int error = next(address, size);

	if (!error)
		log_event(at, "-munmap", address, size);
	return error;
}

EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	NEXT(mremap);
	va_list rest;
	va_start(rest, flags);
	void *const wanted = flags & (MREMAP_FIXED | 4) ? va_arg(rest, void *) : NULL;
	va_end(rest);
	const uint64_t at = next_sequence();
	void *const new = next(old, old_size, size, flags, wanted);

	if (new == MAP_FAILED)
		return new;
	log_event(at, old_size && !(flags & 4) ? "-mremap" : "=mremap", old, old_size ? old_size : 1);
	log_event(next_sequence(), flags & MREMAP_FIXED ? "+mremap!" : "+mremap", new, size);
	return new;
}

/* ---- System V ---- */

static struct {
	const void *at;
	int segment;
} attached[256];

EXPORT int shmget(key_t key, size_t size, int flags)
{
	NEXT(shmget);
	const int segment = next(key, size, flags);

	if (segment >= 0 && (key == IPC_PRIVATE || flags & IPC_CREAT))
		log_event(next_sequence(), "+shmget<segment>", FD(segment), size);
	return segment;
}

EXPORT void *shmat(int segment, const void *address, int flags)
{
	NEXT(shmat);
	struct shmid_ds state;
	void *const at = next(segment, address, flags);

	if (at == (void *)-1 || shmctl(segment, IPC_STAT, &state))
		return at;
	log_event(next_sequence(), "+shmat<segment>", FD(segment), state.shm_segsz);
	log_event(next_sequence(), "+shmat<attachment>", at, state.shm_segsz);
	for (size_t i = 0; i < sizeof(attached) / sizeof(attached[0]); i++)
		if (!attached[i].at) {
			attached[i].at = at;
			attached[i].segment = segment;
			break;
		}
	return at;
}

EXPORT int shmdt(const void *address)
{
	NEXT(shmdt);
	const uint64_t when = next_sequence();
	const int error = next(address);

	for (size_t i = 0; !error && i < sizeof(attached) / sizeof(attached[0]); i++)
		if (attached[i].at == address) {
			log_event(when, "-shmdt<segment>", FD(attached[i].segment), 0);
			log_event(when, "-shmdt<attachment>", address, 0);
			attached[i].at = NULL;
			break;
		}
	return error;
}
