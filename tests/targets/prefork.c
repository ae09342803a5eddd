/* prefork: a master that allocates nothing itself. For each byte of its standard input it forks a worker, which
 * allocates, and prints the worker's exit status; it ends with the input. */
#include "target.h"

#include <sys/wait.h>

static int work(void)
{
	char *p = malloc(36201);

	KEEP(p);
	free(p);
	return 7;
}

/* Prints a line, not by dprintf(), which releases a block. number: one digit. */
static void tell(const char *text, int number)
{
	const char digits[] = {(char)('0' + number % 10), '\n'};

	CHECK(write(1, text, strlen(text)) > 0 && write(1, digits, sizeof(digits)) == sizeof(digits));
}

int main(void)
{
	char byte;
	int status;

	CHECK(write(1, "ready\n", 6) == 6);
	while (read(0, &byte, 1) == 1) {
		const pid_t worker = fork();

		if (!worker)
			_exit(work());
		CHECK(waitpid(worker, &status, 0) == worker);
		tell(WIFSIGNALED(status) ? "killed by signal " : "status ",
		     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	return 0;
}
