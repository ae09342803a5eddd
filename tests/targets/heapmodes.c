/* A heap in the states that malloc can have: heapmodes MODE SEED.
 *
 *   one         blocks of many sizes, by four functions, from one thread; some are released
 *   threads     the same from eight threads, which have arenas of their own
 *   exited      the same from threads that have ended since
 *   mapped      large blocks, most of them mmapped chunks, also by memalign, and realloc of these
 *   aligned     memalign of 16 to 65536
 *   fragments   every other one of many is released
 *   sbrk        the program itself calls sbrk(2) between allocations
 *   blocked     from some time on brk(2) cannot enlarge the heap
 *   both        sbrk and blocked
 *   spread      an arena of a thread with several heaps
 *   fork        by the first thread and four others, then in a forked child, which has only the first
 *
 * Prints "ready" and the process id when the state is reached and all threads sleep, and ends with the standard input.
 */
#include "target.h"
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define SLOTS        3000
#define THREADS      8
#define SPREAD_SLOTS 3000

static void *slots[THREADS + 1][SLOTS], *spread_slots[SPREAD_SLOTS];
static unsigned long seed;
static atomic_uint ready;

struct draw {
	uint64_t state;
};

static size_t draw(struct draw *draw, size_t below)
{
	draw->state = draw->state * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(draw->state >> 33) % below;
}

/* Returns a random size below 40,000: most are small. */
static size_t draw_size(struct draw *d)
{
	const size_t kind = draw(d, 16);

	return kind < 8 ? draw(d, 200) : kind < 14 ? draw(d, 3000) : draw(d, 40000);
}

static void *make(struct draw *d, size_t size)
{
	void *p;

	size++;
	switch (draw(d, 6)) {
	case 0:
		p = calloc(1, size);
		break;
	case 1:
		p = memalign((size_t)16 << draw(d, 6), size);
		break;
	default:
		p = malloc(size);
	}
	CHECK(p);
	memset(p, 0x11, size);
	return p;
}

static void churn(unsigned number, size_t rounds)
{
	struct draw d = {seed * 100 + number};

	for (size_t i = 0; i < rounds; i++) {
		void **slot = &slots[number][draw(&d, SLOTS)];

		if (!*slot) {
			*slot = make(&d, draw_size(&d));
		} else if (draw(&d, 4) == 0) {
			*slot = realloc(*slot, draw_size(&d) + 1);
			CHECK(*slot);
		} else {
			free(*slot);
			*slot = NULL;
		}
	}
}

static void *work(void *number)
{
	churn((unsigned)(uintptr_t)number, 12000);
	atomic_fetch_add(&ready, 1);
	while (true)
		pause();
	return NULL;
}

static void *work_and_end(void *number)
{
	churn((unsigned)(uintptr_t)number, 12000);
	return NULL;
}

static void run_threads(unsigned count, void *(*function)(void *))
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < count; i++)
		CHECK(pthread_create(&threads[i], NULL, function, (void *)(uintptr_t)(i + 1)) == 0);
	if (function == work_and_end)
		for (unsigned i = 0; i < count; i++)
			CHECK(pthread_join(threads[i], NULL) == 0);
	else
		while (atomic_load(&ready) < count)
			sleep_ms(1);
}

static void map_many(void)
{
	struct draw d = {seed};

	for (unsigned i = 0; i < 400; i++) {
		void **slot = &slots[0][draw(&d, 60)];
		const size_t size = 60000 + draw(&d, 900000);

		switch (draw(&d, 4)) {
		case 0:
			free(*slot);
			*slot = malloc(size);
			break;
		case 1:
			free(*slot);
			*slot = memalign((size_t)16 << draw(&d, 16), size);
			break;
		case 2:
			free(*slot);
			*slot = NULL;
			continue;
		default:
			*slot = realloc(*slot, size);
		}
		CHECK(*slot);
	}
}

static void align_many(void)
{
	struct draw d = {seed};

	for (unsigned i = 0; i < 4000; i++) {
		void **slot = &slots[0][draw(&d, SLOTS)];

		free(*slot);
		*slot = draw(&d, 3) ? memalign((size_t)16 << draw(&d, 13), draw(&d, 5000)) : NULL;
	}
}

static void fragment(void)
{
	static void *blocks[60000];
	struct draw d = {seed};

	for (unsigned i = 0; i < 60000; i++)
		blocks[i] = malloc(16 + draw(&d, 700));
	for (unsigned i = 0; i < 60000; i += 2) {
		free(blocks[i]);
		blocks[i] = NULL;
	}
	for (unsigned i = 0; i < 60000; i += 6)
		blocks[i] = malloc(16 + draw(&d, 300));
}

static void take(void)
{
	char *p = sbrk(3 * 4096 + 40);

	CHECK(p != (char *)-1);
	memset(p, 0x21, 3 * 4096 + 40);
}

static void block(void)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	char *end = (char *)(((uintptr_t)sbrk(0) + page - 1) & ~(page - 1));

	CHECK(mmap(end, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == end);
}

static void churn_between(void (*between)(void), void (*then)(void))
{
	churn(0, 5000);
	between();
	churn(1, 8000);
	between();
	churn(2, 8000);
	then();
	for (unsigned i = 3; i <= THREADS; i++)
		churn(i, 8000);
}

static void nothing(void)
{
}

static void *spread(void *unused)
{
	struct draw d = {seed};

	(void)unused;
	for (unsigned i = 0; i < SPREAD_SLOTS; i++)
		spread_slots[i] = malloc(1000 + draw(&d, 120000));
	for (unsigned i = 0; i < SPREAD_SLOTS; i++)
		if (draw(&d, 3) == 0) {
			free(spread_slots[i]);
			spread_slots[i] = NULL;
		}
	atomic_fetch_add(&ready, 1);
	while (true)
		pause();
	return NULL;
}

static void fork_it(void)
{
	churn(0, 12000);
	run_threads(4, work);
	const pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child) {
		while (waitpid(child, &status, 0) < 0)
			CHECK(errno == EINTR);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 97);
	}
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	for (unsigned i = 0; i <= 4; i++)
		churn(i, 4000);
}

static void run_mode(const char *mode)
{
	if (!strcmp(mode, "one"))
		churn(0, 20000);
	else if (!strcmp(mode, "threads"))
		run_threads(THREADS, work);
	else if (!strcmp(mode, "exited"))
		run_threads(THREADS, work_and_end);
	else if (!strcmp(mode, "mapped"))
		map_many();
	else if (!strcmp(mode, "aligned"))
		align_many();
	else if (!strcmp(mode, "fragments"))
		fragment();
	else if (!strcmp(mode, "sbrk"))
		churn_between(take, nothing);
	else if (!strcmp(mode, "blocked"))
		churn_between(nothing, block);
	else if (!strcmp(mode, "both"))
		churn_between(take, block);
	else if (!strcmp(mode, "spread"))
		run_threads(1, spread);
	else if (!strcmp(mode, "fork"))
		fork_it();
	else
		CHECK(!"a mode");
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	seed = strtoul(argv[2], NULL, 10);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	run_mode(argv[1]);
	say("ready %d", (int)getpid());
	wait_for_input_end();
	_exit(0);
}
