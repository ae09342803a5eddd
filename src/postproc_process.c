#include "config.h"
#include "postproc_process.h"
#include "base/msg.h"
#include "base/util.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The one that belongs to this functrace stands beside it; else the one that is installed. The caller frees it. */
static char *postproc_path(void)
{
	char self[4096];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length > 0) {
		self[length] = '\0';
		slash = strrchr(self, '/');
		if (slash) {
			slash[1] = '\0';
			char *path = xasprintf("%s" POSTPROC_NAME, self);

			if (!access(path, X_OK))
				return path;
			free(path);
		}
	}
	return xstrdup(POSTPROC_NAME);
}

static void run_here(char *const *argv, int in, int out)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	char *path = postproc_path();

	execvp(path, argv);
	msg_error("%s cannot be run: %s. It is installed with functrace, beside it or in a folder of PATH.", path,
		  strerror(errno));
	_exit(POSTPROC_NOT_FOUND);
}

pid_t postproc_start(char *const *argv, int in, int out)
{
	fflush(NULL);
	const pid_t pid = fork();

	if (pid == 0)
		run_here(argv, in, out);
	if (pid < 0)
		msg_error("no process can be made for " POSTPROC_NAME ": %s", strerror(errno));
	return pid;
}

int postproc_wait(pid_t pid)
{
	int status;

	if (pid < 0)
		return EXIT_FAILURE;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* Who reads its output need not want all of it. */
	if (WTERMSIG(status) != SIGPIPE)
		msg_error(POSTPROC_NAME " was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return EXIT_FAILURE;
}
