/* leaving HOW: a traced function that never returns. The program's own valloc is left by longjmp, siglongjmp out of a
 * handler, pthread_exit or cancellation; all later allocations, deeper and less deep on the stack, must be recorded.
 * Or the program itself ends or executes another one there: by exit (whose handlers allocate), _exit, abort, or exec
 * in a handler, with threads at work. */
#include "target.h"
#include <setjmp.h>

static sigjmp_buf out;
static const char *how;
static volatile int in_valloc;

static void *busy(void *unused)
{
	for (;;) {
		free(malloc(100));
		sleep_ms(1);
	}
	return unused;
}

static void at_exit(void)
{
	free(malloc(33205));
}

/* The program ends here. */
static void leave_program(void)
{
	pthread_t tid;

	for (unsigned i = 0; i < 3; i++)
		CHECK(pthread_create(&tid, NULL, busy, NULL) == 0);
	sleep_ms(2);
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "_exit"))
		_exit(8);
	if (!strcmp(how, "abort"))
		abort();
	unsetenv("GATE"); /* it was for the old program */
	execl("/proc/self/exe", "leaving", "longjmp", "3", (char *)NULL);
	CHECK(!"exec");
}

static void leave(int signal)
{
	(void)signal;
	if (!strcmp(how, "exec"))
		leave_program();
	siglongjmp(out, 1);
}

NOINLINE void *valloc(size_t size)
{
	static char blocks[1000][16];
	static unsigned given;

	if (size != 33201)
		return blocks[given++ % 1000];
	if (!strcmp(how, "longjmp"))
		longjmp(out, 1);
	if (!strcmp(how, "exit") || !strcmp(how, "_exit") || !strcmp(how, "abort"))
		leave_program();
	if (!strcmp(how, "signal") || !strcmp(how, "exec"))
		raise(SIGUSR1);
	if (!strcmp(how, "pthread_exit"))
		pthread_exit(NULL);
	in_valloc = 1;
	for (;;)
		sleep(1); /* cancelled here */
	return NULL;
}

static NOINLINE void deeper(unsigned levels)
{
	volatile char room[200];

	room[0] = (char)levels;
	if (levels)
		deeper(levels - 1);
	else
		free(malloc(33202));
	room[1] = room[0];
}

static void *thread(void *unused)
{
	void *p = valloc(33201);

	KEEP(p);
	return unused;
}

static NOINLINE void once(void)
{
	if (!strncmp(how, "pthread_exit", 12) || !strcmp(how, "cancel")) {
		pthread_t tid;

		in_valloc = 0;
		CHECK(pthread_create(&tid, NULL, thread, NULL) == 0);
		if (!strcmp(how, "cancel")) {
			while (!in_valloc)
				sleep_ms(1);
			pthread_cancel(tid);
		}
		pthread_join(tid, NULL);
	} else if (!sigsetjmp(out, 1)) {
		void *p = valloc(33201);

		KEEP(p);
	}
}

int main(int argc, char **argv)
{
	const unsigned rounds = argument(argc, argv, 2, 20);

	how = argc > 1 ? argv[1] : "longjmp";
	signal(SIGUSR1, leave);
	gate();
	if (!strcmp(how, "exit") || !strcmp(how, "_exit") || !strcmp(how, "abort") || !strcmp(how, "exec")) {
		free(malloc(33206));
		expect_alloc(1, 33206, "malloc");
		expect_release(1, 33206, "free");
		if (!strcmp(how, "exit")) {
			CHECK(atexit(at_exit) == 0);
			expect_alloc(1, 33205, "malloc");
			expect_release(1, 33205, "free");
		}
		once();
	}
	for (unsigned i = 0; i < rounds; i++) {
		once();
		free(malloc(33203));
		deeper(i % 10);
		void *p = valloc(33204); /* the same function, now returning */
		KEEP(p);
	}
	expect_alloc(rounds, 33202, "malloc");
	expect_release(rounds, 33202, "free");
	expect_alloc(rounds, 33203, "malloc");
	expect_release(rounds, 33203, "free");
	expect_alloc(rounds, 33204, "valloc");
	gate();
	return 0;
}
