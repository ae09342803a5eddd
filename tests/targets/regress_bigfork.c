/* regress_bigfork: threads that fork all the time, and mostly wait for a processor while the kernel copies their many
 * descriptors, before it copies the memory. If a fork has begun before its task is attached, the child is not traced:
 * its memory must get no breakpoints that are inserted meanwhile. */
#include "target.h"
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MOST    (1u << 20)
#define THREADS 16

static atomic_bool stop;
static atomic_uint wrong, forks;

/* A child must not need a lock that another thread held: with glibc the block is from the thread's own cache. */
static void pair(void)
{
	void *p = malloc(501);

	KEEP(p);
	free(p);
}

static void *fork_on(void *data)
{
	while (!atomic_load(&stop)) {
		int status = -1;
		pair();
		/* Not fork(), because only one thread at a time can be in it. */
		const pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

		if (!pid) {
			pair();
			_exit(0);
		}
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		wrong += status != 0;
		forks++;
	}
	return data;
}

int main(void)
{
	struct rlimit limit;
	pthread_t tid[THREADS];

	limit.rlim_cur = limit.rlim_max = MOST;
	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
		limit.rlim_cur = limit.rlim_max;
		CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	}
	for (unsigned i = 0; i < MOST && dup(0) >= 0; i++)
		;
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&tid[i], NULL, fork_on, NULL) == 0);
	gate();
	/* Waits for the first fork, because on a busy machine possibly no thread has run yet. */
	while (!atomic_load(&forks))
		sleep_ms(1);
	atomic_store(&stop, 1);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(tid[i], NULL);
	CHECK(forks > 0);
	say("wrong %u", wrong);
	return wrong != 0;
}
