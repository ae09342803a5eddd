/* invfork: waits in vfork() for a child that reads a byte of the standard input. */
#include "target.h"
#include <sys/wait.h>

int main(void)
{
	void *p = malloc(100);
	int status;
	char byte;

	KEEP(p);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	const pid_t child = vfork();

	if (child == 0) {
		say("ready");
		_exit(read(STDIN_FILENO, &byte, 1) != 1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return status != 0;
}
