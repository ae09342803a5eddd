/* A pair is a vfork, whose child executes /bin/true, and the wait for the child. */
#include "hot.h"

#include <sys/wait.h>
#include <unistd.h>

static void spawn(void)
{
	const pid_t pid = vfork();

	if (!pid) {
		execl("/bin/true", "true", (char *)0);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		_exit(91);
}

void hot(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		spawn();
}
