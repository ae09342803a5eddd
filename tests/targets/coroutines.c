/* Coroutines that move between threads: a scheduler of M threads runs N coroutines; each allocates, yields, and
 * continues on the thread that resumes it. */
#include "target.h"
#include <sys/mman.h>
#include <sched.h>
#include <ucontext.h>

#define COROUTINES 24
#define THREADS    3
#define ROUNDS     12
#define STACK      (64 << 10)

static struct coroutine {
	ucontext_t context;
	ucontext_t *back;
	unsigned done;
	struct coroutine *next;
} coroutines[COROUTINES];

static struct coroutine *ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned alive = COROUTINES;

static void put(struct coroutine *c)
{
	struct coroutine **end;

	pthread_mutex_lock(&lock);
	for (end = &ready; *end; end = &(*end)->next)
		;
	c->next = NULL;
	*end = c;
	pthread_mutex_unlock(&lock);
}

static struct coroutine *take(void)
{
	pthread_mutex_lock(&lock);
	struct coroutine *c = ready;

	if (c)
		ready = c->next;
	pthread_mutex_unlock(&lock);
	return c;
}

static NOINLINE void give_way(struct coroutine *c)
{
	swapcontext(&c->context, c->back);
}

static void run(unsigned me)
{
	struct coroutine *c = &coroutines[me];

	for (unsigned i = 0; i < ROUNDS; i++) {
		void *p = malloc(36601);

		give_way(c);
		p = realloc(p, 36602); /* perhaps on another thread */
		give_way(c);
		free(p);
	}
	c->done = 1;
	give_way(c);
}

static void *schedule(void *unused)
{
	ucontext_t home;

	while (__atomic_load_n(&alive, __ATOMIC_ACQUIRE)) {
		struct coroutine *c = take();

		if (!c) {
			sched_yield();
			continue;
		}
		c->back = &home;
		swapcontext(&home, &c->context);
		if (c->done)
			__atomic_sub_fetch(&alive, 1, __ATOMIC_ACQ_REL);
		else
			put(c);
	}
	return unused;
}

int main(void)
{
	char *stacks = mmap(NULL, COROUTINES * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t tid[THREADS];

	CHECK(stacks != MAP_FAILED);
	gate();
	for (unsigned i = 0; i < COROUTINES; i++) {
		struct coroutine *c = &coroutines[i];

		CHECK(getcontext(&c->context) == 0);
		c->context.uc_stack.ss_sp = stacks + (size_t)i * STACK;
		c->context.uc_stack.ss_size = STACK;
		makecontext(&c->context, (void (*)(void))run, 1, i);
		put(c);
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&tid[i], NULL, schedule, NULL) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(tid[i], NULL);
	expect_alloc(COROUTINES * ROUNDS, 36601, "malloc");
	expect_release(COROUTINES * ROUNDS, 36601, "realloc");
	expect_alloc(COROUTINES * ROUNDS, 36602, "realloc");
	expect_release(COROUTINES * ROUNDS, 36602, "free");
	say("expect stack 36601 run");
	gate();
	return 0;
}
