/* forkstorm THREADS: each thread allocates, forks, and waits for its child, which allocates too and
 * checks what it inherited, again and again until the gate opens. */
#include "target.h"
#include <stdatomic.h>
#include <sys/wait.h>

static atomic_bool stop;
static atomic_uint forks, wrong;
static atomic_int wrong_status;

static void *work(void *data)
{
	while (!atomic_load(&stop)) {
		unsigned char *p = malloc(2001);
		int status;

		memset(p, 0x5a, 2001);
		const pid_t pid = fork();

		if (!pid) {
			/* only calls that are allowed after a fork of a threaded program, and glibc's malloc */
			unsigned char *q = malloc(1001);

			if (!q || p[0] != 0x5a || p[2000] != 0x5a)
				_exit(1);
			free(q);
			free(p);
			_exit(0);
		}
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (pid < 0 || status) {
			atomic_fetch_add(&wrong, 1);
			atomic_store(&wrong_status, pid < 0 ? -errno : status);
		}
		atomic_fetch_add(&forks, 1);
		free(p);
		sleep_ms(5);
	}
	return data;
}

int main(int argc, char **argv)
{
	const unsigned threads = argument(argc, argv, 1, 4);
	pthread_t tid[16];

	CHECK(threads >= 1 && threads <= 16);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, NULL) == 0);
	gate();
	sleep_ms(50);
	/* Waits for the first fork, because on a busy machine possibly no thread has run yet. */
	while (!atomic_load(&forks))
		sleep_ms(1);
	atomic_store(&stop, 1);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(tid[i], NULL);
	CHECK(atomic_load(&forks) > 0);
	if (atomic_load(&wrong))
		say("the last wrong wait status: %#x", (unsigned)atomic_load(&wrong_status));
	say("wrong %u", atomic_load(&wrong));
	return atomic_load(&wrong) != 0;
}
