/* pinned: a single busy thread, which --cpu=pin puts on one CPU. A thread and a child that it creates must have the
 * CPUs with which the program began. The program has gates before and after the thread is busy, after the creation of
 * both, and after the thread was busy again. */
#include "target.h"
#include <sched.h>
#include <sys/wait.h>

static cpu_set_t first;

static int same_cpus(void)
{
	cpu_set_t now;

	return sched_getaffinity(0, sizeof(now), &now) == 0 && CPU_EQUAL(&now, &first);
}

static NOINLINE void be_busy(void)
{
	for (unsigned i = 0; i < 600; i++) {
		void *p = malloc(36901);

		KEEP(p);
		free(p);
	}
}

static int of_thread;

static void *thread(void *data)
{
	of_thread = same_cpus();
	return data;
}

int main(void)
{
	pthread_t tid;
	int status;

	CHECK(sched_getaffinity(0, sizeof(first), &first) == 0);
	gate();
	be_busy();
	gate();
	CHECK(pthread_create(&tid, NULL, thread, NULL) == 0 && pthread_join(tid, NULL) == 0);
	say("a thread has the CPUs of the start: %s", of_thread ? "yes" : "no");
	const pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		_exit(same_cpus() ? 7 : 8);
	CHECK(waitpid(pid, &status, 0) == pid);
	say("a child has them: %s", WIFEXITED(status) && WEXITSTATUS(status) == 7 ? "yes" : "no");
	gate();
	be_busy();
	expect_alloc(1200, 36901, "malloc");
	expect_release(1200, 36901, "free");
	gate();
	say("in the end: %s", same_cpus() ? "yes" : "no");
	return 0;
}
