#include "config.h"
#include "functrace/postproc_process.h"
#include "base/msg.h"
#include "base/terminal_stop.h"
#include "base/util.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Finds the path of this program: from /proc or, if that is not mounted, from the path by which it was executed.
 * Returns false if it cannot be found. */
static bool own_path(char path[static PATH_MAX])
{
	const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const char *const executed =
		(const char *)getauxval(AT_EXECFN); /* getauxval() returns 0 if the kernel has not passed a path */

	if (length > 0) {
		path[length] = '\0';
		return true;
	}
	return executed && realpath(executed, path);
}

/* Returns the path of functrace-postproc in this program's folder; if there is no such file, just the name, for a
 * search in PATH. The caller frees the string. */
static char *postproc_path(void)
{
	char self[PATH_MAX];
	char *const slash = own_path(self) ? strrchr(self, '/') : NULL;

	if (slash) {
		slash[1] = '\0';
		char *path = xasprintf("%s" POSTPROC_NAME, self);

		if (!access(path, X_OK))
			return path;
		free(path);
	}
	return xstrdup(POSTPROC_NAME);
}

static void run_here(char *const *argv, int in, int out, pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(128 + SIGTERM); /* the parent was killed before prctl() */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	char *path = postproc_path();

	execvp(path, argv);
	char self[PATH_MAX];
	const int error = errno;

	msg_error("%s cannot be run: %s. It belongs beside functrace (%s) or in a folder of PATH; install it there, or "
		  "run functrace by its whole path",
		  path, strerror(error), own_path(self) ? self : "whose own path is not known: mount /proc");
	_exit(POSTPROC_NOT_FOUND);
}

pid_t postproc_start(char *const *argv, int in, int out)
{
	fflush(NULL);
	const pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		run_here(argv, in, out, parent);
	if (pid < 0)
		msg_error(POSTPROC_NAME " cannot be run: functrace cannot start a process: %s", strerror(errno));
	return pid;
}

/* Waits until the process has ended, and sets *status as waitpid(2) does. Returns false if waitpid(2) fails. Passes
 * SIGTSTP to the process. Also passes SIGTERM and SIGHUP if they are blocked: tracing has blocked them to read them
 * from a signalfd, so they do not end functrace itself. After Ctrl-Z functrace stops only when the process has stopped,
 * because as soon as functrace stops, the shell takes the terminal back:
 *
 *	user: Ctrl-Z | view: leaves the screen, stops | functrace: stops | shell: prints its prompt
 */
static bool wait_and_pass_on(pid_t pid, int *status)
{
	static const int passed[] = {SIGTERM, SIGHUP};
	sigset_t own, wanted, before;
	pid_t got;

	sigemptyset(&own);
	sigaddset(&own, SIGCHLD);
	sigaddset(&own, SIGTSTP);
	wanted = own;
	sigprocmask(SIG_BLOCK, &own, &before);
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		if (sigismember(&before, passed[i]))
			sigaddset(&wanted, passed[i]);
	while ((got = waitpid(pid, status, WNOHANG | WUNTRACED)) == 0 || (got == pid && WIFSTOPPED(*status))) {
		if (got == pid) {
			if (WSTOPSIG(*status) == SIGTSTP)
				stop_by_terminal();
			continue;
		}
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
	/* SIGPIPE is not reported: the program that reads the output may end before it has read all of it. */
	if (WTERMSIG(status) != SIGPIPE)
		msg_error(POSTPROC_NAME " was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return EXIT_FAILURE;
}
