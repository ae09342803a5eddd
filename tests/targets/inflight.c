/* inflight N THREADS: N calls of a traced function are in flight at once, at most 1000. The function is the program's
 * own valloc (functrace probes a function in every object that defines it), which switches to another stack before it
 * returns. So N coroutines are within a call. The calls return in another order, with THREADS > 1 also on other
 * threads. */
#include "target.h"
#include <sys/mman.h>
#include <ucontext.h>

#define MOST  1000
#define STACK 16384

static ucontext_t coroutine[MOST], home[MOST];
static char *stacks;
static void *got[MOST];
static unsigned count, threads;
static __thread unsigned current;

NOINLINE void *valloc(size_t size)
{
	const unsigned me = current;
	static char blocks[MOST][16] __attribute__((aligned(16)));

	(void)size;
	swapcontext(&coroutine[me], &home[me]); /* leaves the stack within the call */
	return blocks[me];
}

static void run(unsigned me)
{
	void *p = malloc(33101);

	got[me] = valloc(33102);
	free(p);
}

/* Starts or resumes a coroutine. It calls valloc on the first thread, and returns from it on the thread that resumes
 * it. */
static NOINLINE void enter(unsigned me)
{
	current = me;
	swapcontext(&home[me], &coroutine[me]);
}

static void *resume(void *data)
{
	const unsigned first = (unsigned)(uintptr_t)data;

	for (unsigned i = first; i < count; i += threads)
		enter((i * 7919 + 13) % count); /* another order; count and 7919 have no common divisor */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t tid[8];

	count = argument(argc, argv, 1, MOST);
	threads = argument(argc, argv, 2, 1);
	CHECK(count >= 1 && count <= MOST && threads >= 1 && threads <= 8);
	stacks = mmap(NULL, (size_t)MOST * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		      -1, 0);
	CHECK(stacks != MAP_FAILED);
	gate();
	for (unsigned i = 0; i < count; i++) {
		CHECK(getcontext(&coroutine[i]) == 0);
		coroutine[i].uc_stack.ss_sp = stacks + (size_t)i * STACK;
		coroutine[i].uc_stack.ss_size = STACK;
		coroutine[i].uc_link = &home[i];
		makecontext(&coroutine[i], (void (*)(void))run, 1, i);
	}
	for (unsigned i = 0; i < count; i++)
		enter(i); /* up to the middle of valloc */
	for (unsigned i = 0; i < count; i++)
		CHECK(!got[i]);
	for (unsigned i = 1; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, resume, (void *)(uintptr_t)i) == 0);
	resume(NULL);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(tid[i], NULL);
	for (unsigned i = 0; i < count; i++)
		CHECK(got[i]);
	expect_alloc(count, 33101, "malloc");
	expect_release(count, 33101, "free");
	expect_alloc(count, 33102, "valloc");
	gate();
	return 0;
}
