/* The reference logger: preloaded into a traced program, it writes down every call of the malloc family and of
 * operator new and delete, so that a trace of the same run can be compared with it event by event
 * (tests/scenarios/reflog.py, strict.py). A static program is linked with it instead: REFLOG_STATIC.
 *
 * REFLOG names the folder; each thread writes <pid>.<tid>.<image> there: a struct header, then struct
 * events, in a shared mapping, so that nothing is lost however the process ends. Nothing here takes
 * a lock or allocates, so it works in handlers, forked children and dying processes.
 *
 * What the malloc family returns and is given is written down when that happens. What was called around it (new that
 * calls malloc, reallocarray that calls realloc) is a part of the same event and gives it its name: an
 * allocation's when it returns the block, a release's before. So a call that is left by an exception, a longjmp or
 * the end of its thread leaves nothing behind, and nothing depends on how calls are nested.
 *
 * A call that fails, or releases NULL, is no event. realloc is a release and an allocation. The release has its
 * place in the order of all threads where realloc was called: another thread may get the block before it returns. */
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
/* of a thread: 4 million events, or 250,000; sparse */
#define FILE_SIZE ((size_t)(sizeof(long) == 8 ? 256 : 16) << 20)
#define GROW      ((size_t)1 << 20)

struct event {
	uint64_t sequence; /* over all threads of the process */
	uint64_t id, size;
	char name[40]; /* '+' or '-', then the symbol */
};

struct header {
	uint64_t count, lost;
	uint64_t time_ns; /* when the file was begun */
	char program[40];
};

_Static_assert(sizeof(struct event) == 64 && sizeof(struct header) == 64, "read by reflog.py");

static struct event early[64]; /* before the environment is there */
static atomic_uint early_count;
static atomic_ulong sequence;

static __thread FAST_LOCAL struct header *file;
static __thread FAST_LOCAL size_t file_bytes; /* allocated of the file */
static __thread FAST_LOCAL int file_fd, file_tid;
static __thread FAST_LOCAL int no_file;
static __thread FAST_LOCAL const void *releasing; /* a delete has written down that release */

static const char *folder(void)
{
	extern char **environ;

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, "REFLOG=", 7))
			return *e + 7;
	return NULL;
}

/* decimal digits without snprintf, which may allocate */
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

/* The same in no two programs that one process executes. */
static char *put_image(char *to)
{
	const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);

	for (int i = 0; i < 8; i++) {
		*to++ = "0123456789abcdef"[random[i] >> 4];
		*to++ = "0123456789abcdef"[random[i] & 15];
	}
	return to;
}

/* The file name of the program, without its folder. */
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
	/* A number that the program does not use itself. */
	file_fd = fcntl(fd, F_DUPFD_CLOEXEC, 500);
	if (file_fd < 0)
		file_fd = fd;
	else
		syscall(SYS_close, fd);
	const off_t size = lseek(file_fd, 0, SEEK_END);

	file_bytes = size > 0 ? (size_t)size : GROW;
	if (size <= 0 && ftruncate(file_fd, (off_t)file_bytes))
		return;
	void *mapped = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_fd, 0);

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
	/* A fork or vfork child is another thread in this one's memory. */
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

/* Gives this thread's last event about the block another name, if it happened since then. */
static int rename_event(uint64_t since, const char *name, const void *id, size_t size)
{
	struct event *const events = (struct event *)(file + 1);

	for (uint64_t i = file ? file->count : 0; i-- > 0;) {
		if (events[i].sequence < since && events[i].name[0] == '+')
			return 0;
		if (events[i].sequence < since || events[i].id != (uintptr_t)id || events[i].name[0] != *name)
			continue;
		strncpy(events[i].name, name, sizeof(events[i].name) - 1);
		events[i].size = size;
		return 1;
	}
	return 0;
}

/* A call is entered that is perhaps made of others. */
#define ENTER const uint64_t entered = next_sequence()

static void allocated(uint64_t entered, const char *name, const void *p, size_t size)
{
	if (p && !rename_event(entered, name, p, size))
		log_event(next_sequence(), name, p, size);
}

static void reallocated(uint64_t entered, const char *release, const char *alloc, const void *old, const void *p,
			size_t size)
{
	if (old && (p || !size) && !rename_event(entered, release, old, 0))
		log_event(entered, release, old, 0);
	allocated(entered, alloc, p, size);
}

#ifdef REFLOG_STATIC /* glibc's second names are all that is left of it */
#define NEXT(name) (void)0
#else
/* The definition behind this one; looked up once (it allocates nothing where it succeeds). */
#define NEXT(name)                                                                                                     \
	static __typeof__(name) *next;                                                                                 \
	if (!next)                                                                                                     \
	next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#endif

/* ld.so calls these before dlsym works; glibc has them under a second name. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
void *reallocarray(void *, size_t, size_t);
int posix_memalign(void **, size_t, size_t);
void *aligned_alloc(size_t, size_t);
void *memalign(size_t, size_t);
void *valloc(size_t);
void *pvalloc(size_t);

#ifdef REFLOG_PRELOADED_ALLOCATOR /* another allocator behind: only dlsym finds it */
#define REAL(name) NEXT(name)
#define CALL(name) next
#else
#define REAL(name) (void)0
#define CALL(name) __libc_##name
#endif

/* The functions behind those without a name of glibc's that starts with __libc_. */
#ifdef REFLOG_STATIC
extern int __posix_memalign(void **, size_t, size_t);
extern void *__libc_memalign(size_t, size_t), *__libc_valloc(size_t), *__libc_pvalloc(size_t);
#define OTHER(name, second) second
#else
#define OTHER(name, second) next
#endif

EXPORT void *malloc(size_t size)
{
	REAL(malloc);
	void *p = CALL(malloc)(size);

	if (p)
		log_event(next_sequence(), "+malloc", p, size);
	return p;
}

/* A release is an event at its entry: another thread may get the block before it returns. */
EXPORT void free(void *p)
{
	REAL(free);
	if (p && p != releasing)
		log_event(next_sequence(), "-free", p, 0);
	releasing = NULL;
	CALL(free)(p);
}

EXPORT void *calloc(size_t count, size_t size)
{
	ENTER;
	REAL(calloc);
	void *p = CALL(calloc)(count, size);

	allocated(entered, "+calloc", p, count * size);
	return p;
}

EXPORT void *realloc(void *old, size_t size)
{
	ENTER;
	REAL(realloc);
	void *p = CALL(realloc)(old, size);

	reallocated(entered, "-realloc", "+realloc", old, p, size);
	return p;
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	ENTER;
#ifdef REFLOG_STATIC
	void *p = __libc_realloc(old, bytes);
#else
	NEXT(reallocarray);
	void *p = next(old, count, size);
#endif

	reallocated(entered, "-reallocarray", "+reallocarray", old, p, bytes);
	return p;
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
	ENTER;
	NEXT(posix_memalign);
	const int error = OTHER(posix_memalign, __posix_memalign)(out, alignment, size);

	if (!error)
		allocated(entered, "+posix_memalign", *out, size);
	return error;
}

#define ALIGNED(name)                                                                                                  \
	EXPORT void *name(size_t alignment, size_t size)                                                               \
	{                                                                                                              \
		ENTER;                                                                                                 \
		NEXT(name);                                                                                            \
		void *p = OTHER(name, __libc_memalign)(alignment, size);                                               \
                                                                                                                       \
		allocated(entered, "+" #name, p, size);                                                                \
		return p;                                                                                              \
	}
ALIGNED(aligned_alloc)
ALIGNED(memalign)

EXPORT void *valloc(size_t size)
{
	ENTER;
	NEXT(valloc);
	void *p = OTHER(valloc, __libc_valloc)(size);

	allocated(entered, "+valloc", p, size);
	return p;
}

EXPORT void *pvalloc(size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	ENTER;
	NEXT(pvalloc);
	void *p = OTHER(pvalloc, __libc_pvalloc)(size);

	allocated(entered, "+pvalloc", p, (size + page - 1) & ~(page - 1));
	return p;
}

#ifndef REFLOG_STATIC /* there is nothing behind a static program's operators: it keeps its own */
/* The operators, by their symbols. A throw passes through. */
#define NEW(...)    NEW_NAMED(__VA_ARGS__)
#define DELETE(...) DELETE_NAMED(__VA_ARGS__)
#define NEW_NAMED(name, parameters, ...)                                                                               \
	void *name parameters;                                                                                         \
	EXPORT void *name parameters                                                                                   \
	{                                                                                                              \
		ENTER;                                                                                                 \
		NEXT(name);                                                                                            \
		void *p = next(__VA_ARGS__);                                                                           \
                                                                                                                       \
		allocated(entered, "+" #name, p, size);                                                                \
		return p;                                                                                              \
	}
#define DELETE_NAMED(name, parameters, ...)                                                                            \
	void name parameters;                                                                                          \
	EXPORT void name parameters                                                                                    \
	{                                                                                                              \
		NEXT(name);                                                                                            \
		if (p && p != releasing)                                                                               \
			log_event(next_sequence(), "-" #name, p, 0);                                                   \
		releasing = p;                                                                                         \
		next(__VA_ARGS__);                                                                                     \
		releasing = NULL;                                                                                      \
	}
/* size_t is a letter of the names. */
#ifdef __LP64__
#define SIZED(before, behind) before##m##behind
#else
#define SIZED(before, behind) before##j##behind
#endif
NEW(SIZED(_Znw, ), (size_t size), size)
NEW(SIZED(_Zna, ), (size_t size), size)
NEW(SIZED(_Znw, RKSt9nothrow_t), (size_t size, const void *tag), size, tag)
NEW(SIZED(_Zna, RKSt9nothrow_t), (size_t size, const void *tag), size, tag)
NEW(SIZED(_Znw, St11align_val_t), (size_t size, size_t a), size, a)
NEW(SIZED(_Zna, St11align_val_t), (size_t size, size_t a), size, a)
NEW(SIZED(_Znw, St11align_val_tRKSt9nothrow_t), (size_t size, size_t a, const void *tag), size, a, tag)
NEW(SIZED(_Zna, St11align_val_tRKSt9nothrow_t), (size_t size, size_t a, const void *tag), size, a, tag)
DELETE(_ZdlPv, (void *p), p)
DELETE(_ZdaPv, (void *p), p)
DELETE(SIZED(_ZdlPv, ), (void *p, size_t size), p, size)
DELETE(SIZED(_ZdaPv, ), (void *p, size_t size), p, size)
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *tag), p, tag)
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *tag), p, tag)
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t a), p, a)
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t a), p, a)
DELETE(SIZED(_ZdlPv, St11align_val_t), (void *p, size_t size, size_t a), p, size, a)
DELETE(SIZED(_ZdaPv, St11align_val_t), (void *p, size_t size, size_t a), p, size, a)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *tag), p, a, tag)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *tag), p, a, tag)
#endif
