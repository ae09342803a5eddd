/* vforker FILE: a vfork child waits until FILE exists before it execs, while its parent sleeps in vfork. */
#include "target.h"
#include <sys/wait.h>

int main(int argc, char **argv)
{
	static const char ready[] = "ready\n";
	static const char *go_on;
	int status = -1;

	CHECK(argc > 1);
	go_on = argv[1];
	free(malloc(36801));
	const pid_t pid = vfork();

	CHECK(pid >= 0);
	if (!pid) {
		/* no call of the allocator from here on */
		if (write(STDOUT_FILENO, ready, sizeof(ready) - 1) < 0)
			_exit(90);
		while (access(go_on, F_OK) < 0)
			usleep(5000);
		execl("/bin/sh", "sh", "-c", "echo child; exit 7", (char *)NULL);
		_exit(99);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	say("the child ended with %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	free(malloc(36802));
	return 3;
}
