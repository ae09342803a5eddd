/* Allocates the blocks of heaps.c: by all functions that return blocks, in any of the threads. */
#ifndef HEAPS_BLOCKS_H
#define HEAPS_BLOCKS_H

#include "heaps.h"
#include <semaphore.h>
#ifndef NO_LIBRARIES
#include <dlfcn.h>
#endif

#define WORKERS_MAX 4

/* In the order of HOWS in tests/generate/heap_plans.py. */
enum how {
	BY_MALLOC,
	BY_CALLOC,
	BY_GROWING,
	BY_SHRINKING,
	BY_MEMALIGN,
	BY_POSIX_MEMALIGN,
	BY_ALIGNED_ALLOC,
	BY_STRDUP,
	BY_SECOND_LIBRARY,
	BY_NEW,
	BY_NEW_ARRAY,
	BY_NEW_DERIVED
};

typedef void *(*malloc_function)(size_t);
typedef void (*free_function)(void *);
typedef size_t (*size_function)(void *);

static malloc_function second_malloc;
static free_function second_free;
static size_function second_size;
static volatile unsigned char is_second[BLOCKS_MAX];

static NOINLINE void load_second(void)
{
#ifdef LM_ID_NEWLM
	void *library = second_malloc ? NULL : dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);

	if (second_malloc)
		return;
	CHECK(library);
	second_malloc = (malloc_function)(uintptr_t)dlsym(library, "malloc");
	second_free = (free_function)(uintptr_t)dlsym(library, "free");
	second_size = (size_function)(uintptr_t)dlsym(library, "malloc_usable_size");
	CHECK(second_malloc && second_free && second_size);
#endif
}

#ifdef __cplusplus
#include <new>
struct Element {
	int parts[4];
	~Element()
	{
		parts[0] = 0;
	}
};
struct First {
	virtual ~First()
	{
	}
	virtual void one()
	{
	}
	long a[3];
};
struct Second {
	virtual ~Second()
	{
	}
	virtual void two()
	{
	}
	long b[3];
};
struct Derived : First, Second {
	void one()
	{
	}
	void two()
	{
	}
};

static NOINLINE void *make_new(enum how how, size_t size, long *inside)
{
	if (how == BY_NEW_DERIVED) {
		Derived *made = new Derived();

		*inside = (long)((char *)static_cast<Second *>(made) - (char *)made);
		return made;
	}
	if (how == BY_NEW_ARRAY) {
		Element *made = new Element[(size - sizeof(size_t)) / sizeof(Element)];

		*inside = sizeof(size_t);
		return (char *)made - sizeof(size_t);
	}
	return operator new(size);
}
#else
static void *make_new(enum how how, size_t size, long *inside)
{
	(void)inside;
	CHECK(how != how);
	return malloc(size);
}
#endif

static NOINLINE void *make_copy(size_t size)
{
	char *text = (char *)malloc(size);

	memset(text, 'a', size - 1);
	text[size - 1] = '\0';
	void *copy = strdup(text);

	memset(text, 1, size);
	free(text);
	return copy;
}

static NOINLINE void *make_block(enum how how, size_t size, long *inside)
{
	void *p = NULL;

	switch (how) {
	case BY_CALLOC:
		return calloc(1, size);
	case BY_GROWING:
		p = malloc(size / 2 + 1);
		memset(p, 1, size / 2 + 1);
		return realloc(p, size);
	case BY_SHRINKING:
		p = malloc(size * 2);
		memset(p, 1, size * 2);
		return realloc(p, size);
	case BY_MEMALIGN:
		return memalign(64, size);
	case BY_POSIX_MEMALIGN:
		CHECK(posix_memalign(&p, 256, size) == 0);
		return p;
	case BY_ALIGNED_ALLOC:
		return aligned_alloc(4096, size);
	case BY_STRDUP:
		return make_copy(size);
	case BY_SECOND_LIBRARY:
		return second_malloc(size);
	case BY_MALLOC:
		return malloc(size);
	default:
		return make_new(how, size, inside);
	}
}

/* Allocates a block, fills it, and logs its address, its usable size, and the requested size. */
static NOINLINE void plant_block(unsigned number, enum how how, size_t size)
{
	long inside = 0;
	void *p = make_block(how, size, &inside);

	CHECK(p);
	is_second[number] = how == BY_SECOND_LIBRARY;
	const size_t usable = is_second[number] ? second_size(p) : malloc_usable_size(p);

	/* Fill the block. Leave out an object, because of its vtable pointers, and the number of elements before an
	 * array. */
	if (how == BY_NEW_ARRAY)
		memset((char *)p + inside, 1, usable - (size_t)inside);
	else if (how != BY_NEW_DERIVED)
		memset(p, 1, usable);
	hide(number, p, size);
	log_line('b', (uintptr_t)p, usable, number);
	log_line('s', size, (uintptr_t)inside, number);
	p = NULL;
	USED(&p);
}

static NOINLINE void free_block(unsigned number, int is_cleared)
{
	char *p = shown(number, 0);

	if (is_cleared)
		memset(p, 0, sizes[number]);
	log_line('f', (uintptr_t)p, 0, number);
	sixteenths[number] = 0;
	(is_second[number] ? second_free : free)(p);
	p = NULL;
	USED(&p);
}

/* ---- Other threads ---- */

static struct worker {
	sem_t wanted, done;
	pthread_t thread;
	int is_there;
	int (*volatile work)(unsigned, unsigned, size_t);
	volatile unsigned number, how;
	volatile size_t size;
} workers[WORKERS_MAX];

static int work_plant(unsigned number, unsigned how, size_t size)
{
	plant_block(number, (enum how)how, size);
	return 1;
}

static int work_free(unsigned number, unsigned is_cleared, size_t size)
{
	(void)size;
	free_block(number, (int)is_cleared);
	return 1;
}

static int work_end(unsigned number, unsigned how, size_t size)
{
	return number + how + size ? 0 : 0;
}

static void *serve(void *data)
{
	struct worker *worker = (struct worker *)data;

	for (int goes_on = 1; goes_on;) {
		while (sem_wait(&worker->wanted))
			;
		goes_on = worker->work(worker->number, worker->how, worker->size);
		wipe();
		sem_post(&worker->done);
	}
	return NULL;
}

/* Does the work in thread `which`; 0: in this one. */
static NOINLINE void do_in(unsigned which, int (*work)(unsigned, unsigned, size_t), unsigned number, unsigned how,
			   size_t size)
{
	struct worker *worker = &workers[which % WORKERS_MAX];

	if (!which) {
		work(number, how, size);
		wipe();
		return;
	}
	if (!worker->is_there) {
		CHECK(sem_init(&worker->wanted, 0, 0) == 0 && sem_init(&worker->done, 0, 0) == 0);
		CHECK(pthread_create(&worker->thread, NULL, serve, worker) == 0);
		worker->is_there = 1;
	}
	worker->work = work;
	worker->number = number;
	worker->how = how;
	worker->size = size;
	CHECK(sem_post(&worker->wanted) == 0);
	while (sem_wait(&worker->done))
		;
	if (work == work_end) {
		CHECK(pthread_join(worker->thread, NULL) == 0);
		worker->is_there = 0;
	}
}

#endif
