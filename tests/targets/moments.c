/* moments: allocations before main, after it, at the end of a thread: by constructors, by handlers of atexit, by
 * destructors of the program and of thread-specific data, by a signal handler that runs in the allocating thread. The
 * gate is before all of them; functrace stays attached to the end. */
#include "target.h"

static pthread_key_t key;

__attribute__((constructor(101))) static void first(void)
{
	gate();
	free(malloc(36301));
}

__attribute__((constructor(102))) static void second(void)
{
	void *p = calloc(1, 36302); /* for a destructor */

	CHECK(p);
	CHECK(pthread_key_create(&key, NULL) == 0);
	CHECK(pthread_setspecific(key, p) == 0);
}

__attribute__((destructor)) static void last(void)
{
	free(pthread_getspecific(key));
	free(malloc(36303));
	void *p = malloc(36304); /* never released: this is the last function */

	KEEP(p);
}

static void at_exit(void)
{
	free(malloc(36305));
}

static void at_exit_again(void)
{
	CHECK(atexit(at_exit) == 0); /* while the handlers run */
	free(malloc(36306));
}

/* The destructor sets the data again, so that it is called again (PTHREAD_DESTRUCTOR_ITERATIONS). */
static void thread_data_gone(void *data)
{
	char *p = data;

	if (p[0]++ < 2) {
		char *q = realloc(p, 36308);

		CHECK(q);
		CHECK(pthread_setspecific(key, q) == 0);
		return;
	}
	free(p);
}

static void on_signal(int number)
{
	(void)number;
	free(malloc(36309));
}

static void *thread(void *unused)
{
	pthread_key_t own;
	char *p = calloc(1, 36307);

	CHECK(p);
	CHECK(pthread_key_create(&own, thread_data_gone) == 0);
	key = own;
	CHECK(pthread_setspecific(key, p) == 0);
	CHECK(raise(SIGUSR1) == 0);
	return unused;
}

int main(void)
{
	const unsigned rounds = 8;
	const pthread_key_t programs = key;

	CHECK(atexit(at_exit_again) == 0);
	signal(SIGUSR1, on_signal);
	for (unsigned i = 0; i < rounds; i++) {
		pthread_t tid;

		CHECK(pthread_create(&tid, NULL, thread, NULL) == 0);
		CHECK(pthread_join(tid, NULL) == 0);
		CHECK(pthread_key_delete(key) == 0);
	}
	key = programs;
	expect_alloc(1, 36301, "malloc");
	expect_release(1, 36301, "free");
	expect_alloc(1, 36302, "calloc");
	expect_release(1, 36302, "free");
	expect_alloc(1, 36303, "malloc");
	expect_release(1, 36303, "free");
	expect_alloc(1, 36304, "malloc");
	expect_live(1, 36304);
	expect_alloc(1, 36305, "malloc");
	expect_release(1, 36305, "free");
	expect_alloc(1, 36306, "malloc");
	expect_release(1, 36306, "free");
	expect_alloc(rounds, 36307, "calloc");
	expect_release(rounds, 36307, "realloc");
	expect_alloc(2 * rounds, 36308, "realloc");
	expect_release(rounds, 36308, "realloc");
	expect_release(rounds, 36308, "free");
	expect_alloc(rounds, 36309, "malloc");
	expect_release(rounds, 36309, "free");
	say("expect stack 36301 first");
	say("expect stack 36309 on_signal");
	return 0;
}
