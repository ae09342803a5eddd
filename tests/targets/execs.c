/* execs HOW: the program executes itself again, and allocates before and after it.
 *
 * HOW is leader, thread (a thread other than the leader executes, while others run), script, memfd (fexecve of a file
 * without a name), failing (nothing must change), twice, or PATH of another program and the HOW for it. thread PATH
 * HOW: the same by a thread. */
#include "target.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const char *how, *self;
static char **other; /* another program and its arguments */

static void before(void)
{
	for (unsigned i = 0; i < 3; i++)
		free(malloc(34101));
	void *p = malloc(34102); /* lost with the old program: never released */

	KEEP(p);
	expect_alloc(3, 34101, "malloc");
	expect_release(3, 34101, "free");
	expect_alloc(1, 34102, "malloc");
	expect_live(1, 34102);
}

static int after(int round)
{
	for (unsigned i = 0; i < 2; i++)
		free(malloc(34103));
	expect_alloc(2, 34103, "malloc");
	expect_release(2, 34103, "free");
	if (round > 1) {
		char next[] = {(char)('0' + round - 1), '\0'};

		execl(self, "execs", "after", next, (char *)NULL);
		CHECK(!"execl");
	}
	gate();
	return 0;
}

static void become(void)
{
	if (other) {
		execv(other[0], other);
	} else if (!strcmp(how, "script")) {
		char path[] = "/tmp/functrace-script-XXXXXX";
		char text[4200];
		const int fd = mkstemp(path);

		CHECK(fd >= 0);
		const int length = snprintf(text, sizeof(text), "#!/bin/sh\nrm -f \"$0\"\nexec \"%s\" after\n", self);

		CHECK(write(fd, text, (size_t)length) == length);
		CHECK(fchmod(fd, 0700) == 0);
		close(fd);
		execl(path, path, (char *)NULL);
	} else if (!strcmp(how, "memfd")) {
		const int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		const int fd = (int)memfd_create("copy", MFD_CLOEXEC);
		static char block[65536];
		char *args[] = {"execs", "after", NULL};
		ssize_t got;

		CHECK(in >= 0 && fd >= 0);
		while ((got = read(in, block, sizeof(block))) > 0)
			CHECK(write(fd, block, (size_t)got) == got);
		extern char **environ;

		fexecve(fd, args, environ);
	} else if (!strcmp(how, "twice"))
		execl(self, "execs", "after", "2", (char *)NULL);
	else
		execl(self, "execs", "after", (char *)NULL);
	CHECK(!"exec");
}

static void *idle(void *data)
{
	for (;;)
		sleep_ms(10);
	return data;
}

static void *busy(void *data)
{
	for (;;)
		free(malloc(100));
	return data;
}

static void *becoming(void *data)
{
	become();
	return data;
}

int main(int argc, char **argv)
{
	static char path[4096];
	pthread_t tid;

	how = argc > 1 ? argv[1] : "leader";
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	CHECK(length > 0);
	self = path;
	if (!strcmp(how, "after"))
		return after((int)argument(argc, argv, 2, 1));
	gate();
	before();
	if (!strcmp(how, "failing")) {
		char *none[] = {"x", NULL};

		CHECK(execv("/nonexistent/program", none) < 0 && errno == ENOENT);
		CHECK(execv("/etc/passwd", none) < 0 && errno == EACCES);
		return after(1);
	}
	if (how[0] == '/')
		other = argv + 1;
	if (!strcmp(how, "thread")) {
		other = argc > 2 ? argv + 2 : NULL;
		for (unsigned i = 0; i < 3; i++)
			CHECK(pthread_create(&tid, NULL, i ? idle : busy, NULL) == 0);
		CHECK(pthread_create(&tid, NULL, becoming, NULL) == 0);
		for (;;)
			pause();
	}
	become();
	return 1;
}
