/* A pair is a fork, whose child ends without a traced call, and the wait for the child. */
#include "hot.h"

#include <sys/wait.h>
#include <unistd.h>

void hot(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		const pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(91);
	}
}
