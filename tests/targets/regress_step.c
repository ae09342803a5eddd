/* regress_step [leave]: several threads whose calls return to an instruction that can only be stepped in place, with
 * all tasks stopped (a load relative to eip, for which the program must be below 4 GiB).
 *
 * leave: the leader has exited before; a tracer that waits for the leader to stop would wait for ever. */
#include "target.h"

#define THREADS 3
#define CALLS   50

#ifdef __x86_64__

__attribute__((used)) static uint32_t word = 1;

static NOINLINE void *call_malloc(size_t n)
{
	void *result;

	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "sub $256, %%rsp\n\t"
			 "and $-16, %%rsp\n\t"
			 "call malloc\n\t"
			 "movl word(%%eip), %%ecx\n\t"
			 "mov %%rbx, %%rsp"
			 : "=a"(result), "+D"(n)
			 :
			 : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	return result;
}

static pthread_barrier_t barrier;

static void *work(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	sleep_ms(50); /* the leader has ended */
	for (unsigned i = 0; i < CALLS; i++) {
		void *p = call_malloc(35001);

		CHECK(p);
		free(p);
	}
	return NULL;
}

#endif

int main(int argc, char **argv)
{
#ifdef __x86_64__
	pthread_t threads[THREADS];

	expect_alloc(THREADS * CALLS, 35001, "malloc");
	expect_release(THREADS * CALLS, 35001, "free");
	gate();
	CHECK(!pthread_barrier_init(&barrier, NULL, THREADS + 1));
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, NULL));
	pthread_barrier_wait(&barrier);
	if (argc > 1 && !strcmp(argv[1], "leave"))
		pthread_exit(NULL);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
#else
	(void)argc, (void)argv;
	say("skip: nothing but x86-64 has such an instruction");
#endif
	return 0;
}
