/* leaderless: the first thread ends before the others, which run on and end the process. */
#include "target.h"

static void *last(void *data)
{
	const pthread_t *leader = data;
	char stat[64];

	pthread_join(*leader, NULL);
	(void)stat;
	gate(); /* the tracer may attach now, to a process whose leader is a zombie */
	for (unsigned i = 0; i < 50; i++)
		free(malloc(36301));
	expect_alloc(50, 36301, "malloc");
	expect_release(50, 36301, "free");
	gate();
	exit(5);
}

int main(void)
{
	static pthread_t self;
	pthread_t tid;

	self = pthread_self();
	CHECK(pthread_create(&tid, NULL, last, &self) == 0);
	pthread_exit(NULL);
}
