/* Threads that detach themselves at once, and others that publish their id and are joined, perhaps before their
 * creation has returned. In the trace, each thread's release must come after the thread's creation, however often ids
 * are reused. The argument: the number of each. */
#include "kind.h"

static pthread_t shared; /* 0: none */
static unsigned taken;   /* number of published ids that the joining thread has seen */
static unsigned gone;    /* number of threads that have detached themselves */

static void *detach_self(void *data)
{
	CHECK(pthread_detach(pthread_self()) == 0);
	__atomic_fetch_add(&gone, 1, __ATOMIC_RELEASE);
	return data;
}

static void *tell_self(void *data)
{
	__atomic_store_n(&shared, pthread_self(), __ATOMIC_RELEASE);
	return data;
}

static void *join_early(void *data)
{
	pthread_t id;

	for (unsigned i = 0; i < (uintptr_t)data; i++) {
		while (!(id = __atomic_load_n(&shared, __ATOMIC_ACQUIRE)))
			sched_yield();
		__atomic_store_n(&shared, 0, __ATOMIC_RELEASE);
		__atomic_fetch_add(&taken, 1, __ATOMIC_RELEASE);
		CHECK(pthread_join(id, NULL) == 0);
	}
	return NULL;
}

static void *create_many(void *data)
{
	pthread_t id;

	for (unsigned i = 0; i < (uintptr_t)data; i++)
		CHECK(pthread_create(&id, NULL, detach_self, NULL) == 0);
	return NULL;
}

int main(int argc, char **argv)
{
	const uintptr_t count = argument(argc, argv, 1, 200);
	pthread_t joiner, creator;

	gate();
	CHECK(pthread_create(&joiner, NULL, join_early, (void *)count) == 0);
	CHECK(pthread_create(&creator, NULL, create_many, (void *)count) == 0);
	for (unsigned i = 0; i < count; i++) {
		pthread_t id;

		CHECK(pthread_create(&id, NULL, tell_self, NULL) == 0);
		while (__atomic_load_n(&taken, __ATOMIC_ACQUIRE) == i)
			sched_yield();
	}
	CHECK(pthread_join(joiner, NULL) == 0);
	CHECK(pthread_join(creator, NULL) == 0);
	/* The last of the detached threads may not have called pthread_detach() yet. */
	while (__atomic_load_n(&gone, __ATOMIC_ACQUIRE) < count)
		sched_yield();
	gate();
	return 0;
}
