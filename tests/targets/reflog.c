/* The reference logger: preloaded into a traced program, it logs every call of the malloc family and of operator new
 * and delete, so that a trace of the same run can be compared with the log event by event (tests/scenarios/reflog.py,
 * strict.py). A static program is linked with it instead: REFLOG_STATIC.
 *
 * free() is logged when it is called, the other functions of the malloc family when they return. An outer call (new
 * that calls malloc, reallocarray that calls realloc) and its inner call are one event with the name of the outer one:
 * delete logs the release before its inner call, the others rename the event when they return. So a call that is left
 * by an exception, a longjmp or the end of its thread has no effect on the log, and the nesting of calls does not
 * matter.
 *
 * A call that fails, or releases NULL, is no event. realloc is a release and an allocation. The release has its place
 * in the order of all threads where realloc was called: another thread may get the block before realloc returns. */
#include "reflog.h"

static __thread FAST_LOCAL const void *releasing; /* the block whose release a delete has already logged */

/* Renames this thread's last event about the block, if it is not older than `since`. */
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

/* A call begins that may contain other calls. */
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

#ifdef REFLOG_STATIC /* then glibc's second names are called */
#define NEXT(name) (void)0
#else
/* The next definition of the function; looked up once (a successful lookup allocates nothing). */
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

/* OTHER is the function's second name in a static program, else its next definition, because a shared glibc does not
 * export these second names. */
#ifdef REFLOG_STATIC
extern int __posix_memalign(void **, size_t, size_t);
extern void *__libc_memalign(size_t, size_t), *__libc_valloc(size_t), *__libc_pvalloc(size_t);
#define OTHER(name, second) second
#else
#define OTHER(name, second) next
#endif

EXPORT void *malloc(size_t size)
{
	void *p = __libc_malloc(size);

	if (p)
		log_event(next_sequence(), "+malloc", p, size);
	return p;
}

/* A release is an event at its entry, because another thread may get the block before it returns. */
EXPORT void free(void *p)
{
	if (p && p != releasing)
		log_event(next_sequence(), "-free", p, 0);
	releasing = NULL;
	__libc_free(p);
}

EXPORT void *calloc(size_t count, size_t size)
{
	ENTER;
	void *p = __libc_calloc(count, size);

	allocated(entered, "+calloc", p, count * size);
	return p;
}

EXPORT void *realloc(void *old, size_t size)
{
	ENTER;
	void *p = __libc_realloc(old, size);

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

#ifndef REFLOG_STATIC /* a static program keeps its own operators */
/* The operators, by their symbols. Exceptions pass through. */
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
/* The names contain a letter for size_t. */
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
