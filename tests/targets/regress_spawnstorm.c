/* regress_spawnstorm SPAWNS: several threads start programs by vfork and posix_spawn at the same time, so that one
 * child that shares the memory execs while another one is created. Calls of a thread that allocates meanwhile are all
 * traced. */
#include "target.h"
#include <spawn.h>
#include <sys/wait.h>

#define THREADS 4

extern char **environ;

static unsigned spawns;

static void *spawn_often(void *unused)
{
	char *const argv[] = {(char *)"true", NULL};

	(void)unused;
	for (unsigned i = 0; i < spawns; i++) {
		void *p = malloc(36011);
		pid_t pid;
		int status;

		KEEP(p);
		free(p);
		if (i & 1) {
			CHECK(!posix_spawnp(&pid, "true", NULL, NULL, argv, environ));
		} else {
			pid = vfork();
			if (!pid) {
				execvp("true", argv);
				_exit(9);
			}
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	}
	return NULL;
}

static void *allocate(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 50 * spawns; i++) {
		void *p = malloc(36012);

		KEEP(p);
		free(p);
		if (i % 10 == 0)
			sleep_ms(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS + 1];

	spawns = argument(argc, argv, 1, 10);
	expect_alloc(THREADS * spawns, 36011, "malloc");
	expect_release(THREADS * spawns, 36011, "free");
	expect_alloc(50 * spawns, 36012, "malloc");
	expect_release(50 * spawns, 36012, "free");
	gate();
	CHECK(!pthread_create(&threads[THREADS], NULL, allocate, NULL));
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, spawn_often, NULL));
	for (unsigned i = 0; i <= THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	return 0;
}
