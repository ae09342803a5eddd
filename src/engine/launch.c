/* Starts the target, which waits at a gate until the tracer is ready; reports why a program cannot be executed. */
#include "config.h"
#include "engine/shared_state.h"
#include "base/msg.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the path of the file that execvp would execute for `name`, or NULL. The caller frees the path. */
static char *launch_find_program(const char *name)
{
	const char *folders = getenv("PATH");
	char *path = NULL;

	if (strchr(name, '/'))
		return xstrdup(name);
	for (folders = folders ? folders : "/bin:/usr/bin"; !path; folders++) {
		const size_t length = strcspn(folders, ":");

		path = xasprintf("%.*s/%s", length ? (int)length : 1, length ? folders : ".", name);
		if (access(path, X_OK) || path_is_folder(path)) {
			free(path);
			path = NULL;
		}
		folders += length;
		if (!*folders)
			break;
	}
	return path;
}

/* Returns true for an ELF file, and for a file with a zero byte in its first line: shells do not read such files as
 * scripts. */
static bool is_binary(const char *path)
{
	char head[128];
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t got = fd < 0 ? 0 : read(fd, head, sizeof(head));

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	const char *end = memchr(head, '\n', (size_t)got);

	return (got >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG)) ||
	       memchr(head, '\0', end ? (size_t)(end - head) : (size_t)got);
}

/* Returns the path of the program `name` if its file is binary; the caller frees the path. Returns NULL for other
 * files, which the caller passes to execvp: if the kernel cannot run a file, execvp passes it to the shell, which
 * prints misleading errors for a binary file. */
static char *binary_of(const char *name)
{
	char *const path = launch_find_program(name);

	if (path && is_binary(path))
		return path;
	free(path);
	return NULL;
}

/* Sets the target's signal state, waits at the gate, and executes the program. Must neither allocate memory nor print:
 * until the exec, the process has a copy of functrace's memory, but already has the target's signal state and
 * descriptors. */
static void target_run(char **argv, const char *binary, int gate, int exec_error, bool stdout_is_trace,
		       const struct signal_state *signals) __attribute__((noreturn));

static void target_run(char **argv, const char *binary, int gate, int exec_error, bool stdout_is_trace,
		       const struct signal_state *signals)
{
	char byte;
	ssize_t got;

	for (int sig = 1; sig < _NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			sigaction(sig, &signals->actions[sig], NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	do
		got = read(gate, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(127); /* the engine has ended */
	if (stdout_is_trace)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (binary)
		execv(binary, argv);
	else
		execvp(argv[0], argv);
	const int error = errno;

	while (write(exec_error, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	ends[0] = fd_above_standard(ends[0]);
	ends[1] = fd_above_standard(ends[1]);
	return ends[0] < 0 || ends[1] < 0 ? -EMFILE : 0;
}

static void close_pipe(const int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

int launch_fork(struct launch *launch, const struct settings *settings, const struct signal_state *signals,
		const int *close_fds, size_t close_count)
{
	const bool stdout_is_trace = settings->trace.output && !strcmp(settings->trace.output, "-");
	char *const binary = binary_of(settings->target.argv[0]);
	int gate[2] = {-1, -1}, error[2] = {-1, -1};
	int failure = make_pipe(gate);

	if (!failure)
		failure = make_pipe(error);
	if (failure)
		goto out;
	const pid_t pid = fork();

	if (pid == 0) {
		/* A copy of the engine's socket in the target would delay the end-of-file that the visible process
		 * waits for; a copy of the gate's write end would keep the target itself waiting. */
		for (size_t i = 0; i < close_count; i++)
			close(close_fds[i]);
		close(gate[1]);
		close(error[0]);
		target_run(settings->target.argv, binary, gate[0], error[1], stdout_is_trace, signals);
	}
	if (pid < 0) {
		failure = -errno;
		goto out;
	}
	close(gate[0]);
	close(error[1]);
	free(binary);
	*launch = (struct launch){.pid = pid, .gate = gate[1], .exec_error = error[0]};
	return 0;
out:
	free(binary);
	close_pipe(gate);
	close_pipe(error);
	return failure;
}

int launch_open_gate(struct launch *launch)
{
	int error = 0;

	if (launch->gate < 0)
		return 0;
	/* SIGPIPE is ignored in the engine: writing to a target that was killed at its gate fails with EPIPE. */
	while (write(launch->gate, "", 1) < 0) {
		if (errno == EINTR)
			continue;
		error = -errno;
		break;
	}
	close(launch->gate);
	launch->gate = -1;
	return error;
}

int launch_failure(struct launch *launch, const char *program)
{
	int error;
	ssize_t got;

	if (launch->exec_error < 0)
		return 0;
	do
		got = read(launch->exec_error, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	close(launch->exec_error);
	launch->exec_error = -1;
	if (got != (ssize_t)sizeof(error))
		return 0;
	if (error == ENOENT && *program && !program[strspn(program, "0123456789")]) {
		msg_error("%s was not found in PATH. To attach to process %s: -t %s", program, program, program);
		return 127;
	}
	if (error == ENOENT && !strchr(program, '/')) {
		msg_error("%s was not found in PATH: give its full path, or ./%s for one in this "
			  "folder",
			  program, program);
		return 127;
	}
	if (error == ENOENT && !access(program, F_OK)) {
		msg_error("%s cannot be run: the interpreter that it names (first line, or ELF "
			  "loader) does "
			  "not exist",
			  program);
		return 127;
	}
	if (error == ENOENT) {
		msg_error("%s does not exist", program);
		return 127;
	}
	if (error == EACCES && path_is_folder(program))
		msg_error("%s is a folder, not a program", program);
	else if (error == ENOEXEC)
		msg_error("%s cannot be run: it is a binary file that this system cannot execute (damaged, or made for "
			  "another processor)",
			  program);
	else if (error == EACCES)
		msg_error("%s cannot be run: it is not an executable file that you may run (chmod "
			  "+x makes a "
			  "file executable)",
			  program);
	else
		msg_error("%s cannot be run: %s", program, strerror(error));
	return 126;
}
