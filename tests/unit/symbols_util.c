#include "config.h"
#include "symbols_util.h"
#include "unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

char test_folder[] = "/tmp/functrace-symbols-XXXXXX";
static int outputs = -1;

int test_folder_make(void **state)
{
	return mkdtemp(test_folder) ? 0 : -1;
}

int test_folder_remove(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", test_folder);
	return system(command);
}

void test_write(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", test_folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

int test_run(const char *fmt, ...)
{
	char command[2048], *whole;
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	/* binutils, too, would ask the servers that DEBUGINFOD_URLS names. */
	whole = xasprintf("unset DEBUGINFOD_URLS; cd '%s' && { %s ; } >log 2>&1", test_folder, command);
	const int status = system(whole);

	free(whole);
	if (status)
		print_message("failed (%d): %s\n", status, command);
	return status;
}

bool test_has(const char *command)
{
	char line[256];

	snprintf(line, sizeof(line), "command -v %s >/dev/null 2>&1", command);
	return !system(line);
}

static void read_line(struct waiting *waiting)
{
	size_t used = 0;

	while (used < sizeof(waiting->line) - 1) {
		if (read(outputs, waiting->line + used, 1) != 1)
			fail_msg("the program ended without a line");
		if (waiting->line[used] == '\n')
			break;
		used++;
	}
	waiting->line[used] = '\0';
}

void waiting_start_fd(struct waiting *waiting, const char *path, int fd)
{
	int in[2], out[2];

	/* The next program must not inherit these pipes, because each program must see the end of its input. */
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	waiting->pid = fork();
	if (!waiting->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		if (chdir(test_folder))
			_exit(126);
		if (fd >= 0)
			fexecve(fd, (char *[]){(char *)(uintptr_t)path, NULL}, environ);
		else
			execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	if (outputs >= 0)
		close(outputs);
	outputs = out[0];
	waiting->input = in[1];
	read_line(waiting);
}

void waiting_start(struct waiting *waiting, const char *path)
{
	waiting_start_fd(waiting, path, -1);
}

void waiting_next(struct waiting *waiting, char command)
{
	assert_int_equal(write(waiting->input, &command, 1), 1);
	read_line(waiting);
}

void waiting_end(struct waiting *waiting)
{
	close(waiting->input);
	waitpid(waiting->pid, NULL, 0);
}
