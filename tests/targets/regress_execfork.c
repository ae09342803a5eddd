/* regress_execfork DELAY: six threads fork all the time; another one executes the program anew, DELAY microseconds after
 * somebody has begun to trace the leader. What that program is then it only waits to be killed. */
#include "target.h"

static char **arguments;

static void *sleeper(void *data)
{
	for (;;)
		pause();
	return data;
}

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

static int is_traced(void)
{
	char text[4096];
	const char *line;
	FILE *file = fopen("/proc/self/status", "r");

	CHECK(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	line = strstr(text, "\nTracerPid:");
	return line && atoi(line + strlen("\nTracerPid:"));
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
	pthread_attr_t small;
	pthread_t tid;

	signal(SIGCHLD, SIG_IGN);
	if (argc < 2) {
		say("anew");
		for (;;)
			pause();
	}
	arguments = argv;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < 6; i++)
		CHECK(pthread_create(&tid, &small, forker, NULL) == 0);
	for (int i = 0; i < 400; i++)
		CHECK(pthread_create(&tid, &small, sleeper, NULL) == 0);
	CHECK(pthread_create(&tid, &small, executer, NULL) == 0);
	for (;;)
		pause();
}
