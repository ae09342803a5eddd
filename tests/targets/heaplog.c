/* A logger of malloc's blocks: preloaded, it records all blocks of the process. On SIGUSR1 it writes them to the file
 * HEAPLOG/PID: a line of the figures of mallinfo2(3), or of mallinfo(3) if that is all there is, then for each block
 * its address and malloc_usable_size(3), and "end". musl has no figures: the first line is empty.
 *
 * A static program is linked with the logger instead (HEAPLOG_STATIC); with musl the linker's --wrap replaces malloc
 * and its related functions. If HEAPLOG_BASE is set, the logger prints "base" and the process id at the beginning and
 * waits for a byte, so that a test can look for blocks from before the logger, which are not recorded.
 *
 * The table of the blocks is in a mapping, with inverted addresses, so that a scan does not take them for pointers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define SLOTS  ((size_t)1 << 20)
#define GONE   1 /* a slot whose block was released */

/* mallinfo2() exists since 2.33. */
struct figures {
	size_t of[10];
};

#ifdef __GLIBC__
extern struct figures figures_of_malloc(void) __asm__("mallinfo2") __attribute__((weak));
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

#ifdef HEAPLOG_STATIC
extern void *__libc_memalign(size_t, size_t);
#endif
#elif defined(HEAPLOG_STATIC)
extern void *__real_malloc(size_t), *__real_calloc(size_t, size_t), *__real_realloc(void *, size_t);
extern void *__real_aligned_alloc(size_t, size_t);
extern void __real_free(void *);
#define __libc_malloc   __real_malloc
#define __libc_calloc   __real_calloc
#define __libc_realloc  __real_realloc
#define __libc_memalign __real_aligned_alloc
#define __libc_free     __real_free
#define malloc          __wrap_malloc
#define calloc          __wrap_calloc
#define realloc         __wrap_realloc
#define reallocarray    __wrap_reallocarray
#define memalign        __wrap_memalign
#define aligned_alloc   __wrap_aligned_alloc
#define posix_memalign  __wrap_posix_memalign
#define valloc          __wrap_valloc
#define free            __wrap_free
#else
#define NEXT(type, name, ...)                                                                                          \
	({                                                                                                             \
		static type (*next_)(__VA_ARGS__);                                                                     \
		if (!next_)                                                                                            \
			next_ = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name);                                          \
		next_;                                                                                                 \
	})
#define __libc_malloc  NEXT(void *, "malloc", size_t)
#define __libc_calloc  NEXT(void *, "calloc", size_t, size_t)
#define __libc_realloc NEXT(void *, "realloc", void *, size_t)
#define __libc_free    NEXT(void, "free", void *)
#define MEMALIGN       "aligned_alloc" /* musl's memalign calls aligned_alloc by its name, which is the logger's */
#endif
#ifndef MEMALIGN
#define MEMALIGN "memalign"
#endif

static uintptr_t *table;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static size_t used; /* slots that are not 0 */
static char text[65536];
static size_t length;
static _Thread_local unsigned depth
	__attribute__((tls_model("initial-exec"))); /* > 0: in the C library, whose own calls are not logged */

#define INNER(call)                                                                                                    \
	({                                                                                                             \
		depth++;                                                                                               \
		void *const inner_ = (call);                                                                           \
		depth--;                                                                                               \
		inner_;                                                                                                \
	})

static void take(void)
{
	while (atomic_flag_test_and_set(&lock))
		sched_yield();
	if (!table) {
		table = mmap(NULL, SLOTS * sizeof(*table), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (table == MAP_FAILED)
			_exit(92);
	}
}

static size_t first_slot(const void *p)
{
	return (size_t)((uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15u >> 44) % SLOTS;
}

static void *add(void *p)
{
	const int error = errno;

	if (!p || depth)
		return p;
	take();
	size_t slot = first_slot(p);

	while (table[slot] > GONE)
		slot = (slot + 1) % SLOTS;
	used += table[slot] == 0;
	table[slot] = ~(uintptr_t)p;
	if (used > SLOTS * 3 / 4)
		_exit(93);
	atomic_flag_clear(&lock);
	errno = error;
	return p;
}

static void leave(void *p)
{
	const int error = errno;

	if (!p || depth)
		return;
	take();
	for (size_t slot = first_slot(p); table[slot]; slot = (slot + 1) % SLOTS)
		if (table[slot] == ~(uintptr_t)p) {
			table[slot] = GONE;
			break;
		}
	atomic_flag_clear(&lock);
	errno = error;
}

static void put(int fd, const char *form, ...)
{
	va_list args;

	if (length + 256 > sizeof(text)) {
		if (write(fd, text, length) != (ssize_t)length)
			_exit(94);
		length = 0;
	}
	va_start(args, form);
	length += (size_t)vsnprintf(text + length, 256, form, args);
	va_end(args);
}

static void put_figures(int fd)
{
#ifdef __GLIBC__
	if (figures_of_malloc) {
		const struct figures m = figures_of_malloc();

		for (unsigned i = 0; i < 10; i++)
			put(fd, "%zu%c", m.of[i], i < 9 ? ' ' : '\n');
		return;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	const struct mallinfo m = mallinfo();
#pragma GCC diagnostic pop

	put(fd, "%u %u %u %u %u %u %u %u %u %u\n", m.arena, m.ordblks, m.smblks, m.hblks, m.hblkhd, m.usmblks,
	    m.fsmblks, m.uordblks, m.fordblks, m.keepcost);
#else
	put(fd, "\n");
#endif
}

static void write_all(int signal)
{
	const int error = errno;
	char path[4096], whole[4000];

	(void)signal;
	snprintf(whole, sizeof(whole), "%s/%d", getenv("HEAPLOG"), getpid());
	snprintf(path, sizeof(path), "%s.part", whole);
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		_exit(95);
	put_figures(fd);
	for (size_t i = 0; i < SLOTS; i++)
		if (table && table[i] > GONE)
			put(fd, "%zx %zu\n", (size_t)~table[i], malloc_usable_size((void *)~table[i]));
	put(fd, "end\n");
	if (write(fd, text, length) != (ssize_t)length || close(fd) || rename(path, whole))
		_exit(96);
	length = 0;
	errno = error;
}

__attribute__((constructor)) static void begin(void)
{
	struct sigaction action = {.sa_handler = write_all, .sa_flags = SA_RESTART};
	char line[32], byte;

	if (getenv("HEAPLOG"))
		sigaction(SIGUSR1, &action, NULL);
	if (!getenv("HEAPLOG_BASE"))
		return;
	const int size = snprintf(line, sizeof(line), "base %d\n", (int)getpid());

	if (write(STDOUT_FILENO, line, (size_t)size) != size || read(STDIN_FILENO, &byte, 1) != 1)
		_exit(97);
}

EXPORT void *malloc(size_t size)
{
	return add(INNER(__libc_malloc(size)));
}

EXPORT void *calloc(size_t count, size_t size)
{
	return add(INNER(__libc_calloc(count, size)));
}

EXPORT void free(void *p)
{
	leave(p);
	depth++;
	__libc_free(p);
	depth--;
}

/* The old block leaves the table first, because another thread may get it before this call returns. */
EXPORT void *realloc(void *old, size_t size)
{
	leave(old);
	void *p = INNER(__libc_realloc(old, size));

	if (!p && size)
		add(old);
	return add(p);
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
#ifdef HEAPLOG_STATIC
	return add(INNER(__libc_memalign(alignment, size)));
#else
	static void *(*next)(size_t, size_t);

	if (!next)
		next = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, MEMALIGN);
	return add(INNER(next(alignment, size)));
#endif
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *const p = memalign(alignment, size);

	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

EXPORT void *valloc(size_t size)
{
	return memalign((size_t)getpagesize(), size);
}

EXPORT void *pvalloc(size_t size)
{
	const size_t page = (size_t)getpagesize();

	return memalign(page, (size + page - 1) / page * page);
}
