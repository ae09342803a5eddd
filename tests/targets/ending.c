/* ending HOW: the process ends while calls are in flight. One thread ends it within valloc, which the program defines
 * itself. Other threads are within valloc, too, asleep or busy. A call that has not returned is no event.
 *
 * HOW is exit, _exit, abort, segv, term, kill, exec (of a program that ends normally), return (from main, with the
 * others in their calls), or last (the ending thread is not the first one). */
#include "target.h"
#include <stdatomic.h>
#include <sys/resource.h>

#define OTHERS 3

static const char *how;
static atomic_uint within;
static _Thread_local int ends;

static void end(void)
{
	if (!strcmp(how, "exit") || !strcmp(how, "last"))
		exit(5);
	if (!strcmp(how, "_exit"))
		_exit(5);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "exec"))
		execl("/proc/self/exe", "ending", "after", (char *)NULL);
}

NOINLINE void *valloc(size_t size)
{
	if (ends) {
		end();
		return &within; /* with `return` */
	}
	atomic_fetch_add(&within, 1);
	if (size & 1)
		for (;;)
			pause();
	for (;;)
		;
}

static void *other(void *data)
{
	return valloc(37100 + (uintptr_t)data);
}

static void *last(void *data)
{
	ends = 1;
	return valloc(37200 + (uintptr_t)data);
}

static void begin(void *(*run)(void *), unsigned i)
{
	pthread_t tid;

	CHECK(pthread_create(&tid, NULL, run, (void *)(uintptr_t)i) == 0);
}

int main(int argc, char **argv)
{
	const struct rlimit none = {0, 0};

	how = argc > 1 ? argv[1] : "exit";
	setrlimit(RLIMIT_CORE, &none);
	if (!strcmp(how, "after"))
		return 6;
	gate();
	for (unsigned i = 0; i < 10; i++)
		free(malloc(37002));
	void *p = malloc(37003);

	KEEP(p);
	expect_alloc(10, 37002, "malloc");
	expect_release(10, 37002, "free");
	expect_alloc(1, 37003, "malloc");
	expect_live(1, 37003);
	for (unsigned i = 0; i < OTHERS; i++)
		begin(other, i);
	while (atomic_load(&within) < OTHERS)
		sleep_ms(1);
	if (!strcmp(how, "last")) {
		begin(last, 0);
		for (;;)
			pause();
	}
	if (!strcmp(how, "return")) {
		expect_alloc(1, 37200, "valloc");
		expect_live(1, 37200);
	}
	ends = 1;
	p = valloc(37200);
	KEEP(p);
	return 4;
}
