/* Bare forks: a child that makes no traced call and ends, and the wait for it. */
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
