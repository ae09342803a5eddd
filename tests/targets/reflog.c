/* The reference logger: preloaded into a traced program, it writes down every outermost call of the
 * malloc family and of operator new and delete, in the order of each thread, so that a trace of
 * the same run can be compared with it event by event (tests/scenarios/reflog.py).
 *
 * REFLOG names the folder; each thread writes <pid>.<tid> there: a struct header, then struct
 * events, in a shared mapping, so that nothing is lost however the process ends. Nothing here takes
 * a lock or allocates, so it works in handlers, forked children and dying processes.
 *
 * A call within another (calloc -> malloc, new -> malloc, reallocarray -> realloc) is a part of it.
 * A call that fails, or releases NULL, is no event. realloc is a release and an allocation. */
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
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT     __attribute__((visibility("default")))
#define FAST_LOCAL __attribute__((tls_model("initial-exec")))
#define FILE_SIZE  ((size_t)256 << 20) /* of a thread: 4 million events; sparse */
#define GROW       ((size_t)1 << 20)

struct event {
	uint64_t sequence; /* over all threads of the process */
	uint64_t id, size;
	char name[40]; /* '+' or '-', then the symbol */
};

struct header {
	uint64_t count, lost;
	char pad[48];
};

_Static_assert(sizeof(struct event) == 64 && sizeof(struct header) == 64, "read by reflog.py");

static struct event early[64]; /* before the environment is there */
static atomic_uint early_count;
static atomic_ulong sequence;

static __thread FAST_LOCAL struct header *file;
static __thread FAST_LOCAL size_t file_bytes; /* allocated of the file */
static __thread FAST_LOCAL int file_fd, file_tid;
static __thread FAST_LOCAL unsigned depth;
static __thread FAST_LOCAL struct event pending[32]; /* of the calls that are under way */
static __thread FAST_LOCAL unsigned pending_count;
static __thread FAST_LOCAL int no_file;

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

static void open_file(const char *where, int tid)
{
	char path[4200], *end = stpncpy(path, where, 4096);

	*end++ = '/';
	end = put_number(end, (unsigned)syscall(SYS_getpid));
	*end++ = '.';
	end = put_number(end, (unsigned)tid);
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
	void *mapped = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			    file_fd, 0);

	if (mapped == MAP_FAILED)
		return;
	file = mapped;
	no_file = 0;
}

static void store(const struct event *event)
{
	struct event *const events = (struct event *)(file + 1);

	if (sizeof(*file) + (file->count + 1) * sizeof(*event) > file_bytes) {
		if (file_bytes + GROW > FILE_SIZE ||
		    ftruncate(file_fd, (off_t)(file_bytes + GROW))) {
			file->lost++;
			return;
		}
		file_bytes += GROW;
	}
	events[file->count] = *event;
	atomic_thread_fence(memory_order_release);
	file->count++;
}

static void write_event(struct event *event)
{
	/* A fork or vfork child is another thread in this one's memory. */
	const int tid = (int)syscall(SYS_gettid);

	event->sequence = atomic_fetch_add(&sequence, 1);
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

static void flush(void)
{
	const int error = errno;

	for (unsigned i = 0; i < pending_count; i++)
		write_event(&pending[i]);
	pending_count = 0;
	errno = error;
}

static void log_event(const char *name, const void *id, size_t size)
{
	if (pending_count == sizeof(pending) / sizeof(*pending))
		return;
	struct event *const event = &pending[pending_count++];

	*event = (struct event){.id = (uintptr_t)id, .size = size};
	strncpy(event->name, name, sizeof(event->name) - 1);
}

/* A call that is under way: how many events were pending before it, and how many are its own. */
struct call {
	unsigned before, own;
};

static void leave(const struct call *call)
{
	(void)call;
	if (--depth == 0)
		flush();
}

/* Counts the calls that are under way on this thread, also when one is left by an exception. */
#define ENTER                                                                                      \
	struct call call __attribute__((cleanup(leave))) = {pending_count, 0};                     \
	depth++

/* The call returns: what was called within it was a part of it. */
#define RETURNED (pending_count = call.before + call.own)

/* The definition behind this one; looked up once (it allocates nothing where it succeeds). */
#define NEXT(name)                                                                                 \
	static __typeof__(name) *next;                                                             \
	if (!next)                                                                                 \
	next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

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

/* A release is an event at its entry: another thread may get the block before it returns. */
static void release(struct call *call, const char *name, const void *p)
{
	if (!p)
		return;
	log_event(name, p, 0);
	call->own = 1;
	if (depth == 1) {
		flush();
		*call = (struct call){0, 0};
	}
}

EXPORT void *malloc(size_t size)
{
	ENTER;
	REAL(malloc);
	void *p = CALL(malloc)(size);

	RETURNED;
	if (p)
		log_event("+malloc", p, size);
	return p;
}

EXPORT void free(void *p)
{
	ENTER;
	REAL(free);
	release(&call, "-free", p);
	CALL(free)(p);
	RETURNED;
}

EXPORT void *calloc(size_t count, size_t size)
{
	ENTER;
	REAL(calloc);
	void *p = CALL(calloc)(count, size);

	RETURNED;
	if (p)
		log_event("+calloc", p, count * size);
	return p;
}

static void log_realloc(const char *release, const char *alloc, void *old, void *p, size_t size)
{
	if (old && (p || !size))
		log_event(release, old, 0);
	if (p)
		log_event(alloc, p, size);
}

EXPORT void *realloc(void *old, size_t size)
{
	ENTER;
	REAL(realloc);
	void *p = CALL(realloc)(old, size);

	RETURNED;
	log_realloc("-realloc", "+realloc", old, p, size);
	return p;
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;
	ENTER;
	NEXT(reallocarray);
	void *p = next(old, count, size);

	RETURNED;
	if (!__builtin_mul_overflow(count, size, &bytes))
		log_realloc("-reallocarray", "+reallocarray", old, p, bytes);
	return p;
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
	ENTER;
	NEXT(posix_memalign);
	const int error = next(out, alignment, size);

	RETURNED;
	if (!error)
		log_event("+posix_memalign", *out, size);
	return error;
}

#define ALIGNED(name)                                                                              \
	EXPORT void *name(size_t alignment, size_t size)                                           \
	{                                                                                          \
		ENTER;                                                                             \
		NEXT(name);                                                                        \
		void *p = next(alignment, size);                                                   \
                                                                                                   \
		RETURNED;                                                                          \
		if (p)                                                                             \
			log_event("+" #name, p, size);                                             \
		return p;                                                                          \
	}
ALIGNED(aligned_alloc)
ALIGNED(memalign)

EXPORT void *valloc(size_t size)
{
	ENTER;
	NEXT(valloc);
	void *p = next(size);

	RETURNED;
	if (p)
		log_event("+valloc", p, size);
	return p;
}

EXPORT void *pvalloc(size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	ENTER;
	NEXT(pvalloc);
	void *p = next(size);

	RETURNED;
	if (p)
		log_event("+pvalloc", p, (size + page - 1) & ~(page - 1));
	return p;
}

/* The operators, by their symbols. A throw passes through, and leaves by `entered`. */
#define NEW(name, parameters, ...)                                                                 \
	void *name parameters;                                                                     \
	EXPORT void *name parameters                                                               \
	{                                                                                          \
		ENTER;                                                                             \
		NEXT(name);                                                                        \
		void *p = next(__VA_ARGS__);                                                       \
                                                                                                   \
		RETURNED;                                                                          \
		if (p)                                                                             \
			log_event("+" #name, p, size);                                             \
		return p;                                                                          \
	}
#define DELETE(name, parameters, ...)                                                              \
	void name parameters;                                                                      \
	EXPORT void name parameters                                                                \
	{                                                                                          \
		ENTER;                                                                             \
		NEXT(name);                                                                        \
		release(&call, "-" #name, p);                                                      \
		next(__VA_ARGS__);                                                                 \
		RETURNED;                                                                          \
	}
NEW(_Znwm, (size_t size), size)
NEW(_Znam, (size_t size), size)
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), size, tag)
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), size, tag)
NEW(_ZnwmSt11align_val_t, (size_t size, size_t a), size, a)
NEW(_ZnamSt11align_val_t, (size_t size, size_t a), size, a)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, const void *tag), size, a, tag)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, const void *tag), size, a, tag)
DELETE(_ZdlPv, (void *p), p)
DELETE(_ZdaPv, (void *p), p)
DELETE(_ZdlPvm, (void *p, size_t size), p, size)
DELETE(_ZdaPvm, (void *p, size_t size), p, size)
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *tag), p, tag)
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *tag), p, tag)
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t a), p, a)
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t a), p, a)
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t size, size_t a), p, size, a)
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t size, size_t a), p, size, a)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *tag), p, a, tag)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *tag), p, a, tag)
