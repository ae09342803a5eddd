/* A server of many processes: workers WORKERS MIB.
 *
 * Forks WORKERS, each of which fills MIB of its heap, and then allocates, releases and sleeps for a moment, again and
 * again. Each records the longest time between two rounds in which it was neither on a processor nor waiting for one:
 * it slept or was stopped. After the gate the parent prints, in microseconds, the longest of all workers' times before
 * the gate ("quiet") and while the parent waits at the gate ("attached"). */
#include "target.h"
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define WORKERS_MAX 64
#define BLOCK       2000

struct worker {
	_Alignas(64) _Atomic unsigned long longest[3]; /* while all begin, before the gate, at it */
	_Atomic unsigned long rounds;
	_Atomic bool is_done;
};

static struct shared {
	_Atomic unsigned phase; /* index of `longest`; 3: the workers stop working; 4: they end */
	struct worker workers[WORKERS_MAX];
} * shared;

static unsigned long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000000 + (unsigned long)t.tv_nsec / 1000;
}

/* Returns how long this thread has been on a processor or waited for one (proc(5)); 0 if the kernel does not report it.
 */
static unsigned long ready_us(int schedstat)
{
	unsigned long long ran, waited;
	char text[80];
	const ssize_t size = pread(schedstat, text, sizeof(text) - 1, 0);

	text[size < 0 ? 0 : size] = '\0';
	return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? (unsigned long)((ran + waited) / 1000) : 0;
}

static void work(struct worker *own, unsigned long bytes)
{
	const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
	unsigned phase;

	for (unsigned long done = 0; done < bytes; done += BLOCK)
		memset(malloc(BLOCK), 1, BLOCK);
	for (unsigned long last = 0; (phase = shared->phase) < 3;) {
		void *p = malloc(100);
		const unsigned long now = now_us() - ready_us(schedstat);

		KEEP(p);
		free(p);
		if (own->rounds++ && now > last && now - last > own->longest[phase])
			own->longest[phase] = now - last;
		last = now;
		nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
	}
	own->is_done = true;
	while (shared->phase < 4)
		sleep_ms(1);
	_exit(0);
}

static unsigned long longest(unsigned phase, unsigned count)
{
	unsigned long most = 0;

	for (unsigned i = 0; i < count; i++)
		if (shared->workers[i].longest[phase] > most)
			most = shared->workers[i].longest[phase];
	return most;
}

/* Waits until each of the `count` workers has made 400 more rounds. */
static void await_rounds(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		for (const unsigned long wanted = shared->workers[i].rounds + 400; shared->workers[i].rounds < wanted;)
			sleep_ms(1);
}

int main(int argc, char **argv)
{
	const unsigned count = argument(argc, argv, 1, 24), mib = argument(argc, argv, 2, 4);
	int status;

	CHECK(count <= WORKERS_MAX);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	for (unsigned i = 0; i < count; i++) {
		const pid_t child = fork();

		CHECK(child >= 0);
		if (!child)
			work(&shared->workers[i], (unsigned long)mib << 20);
	}
	await_rounds(count);
	shared->phase = 1;
	await_rounds(count);
	shared->phase = 2;
	gate();
	/* No worker ends before all are done, because the end of a traced process takes the tracer's time. */
	shared->phase = 3;
	for (unsigned i = 0; i < count; i++)
		while (!shared->workers[i].is_done)
			sleep_ms(1);
	shared->phase = 4;
	for (unsigned i = 0; i < count; i++)
		CHECK(wait(&status) > 0 && status == 0);
	say("quiet %lu", longest(1, count));
	say("attached %lu", longest(2, count));
	gate();
	return 0;
}
