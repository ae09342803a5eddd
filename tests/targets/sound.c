/* sound THREADS PERIOD_US [signals|trap-ignored|trap-handled]: threads that allocate, with a pause after each round,
 * and check that all their blocks and data are unharmed; until standard input ends. Meanwhile each gets signals with
 * handlers, or the program uses SIGTRAP itself. */
#include "target.h"
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_bool stop;
static atomic_uint handled;
static unsigned period;

static void count(int sig)
{
	(void)sig;
	atomic_fetch_add(&handled, 1);
}

static void fill(unsigned char *p, size_t size, unsigned char value)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (unsigned char)(value + i);
}

static void check(const unsigned char *p, size_t size, unsigned char value)
{
	for (size_t i = 0; i < size; i++)
		CHECK(p[i] == (unsigned char)(value + i));
}

static NOINLINE void round_of(size_t size, unsigned char value)
{
	unsigned char *a = malloc(size), *b = calloc(7, size / 7), *c = NULL;

	KEEP(a);
	KEEP(b);
	CHECK(a && b && (uintptr_t)a % _Alignof(max_align_t) == 0 && (uintptr_t)b % _Alignof(max_align_t) == 0);
	CHECK(malloc_usable_size(a) >= size && malloc_usable_size(b) >= size / 7 * 7);
	for (size_t i = 0; i < size / 7 * 7; i++)
		CHECK(b[i] == 0);
	fill(a, size, value);
	fill(b, size / 7 * 7, (unsigned char)(value + 1));
	a = realloc(a, size * 2);
	CHECK(a);
	check(a, size, value);
	CHECK(posix_memalign((void **)&c, 256, size) == 0 && (uintptr_t)c % 256 == 0);
	fill(c, size, (unsigned char)(value + 2));
	check(b, size / 7 * 7, (unsigned char)(value + 1));
	free(b);
	char *s = strdup("the words that are copied");
	CHECK(s && strcmp(s, "the words that are copied") == 0);
	check(a, size, value);
	check(c, size, (unsigned char)(value + 2));
	free(a);
	free(s);
	free(c);
}

static void *work(void *data)
{
	const unsigned char number = (unsigned char)(uintptr_t)data;

	for (unsigned n = 0; !atomic_load(&stop); n++) {
		round_of(64 + n % 300, (unsigned char)(number + n));
		if (period)
			nanosleep(&(struct timespec){period / 1000000, (long)(period % 1000000) * 1000}, NULL);
	}
	return NULL;
}

static const char *mode = "";

static void *send(void *data)
{
	pthread_t *tid = data;

	while (!atomic_load(&stop))
		for (size_t i = 0; tid[i]; i++) {
			pthread_kill(tid[i], SIGUSR1);
			pthread_kill(tid[i], SIGALRM);
			nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned threads = argument(argc, argv, 1, 1);
	static pthread_t tid[130];
	pthread_t sender;
	struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
	char byte;

	period = argument(argc, argv, 2, 0);
	mode = argc > 3 ? argv[3] : mode;
	CHECK(threads >= 1 && threads <= 128);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (!strcmp(mode, "trap-ignored"))
		signal(SIGTRAP, SIG_IGN);
	if (!strcmp(mode, "trap-handled"))
		sigaction(SIGTRAP, &action, NULL);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, (void *)(uintptr_t)i) == 0);
	if (!strcmp(mode, "signals"))
		CHECK(pthread_create(&sender, NULL, send, tid) == 0);
	say("ready");
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
	atomic_store(&stop, 1);
	if (!strcmp(mode, "signals"))
		pthread_join(sender, NULL);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(tid[i], NULL);
	say("sound");
	return 0;
}
