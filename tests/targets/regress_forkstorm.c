/* regress_forkstorm PROCESSES FORKS: several processes of several threads each that fork and start threads at the same
 * time. A child's first stop often comes before its parent's event, with other tasks' ends in between. */
#include "target.h"
#include <sys/wait.h>

#define THREADS 3

static unsigned forks;

static void *fork_often(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < forks; i++) {
		const pid_t pid = fork();
		int status;

		CHECK(pid >= 0);
		if (!pid) {
			void *p = malloc(36001);

			KEEP(p);
			free(p);
			_exit(7);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
	return NULL;
}

static void *nothing(void *unused)
{
	return unused;
}

static void process(void)
{
	pthread_t threads[THREADS], other;

	for (unsigned i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, fork_often, NULL));
	for (unsigned i = 0; i < 2 * forks; i++) {
		CHECK(!pthread_create(&other, NULL, nothing, NULL));
		CHECK(!pthread_join(other, NULL));
	}
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

int main(int argc, char **argv)
{
	const unsigned processes = argument(argc, argv, 1, 3);

	forks = argument(argc, argv, 2, 20);
	gate();
	for (unsigned i = 0; i < processes; i++) {
		const pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			process();
			_exit(5);
		}
	}
	for (unsigned i = 0; i < processes; i++) {
		int status;

		CHECK(wait(&status) > 0);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	}
	say("expect-child + %u 36001 malloc", processes * THREADS * forks);
	say("expect-child - %u 36001 free", processes * THREADS * forks);
	return 0;
}
