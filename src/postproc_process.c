#include "config.h"
#include "postproc_process.h"
#include "base/msg.h"
#include "base/util.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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

	prctl(PR_SET_PDEATHSIG, SIGTERM);
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

/* Signals that are blocked here, because they are taken by other means while something is traced, are its own. */
static bool wait_and_pass_on(pid_t pid, int *status)
{
	static const int passed[] = {SIGTERM, SIGHUP};
	sigset_t child, wanted, before;
	pid_t got;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	wanted = child;
	sigprocmask(SIG_BLOCK, &child, &before);
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		if (sigismember(&before, passed[i]))
			sigaddset(&wanted, passed[i]);
	while ((got = waitpid(pid, status, WNOHANG)) == 0) {
		const int sig = sigwaitinfo(&wanted, NULL);

		if (sig > 0 && sig != SIGCHLD)
			kill(pid, sig);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return got == pid;
}

int postproc_wait(pid_t pid)
{
	int status;

	if (pid < 0 || !wait_and_pass_on(pid, &status))
		return EXIT_FAILURE;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* Who reads its output need not want all of it. */
	if (WTERMSIG(status) != SIGPIPE)
		msg_error(POSTPROC_NAME " was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return EXIT_FAILURE;
}
