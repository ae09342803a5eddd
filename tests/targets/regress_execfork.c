/* regress_execfork DELAY: six threads fork all the time; another one executes the program anew, DELAY microseconds
 * after a tracer has attached to the leader. The executed program only waits to be killed. */
#include "target.h"

static char **arguments;

static void *forker(void *data)
{
	for (;;) {
		const pid_t child = fork();

		if (!child) {
			usleep(1000);
			_exit(0);
		}
		usleep(300);
	}
	return data;
}

static void *executer(void *data)
{
	while (!is_traced())
		usleep(50);
	usleep((useconds_t)atoi(arguments[1]));
	execl("/proc/self/exe", arguments[0], (char *)NULL);
	CHECK(!"exec");
	return data;
}

int main(int argc, char **argv)
{
	pthread_t tid;

	signal(SIGCHLD, SIG_IGN);
	if (argc < 2) {
		say("anew");
		for (;;)
			pause();
	}
	arguments = argv;
	for (int i = 0; i < 6; i++)
		CHECK(pthread_create(&tid, NULL, forker, NULL) == 0);
	start_sleepers(400);
	CHECK(pthread_create(&tid, NULL, executer, NULL) == 0);
	for (;;)
		pause();
}
