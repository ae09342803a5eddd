/* Joinable and detached threads, each function in success and failure; and threads that are never joined. */
#include "kind.h"
#include <sys/resource.h>
#include <threads.h>

static int go[2], stop[2]; /* pipes: a thread writes to `go`, then waits for a byte of `stop` */

static void *wait_for_byte(void *data)
{
	char byte = 'g';

	CHECK(write(go[1], &byte, 1) == 1);
	CHECK(read(stop[0], &byte, 1) == 1);
	return data;
}

static void *do_nothing(void *data)
{
	return data;
}

static int do_nothing_c11(void *data)
{
	return data != NULL;
}

static void stop_one(void)
{
	CHECK(write(stop[1], "s", 1) == 1);
}

static pthread_t begin(void *(*function)(void *), const pthread_attr_t *attr)
{
	pthread_t id;

	CHECK(pthread_create(&id, attr, function, NULL) == 0);
	return id;
}

static void joined(void)
{
	char byte;
	const pthread_t id = begin(wait_for_byte, NULL);

	recorded("pthread_create<pthread_t>(1) = %#lx", (unsigned long)id);
	CHECK(read(go[0], &byte, 1) == 1);
#ifdef __GLIBC__
	struct timespec past = {1, 0};

	CHECK(pthread_tryjoin_np(id, NULL) == EBUSY);
	CHECK(pthread_timedjoin_np(id, NULL, &past) == ETIMEDOUT);
#if __GLIBC_PREREQ(2, 31)
	CHECK(pthread_clockjoin_np(id, NULL, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
#endif
#endif
	stop_one();
	CHECK(pthread_join(id, NULL) == 0);
	recorded("pthread_join<pthread_t>(%#lx)", (unsigned long)id);
}

static void joined_by_attribute(void)
{
	pthread_attr_t attr;

	CHECK(pthread_attr_init(&attr) == 0);
	CHECK(pthread_attr_setguardsize(&attr, 8192) == 0 && pthread_attr_setstacksize(&attr, 1 << 20) == 0);
	const pthread_t id = begin(do_nothing, &attr);

	recorded("pthread_create<pthread_t>(1) = %#lx", (unsigned long)id);
	CHECK(pthread_join(id, NULL) == 0);
	recorded("pthread_join<pthread_t>(%#lx)", (unsigned long)id);
	CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
	CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE) == 0);
	const pthread_t again = begin(do_nothing, &attr);

	recorded("pthread_create<pthread_t>(1) = %#lx", (unsigned long)again);
	CHECK(pthread_join(again, NULL) == 0);
	recorded("pthread_join<pthread_t>(%#lx)", (unsigned long)again);
	pthread_attr_destroy(&attr);
}

static void joined_in_other_ways(void)
{
#ifdef __GLIBC__
	struct timespec late = {0x7fffff00, 0};
	pthread_t id = begin(do_nothing, NULL);
	int error;

	recorded("pthread_create<pthread_t>(1) = %#lx", (unsigned long)id);
	while ((error = pthread_tryjoin_np(id, NULL)) == EBUSY)
		sleep_ms(1);
	CHECK(error == 0);
	recorded("pthread_tryjoin_np<pthread_t>(%#lx)", (unsigned long)id);
	id = begin(do_nothing, NULL);
	recorded("pthread_create<pthread_t>(1) = %#lx", (unsigned long)id);
	CHECK(pthread_timedjoin_np(id, NULL, &late) == 0);
	recorded("pthread_timedjoin_np<pthread_t>(%#lx)", (unsigned long)id);
#if __GLIBC_PREREQ(2, 31)
	id = begin(do_nothing, NULL);
	recorded("pthread_create<pthread_t>(1) = %#lx", (unsigned long)id);
	CHECK(pthread_clockjoin_np(id, NULL, CLOCK_REALTIME, &late) == 0);
	recorded("pthread_clockjoin_np<pthread_t>(%#lx)", (unsigned long)id);
#endif
#endif
}

static void detached(void)
{
	pthread_attr_t attr;
	char byte;
	pthread_t id = begin(wait_for_byte, NULL);

	recorded("pthread_create<pthread_t>(1) = %#lx", (unsigned long)id);
	CHECK(read(go[0], &byte, 1) == 1);
	CHECK(pthread_detach(id) == 0);
	recorded("pthread_detach<pthread_t>(%#lx)", (unsigned long)id);
#ifdef __GLIBC__
	CHECK(pthread_detach(id) == EINVAL); /* it still runs */
	CHECK(pthread_join(id, NULL) == EINVAL);
#endif
	CHECK(pthread_attr_init(&attr) == 0);
	CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
	id = begin(wait_for_byte, &attr);
	recorded("pthread_create<_pthread_t>(1) = %#lx", (unsigned long)id);
	CHECK(read(go[0], &byte, 1) == 1);
	stop_one();
	stop_one();
	pthread_attr_destroy(&attr);
}

/* Detaches its own thread at once, perhaps before pthread_create() has returned. */
static void *detach_self(void *data)
{
	CHECK(pthread_detach(pthread_self()) == 0);
	CHECK(write(go[1], "d", 1) == 1);
	return data;
}

static void detached_by_itself(void)
{
	char byte;
	const pthread_t id = begin(detach_self, NULL);

	CHECK(read(go[0], &byte, 1) == 1);
	recorded("pthread_create<pthread_t>(1) = %#lx", (unsigned long)id);
	recorded("pthread_detach<pthread_t>(%#lx)", (unsigned long)id);
}

/* pthread_create() fails, because there is no memory for the stack. */
static void failing(void)
{
	const struct rlimit none = {4096, RLIM_INFINITY};
	struct rlimit before;
	pthread_attr_t attr;
	pthread_t id;

	CHECK(getrlimit(RLIMIT_AS, &before) == 0 && setrlimit(RLIMIT_AS, &none) == 0);
	CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, 64 << 20) == 0);
	CHECK(pthread_create(&id, &attr, do_nothing, NULL) == EAGAIN);
	CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
	CHECK(pthread_create(&id, &attr, do_nothing, NULL) == EAGAIN);
	CHECK(setrlimit(RLIMIT_AS, &before) == 0);
	pthread_attr_destroy(&attr);
#ifdef __GLIBC__
	CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
#endif
}

static void of_c11(void)
{
	thrd_t id;

	CHECK(thrd_create(&id, do_nothing_c11, NULL) == thrd_success);
	recorded("thrd_create<pthread_t>(1) = %#lx", (unsigned long)id);
	CHECK(thrd_join(id, NULL) == thrd_success);
	recorded("thrd_join<pthread_t>(%#lx)", (unsigned long)id);
	CHECK(thrd_create(&id, do_nothing_c11, NULL) == thrd_success);
	recorded("thrd_create<pthread_t>(1) = %#lx", (unsigned long)id);
	CHECK(thrd_detach(id) == thrd_success);
	recorded("thrd_detach|pthread_detach<pthread_t>(%#lx)", (unsigned long)id);
}

static void never_joined(void)
{
	pthread_t id;

	for (int i = 0; i < 2; i++) {
		const int line = __LINE__ + 1;
		CHECK(pthread_create(&id, NULL, do_nothing, NULL) == 0);
		recorded("pthread_create<pthread_t>(1) = %#lx", (unsigned long)id);
		if (i)
			left("pthread_t", 2, 2, line);
	}
}

int main(void)
{
	CHECK(pipe(go) == 0 && pipe(stop) == 0);
	gate();
	joined();
	joined_by_attribute();
	joined_in_other_ways();
	detached();
	detached_by_itself();
	failing();
	of_c11();
	never_joined();
	gate();
	return 0;
}
