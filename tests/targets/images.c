/* images HOW: allocates a block of another size in each program that it executes, and prints a line "PID SIZE" for
 * each.
 *
 * exec        a child allocates, executes itself twice, allocates each time
 * reuse       two children get the same pid (this needs a pid namespace of its own, with root's rights)
 * links FILE  a child gets a known pid. Before that, the names of its trace are made links to FILE: FILE.PID a hard
 *             link, and FILE.PID.1 a symbolic one */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void allocate(unsigned size)
{
	char line[64];
	void *volatile p = malloc(size);
	const int length = snprintf(line, sizeof(line), "%d %u\n", (int)getpid(), size);

	if (!p || write(1, line, (size_t)length) != length)
		_exit(9);
}

static void become(const char *self, const char *stage)
{
	execl(self, self, stage, (char *)NULL);
	_exit(8);
}

static void with_pid(int pid)
{
	char text[16];
	const int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
	const int length = snprintf(text, sizeof(text), "%d", pid - 1);

	if (fd < 0 || write(fd, text, (size_t)length) != length)
		_exit(7);
	close(fd);
}

#define PID   300
#define TRIES 1000

/* Makes a child with the process id PID, which allocates. Tries again if another process has got this id: functrace,
 * which is in the same namespace, may start a process between with_pid() and fork(). Children with other ids do
 * nothing. */
static void child(unsigned size)
{
	int pid = 0;

	for (int tries = 0; pid != PID; tries++) {
		if (tries == TRIES)
			_exit(6);
		with_pid(PID);
		pid = fork();
		if (!pid && getpid() != PID)
			_exit(0);
		if (!pid) {
			allocate(size);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void two_of_one_pid(void)
{
	child(31110);
	child(32220);
}

static void linked(const char *file)
{
	char name[4200], other[4200];

	snprintf(name, sizeof(name), "%s.%d", file, PID);
	snprintf(other, sizeof(other), "%s.%d.1", file, PID);
	if (link(file, name) || symlink(file, other))
		_exit(6);
	child(32220);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "2")) {
		allocate(32220);
		become(argv[0], "1");
	}
	if (!strcmp(argv[1], "1")) {
		allocate(33330);
		return 0;
	}
	allocate(30100);
	if (!strcmp(argv[1], "exec")) {
		const int pid = fork();

		if (!pid) {
			allocate(31110);
			become(argv[0], "2");
		}
		waitpid(pid, NULL, 0);
	} else if (!strcmp(argv[1], "reuse")) {
		two_of_one_pid();
	} else if (argc > 2) {
		linked(argv[2]);
	}
	return 0;
}
