/* sigstorm THREADS MS [PER_SECOND]: each thread allocates all the time; a timer sends signals;
 * the handlers leave by siglongjmp every other time. Between calls of the allocator only: a
 * handler that left it in the middle would break any program. With MS 0 it goes on until the
 * gate opens. It checks every block that it releases. */
#include "target.h"
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/time.h>

#define MOST 16

static _Thread_local sigjmp_buf back;
static _Thread_local volatile sig_atomic_t armed, pending;
static _Thread_local unsigned mine;
static atomic_uint signals, jumps, wrong;
static atomic_bool stop;
static pthread_t tid[MOST];
static unsigned threads;

static void on_signal(int signal)
{
	(void)signal;
	atomic_fetch_add(&signals, 1);
	if (armed && (++mine & 1)) {
		atomic_fetch_add(&jumps, 1);
		armed = 0;
		siglongjmp(back, 1);
	}
	pending = 1;
}

static void *work(void *data)
{
	unsigned char *volatile blocks[8] = {NULL};
	volatile unsigned i = (unsigned)(uintptr_t)data;

	sigsetjmp(back, 1);
	while (!atomic_load(&stop)) {
		const unsigned slot = i++ % 8, size = 1001 + 100 * slot;

		unsigned char *old = blocks[slot];

		if (old) {
			if (old[0] != slot || old[size - 1] != slot)
				atomic_fetch_add(&wrong, 1);
			blocks[slot] = NULL;
			free(old);
		}
		unsigned char *p = malloc(size);

		p[0] = p[size - 1] = (unsigned char)slot;
		blocks[slot] = p;
		armed = 1;     /* from here a handler may jump back to the start */
		if (pending) { /* one came at another moment */
			pending = 0;
			raise(SIGUSR1);
		}
		for (volatile unsigned n = 0; n < 10000; n++)
			;
		armed = 0;
	}
	for (unsigned slot = 0; slot < 8; slot++)
		free(blocks[slot]);
	return NULL;
}

static void *storm(void *data)
{
	const unsigned per_second = (unsigned)(uintptr_t)data;
	const struct timespec gap = {0, 1000000000 / per_second};
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (unsigned i = 0; !atomic_load(&stop); i++) {
		nanosleep(&gap, NULL);
		pthread_kill(tid[i % threads], SIGUSR1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned ms = argument(argc, argv, 2, 500), per_second = argument(argc, argv, 3, 500);
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t sender;

	threads = argument(argc, argv, 1, 8);
	CHECK(threads >= 1 && threads <= MOST);
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, (void *)(uintptr_t)i) == 0);
	CHECK(pthread_create(&sender, NULL, storm, (void *)(uintptr_t)per_second) == 0);
	if (ms) {
		sleep_ms(ms);
	} else {
		gate();
	}
	atomic_store(&stop, 1);
	pthread_join(sender, NULL);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(tid[i], NULL);
	CHECK(atomic_load(&signals) > 0 && atomic_load(&jumps) > 0);
	say("wrong %u", atomic_load(&wrong));
	return atomic_load(&wrong) != 0;
}
