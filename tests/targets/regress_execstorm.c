/* regress_execstorm ROUNDS THREADS DELAY: executes itself ROUNDS times, by its newest thread and after DELAY
 * microseconds, while THREADS others sleep. At the end it allocates for a while. */
#include "target.h"

static char **arguments;

static void *executer(void *data)
{
	char rounds[16];

	(void)data;
	free(malloc(36921));
	usleep((useconds_t)atoi(arguments[3]));
	snprintf(rounds, sizeof(rounds), "%d", atoi(arguments[1]) - 1);
	execl("/proc/self/exe", arguments[0], rounds, arguments[2], arguments[3], (char *)NULL);
	CHECK(!"exec");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t tid;

	CHECK(argc == 4);
	if (!atoi(argv[1])) {
		for (unsigned i = 0; i < 100; i++) {
			free(malloc(36922));
			usleep(1000);
		}
		say("all is well");
		return 7;
	}
	arguments = argv;
	start_sleepers(atoi(argv[2]));
	CHECK(pthread_create(&tid, NULL, executer, NULL) == 0);
	for (;;)
		pause();
}
