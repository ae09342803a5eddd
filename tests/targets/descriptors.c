/* Functions of the module "file", successful and failing, with the expected record of each. If a library has two names
 * for one function (open and open64), the trace may show either. */
#include "target.h"
#include "records.h"

#include <dirent.h>
#include <mqueue.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <wchar.h>

#define MANY_LOW 700 /* all other descriptors are below */
#define DUP_LOW  40  /* descriptors of fcntl(F_DUPFD) are from here on */

extern char **environ;
static char template_path[64];

/* Returns a file name that mkstemp() and similar functions fill in. */
static char *fresh(const char *end)
{
	snprintf(template_path, sizeof(template_path), "/tmp/functrace-%d-XXXXXX%s", (int)getpid(), end);
	return template_path;
}

static void done(int fd)
{
	CHECK(close(fd) == 0);
	closed_fd(fd, "close<fd>");
}

static void both(const char *name, const int fd[2])
{
	opened_fd(name, fd[0]);
	opened_fd(name, fd[1]);
}

static void paths(void)
{
	const int folder = opened_fd("open|open64<fd>", open("/", O_RDONLY | O_DIRECTORY));

	done(opened_fd("open|open64<fd>", open("/dev/null", O_RDONLY)));
	done(opened_fd("openat|openat64<fd>", openat(folder, "dev/null", O_RDONLY)));
	done(opened_fd("creat|creat64<fd>", creat(fresh(""), 0600)));
	CHECK(unlink(template_path) == 0);
	CHECK(open("/nonexistent/file", O_RDONLY) == -1);
	CHECK(openat(folder, "nonexistent/file", O_RDONLY) == -1);
	CHECK(creat("/nonexistent/file", 0600) == -1);
	CHECK(open("/dev/null", O_RDONLY | O_DIRECTORY) == -1);
	done(folder);
#ifdef __GLIBC__
	extern int __open_2(const char *, int), __openat_2(int, const char *, int);
	done(opened_fd("open|open64<fd>", __open_2("/dev/null", O_RDONLY)));
	done(opened_fd("openat|openat64<fd>", __openat_2(AT_FDCWD, "/dev/null", O_RDONLY)));
#endif
}

static void temporary(void)
{
	done(opened_fd("mkstemp|mkstemp64<fd>", mkstemp(fresh(""))));
	unlink(template_path);
	done(opened_fd("mkostemp|mkostemp64<fd>", mkostemp(fresh(""), O_CLOEXEC)));
	unlink(template_path);
	done(opened_fd("mkstemps|mkstemps64<fd>", mkstemps(fresh(".c"), 2)));
	unlink(template_path);
	done(opened_fd("mkostemps|mkostemps64<fd>", mkostemps(fresh(".c"), 2, O_CLOEXEC)));
	unlink(template_path);
	snprintf(template_path, sizeof(template_path), "/tmp/no-template");
	CHECK(mkstemp(template_path) == -1);
}

static void duplicates(void)
{
	const int one = opened_fd("open|open64<fd>", open("/dev/null", O_RDONLY));
	const int other = opened_fd("dup<fd>", dup(one));

	CHECK(dup2(one, other) == other); /* closes `other` */
	closed_fd(other, "dup2<fd>");
	opened_fd("dup2<fd>", other);
	CHECK(dup2(one, one) == one);
	CHECK(dup3(one, other, O_CLOEXEC) == other);
	closed_fd(other, "dup3<fd>");
	opened_fd("dup3<fd>", other);
	CHECK(dup3(one, one, 0) == -1 && errno == EINVAL);
	CHECK(dup2(-1, other) == -1 && dup(-1) == -1);
	const int far = opened_fd("fcntl|fcntl64<fd>", fcntl(one, F_DUPFD, DUP_LOW));

	done(opened_fd("fcntl|fcntl64<fd>", fcntl(one, F_DUPFD_CLOEXEC, DUP_LOW)));
	CHECK(fcntl(one, F_GETFD) == 0 && fcntl(one, F_SETFD, FD_CLOEXEC) == 0);
	CHECK(fcntl(-1, F_DUPFD, DUP_LOW) == -1);
	CHECK(dup2(one, far + 1) == far + 1); /* to a number that is not open */
	opened_fd("dup2<fd>", far + 1);
	done(far + 1);
	done(far);
	done(other);
	done(one);
	/* Closed twice: the second call fails, and is not a release. */
	CHECK(close(one) == -1 && errno == EBADF);
	CHECK(close(-1) == -1);
}

static void pairs(void)
{
	int fd[2];

	CHECK(pipe(fd) == 0);
	both("pipe<fd>", fd);
	done(fd[1]);
	done(fd[0]);
	CHECK(pipe2(fd, O_CLOEXEC) == 0);
	both("pipe2<fd>", fd);
	done(fd[0]);
	done(fd[1]);
	CHECK(pipe2(fd, -1) == -1);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	both("socketpair<fd>", fd);
	done(fd[0]);
	done(fd[1]);
	CHECK(socketpair(AF_UNIX, -1, 0, fd) == -1);
}

static void sockets(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 24);
	const int listener = opened_fd("socket<fd>", socket(AF_UNIX, SOCK_STREAM, 0));

	snprintf(address.sun_path + 1, 23, "functrace-%d", (int)getpid());
	CHECK(bind(listener, (struct sockaddr *)&address, size) == 0);
	called("bind<address>");
	CHECK(bind(listener, (struct sockaddr *)&address, size) == -1);
	CHECK(listen(listener, 4) == 0);
	const int client = opened_fd("socket<fd>", socket(AF_UNIX, SOCK_STREAM, 0));

	CHECK(connect(client, (struct sockaddr *)&address, size) == 0);
	called("connect<address>");
	const int server = opened_fd("accept<fd>", accept(listener, NULL, NULL));
	const int second = opened_fd("socket<fd>", socket(AF_UNIX, SOCK_STREAM, 0));

	CHECK(connect(second, (struct sockaddr *)&address, size) == 0);
	called("connect<address>");
	done(opened_fd("accept4<fd>", accept4(listener, NULL, NULL, SOCK_CLOEXEC)));
	CHECK(accept(-1, NULL, NULL) == -1 && accept4(-1, NULL, NULL, 0) == -1);
	CHECK(socket(-1, SOCK_STREAM, 0) == -1);
	done(second);
	done(server);
	done(client);
	done(listener);
}

/* Descriptors in a message. */
static void received(void)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {{0}};
	char byte = 'm';
	struct iovec vector = {&byte, 1};
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int ends[2], sent[2], got[2];

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	both("socketpair<fd>", ends);
	sent[0] = opened_fd("open|open64<fd>", open("/dev/null", O_RDONLY));
	sent[1] = sent[0];
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(sent));
	memcpy(CMSG_DATA(header), sent, sizeof(sent));
	CHECK(sendmsg(ends[0], &message, 0) == 1);
	CHECK(recvmsg(ends[1], &message, 0) == 1);
	memcpy(got, CMSG_DATA(header), sizeof(got));
	both("recvmsg<fd>", got);
	done(got[1]);
	done(got[0]);
	message.msg_control = NULL;
	message.msg_controllen = 0;
	CHECK(sendmsg(ends[0], &message, 0) == 1 && recvmsg(ends[1], &message, 0) == 1);
	CHECK(recvmsg(ends[1], &message, MSG_DONTWAIT) == -1);
	done(sent[0]);
	done(ends[0]);
	done(ends[1]);
}

static void events(void)
{
	sigset_t none;
	int fd;

	sigemptyset(&none);
	done(opened_fd("eventfd<fd>", eventfd(0, 0)));
	fd = opened_fd("signalfd<fd>", signalfd(-1, &none, 0));
	CHECK(signalfd(fd, &none, 0) == fd);
	done(fd);
	done(opened_fd("timerfd_create<fd>", timerfd_create(CLOCK_MONOTONIC, 0)));
	done(opened_fd("epoll_create<fd>", epoll_create(1)));
	done(opened_fd("epoll_create1<fd>", epoll_create1(EPOLL_CLOEXEC)));
	done(opened_fd("inotify_init<fd>", inotify_init()));
	done(opened_fd("inotify_init1<fd>", inotify_init1(IN_CLOEXEC)));
	CHECK(eventfd(0, -1) == -1 && timerfd_create(-1, 0) == -1 && epoll_create1(-1) == -1 &&
	      inotify_init1(-1) == -1 && signalfd(-1, &none, -1) == -1);
	fd = memfd_create("memory", MFD_CLOEXEC);
	if (fd >= 0)
		done(opened_fd("memfd_create<fd>", fd));
	CHECK(memfd_create("memory", (unsigned)-1) == -1);
	fd = posix_openpt(O_RDWR | O_NOCTTY);
	if (fd >= 0)
		done(opened_fd("posix_openpt<fd>", fd));
}

/* Makes calls that the kernel or a container may refuse. Only successful ones are in the trace. */
static void rare(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/functrace-%d", (int)getpid());
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd >= 0) {
		done(opened_fd("shm_open<fd>", fd));
		CHECK(shm_unlink(name) == 0);
	}
	CHECK(shm_open("/functrace-nonexistent", O_RDWR, 0) == -1);
	fd = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL);
	if (fd >= 0) {
		opened_fd("mq_open<fd>", fd);
		CHECK(mq_close(fd) == 0);
		closed_fd(fd, "mq_close<fd>");
		CHECK(mq_unlink(name) == 0);
	}
	CHECK(mq_open("/functrace-nonexistent", O_RDWR) == -1);
#ifdef __GLIBC__
	extern int pidfd_open(pid_t, unsigned) __attribute__((weak));
	extern int pidfd_getfd(int, int, unsigned) __attribute__((weak));
	extern int fsopen(const char *, unsigned) __attribute__((weak));
	extern int fspick(int, const char *, unsigned) __attribute__((weak));
	extern int open_tree(int, const char *, unsigned) __attribute__((weak));
	extern int fanotify_init(unsigned, unsigned);

	fd = getpt();
	if (fd >= 0)
		done(opened_fd("getpt<fd>", fd));
	fd = pidfd_open ? pidfd_open(getpid(), 0) : -1;
	if (fd >= 0) {
		opened_fd("pidfd_open<fd>", fd);
		const int same = pidfd_getfd(fd, STDIN_FILENO, 0);

		if (same >= 0)
			done(opened_fd("pidfd_getfd<fd>", same));
		done(fd);
	}
	fd = fsopen ? fsopen("tmpfs", 1) : -1;
	if (fd >= 0)
		done(opened_fd("fsopen<fd>", fd));
	fd = fspick ? fspick(AT_FDCWD, "/", 1) : -1;
	if (fd >= 0)
		done(opened_fd("fspick<fd>", fd));
	fd = open_tree ? open_tree(AT_FDCWD, "/", O_CLOEXEC) : -1;
	if (fd >= 0)
		done(opened_fd("open_tree<fd>", fd));
	fd = fanotify_init(0, O_RDONLY);
	if (fd >= 0)
		done(opened_fd("fanotify_init<fd>", fd));
#endif
}

static ssize_t cookie_read(void *cookie, char *text, size_t size)
{
	(void)cookie, (void)text, (void)size;
	/* A descriptor of the program, opened inside a call of the library. */
	done(opened_fd("open|open64<fd>", open("/dev/null", O_RDONLY)));
	return 0;
}

static void own_streams(void)
{
	static wchar_t *grown;
	size_t size;
	FILE *file = open_wmemstream(&grown, &size);

	CHECK(file);
	opened("open_wmemstream<fp>");
	CHECK(fclose(file) == 0);
	released_last("fclose<fp>");
	free(grown);
	CHECK((file = fopencookie(NULL, "r", (cookie_io_functions_t){.read = cookie_read})));
	opened("fopencookie<fp>");
	CHECK(getc(file) == EOF);
	CHECK(fclose(file) == 0);
	released_last("fclose<fp>");
}

#ifdef __GLIBC__
/* Calls the functions by their names for large files (open64). */
static void large_files(void)
{
	FILE *file;

	done(opened_fd("open64|open<fd>", open64("/dev/null", O_RDONLY)));
	done(opened_fd("openat64|openat<fd>", openat64(AT_FDCWD, "/dev/null", O_RDONLY)));
	done(opened_fd("creat64|creat<fd>", creat64(fresh(""), 0600)));
	CHECK(unlink(template_path) == 0);
	done(opened_fd("mkstemp64|mkstemp<fd>", mkstemp64(fresh(""))));
	unlink(template_path);
	done(opened_fd("mkostemp64|mkostemp<fd>", mkostemp64(fresh(""), O_CLOEXEC)));
	unlink(template_path);
	done(opened_fd("mkstemps64|mkstemps<fd>", mkstemps64(fresh(".c"), 2)));
	unlink(template_path);
	done(opened_fd("mkostemps64|mkostemps<fd>", mkostemps64(fresh(".c"), 2, O_CLOEXEC)));
	unlink(template_path);
	CHECK((file = fopen64("/dev/null", "r")));
	opened("fopen64|fopen<fp>");
	CHECK((file = freopen64("/dev/zero", "r", file)));
	released_last("freopen64|freopen<fp>");
	opened("freopen64|freopen<fp>");
	CHECK(fclose(file) == 0);
	released_last("fclose<fp>");
	CHECK((file = tmpfile64()));
	opened("tmpfile64|tmpfile<fp>");
	CHECK(fclose(file) == 0);
	released_last("fclose<fp>");
	const int fd = fcntl64(STDIN_FILENO, F_DUPFD, DUP_LOW);

	done(opened_fd("fcntl64|fcntl<fd>", fd));
}
#endif

static void streams(void)
{
	char text[16], *grown = NULL;
	size_t size;
	FILE *file = fopen("/dev/null", "r"), *other;

	CHECK(file);
	opened("fopen|fopen64<fp>");
	CHECK(fclose(file) == 0);
	released_last("fclose<fp>");
	CHECK(!fopen("/nonexistent/file", "r"));
	CHECK((file = tmpfile()));
	opened("tmpfile|tmpfile64<fp>");
	CHECK(fclose(file) == 0);
	released_last("fclose<fp>");
	CHECK((file = fmemopen(text, sizeof(text), "r")));
	opened("fmemopen<fp>");
	CHECK(fclose(file) == 0);
	released_last("fclose<fp>");
	CHECK((file = open_memstream(&grown, &size)));
	opened("open_memstream<fp>");
	CHECK(fclose(file) == 0);
	released_last("fclose<fp>");
	free(grown);
	/* fdopen() releases the descriptor in the trace, because the stream will close it. */
	const int fd = opened_fd("open|open64<fd>", open("/dev/null", O_RDONLY));

	CHECK(!fdopen(fd, "nonsense"));
	CHECK((file = fdopen(fd, "r")));
	closed_fd(fd, "fdopen<fd>");
	opened("fdopen<fp>");
	CHECK(fclose(file) == 0);
	released_last("fclose<fp>");
	/* freopen() closes the old file, also if it cannot open the new one. */
	CHECK((file = fopen("/dev/null", "r")));
	opened("fopen|fopen64<fp>");
	CHECK((other = freopen("/dev/zero", "r", file)));
	released_last("freopen|freopen64<fp>");
	opened("freopen|freopen64<fp>");
	CHECK(!freopen("/nonexistent/file", "r", other));
	released_last("freopen|freopen64<fp>");
	CHECK((file = popen("exit 3", "r")));
	opened("popen<fp>");
	CHECK(WEXITSTATUS(pclose(file)) == 3);
	released_last("pclose<fp>");
	CHECK(!popen("true", "nonsense"));
}

static void folders(void)
{
	DIR *folder = opendir("/");

	CHECK(folder && readdir(folder));
	opened("opendir<dir>");
	CHECK(closedir(folder) == 0);
	released_last("closedir<dir>");
	CHECK(!opendir("/nonexistent") && !opendir("/dev/null"));
	const int fd = opened_fd("open|open64<fd>", open("/", O_RDONLY | O_DIRECTORY));

	CHECK((folder = fdopendir(fd)));
	closed_fd(fd, "fdopendir<fd>");
	opened("fdopendir<dir>");
	CHECK(closedir(folder) == 0);
	released_last("closedir<dir>");
	CHECK(!fdopendir(-1));
}

/* Makes children by posix_spawn() and vfork(), which share this process's memory, but close and duplicate descriptors
 * of their own. The trace must not have these calls. */
static void spawned(void)
{
	const int fd = opened_fd("open|open64<fd>", open("/dev/null", O_RDONLY));
	posix_spawn_file_actions_t actions;
	char *const words[] = {(char *)"true", NULL};
	pid_t child;
	int status;

	CHECK(posix_spawn_file_actions_init(&actions) == 0);
	CHECK(posix_spawn_file_actions_adddup2(&actions, fd, 30) == 0);
	CHECK(posix_spawn_file_actions_addclose(&actions, fd) == 0);
	CHECK(posix_spawnp(&child, "true", &actions, NULL, words, environ) == 0);
#ifndef __GLIBC__
	/* musl's posix_spawn() learns by a pipe whether its child has execed. */
	const int pipe[2] = {fd + 1, fd + 2};

	both("pipe2<fd>", pipe);
	closed_fd(pipe[1], "close<fd>");
	closed_fd(pipe[0], "close<fd>");
#endif
	posix_spawn_file_actions_destroy(&actions);
	CHECK(waitpid(child, &status, 0) == child);
	const pid_t fork = vfork();

	if (!fork) {
		close(fd);
		dup2(STDIN_FILENO, fd);
		_exit(0);
	}
	CHECK(waitpid(fork, &status, 0) == fork && status == 0);
	done(fd);
}

#ifdef __GLIBC__
static void all_at_once(void)
{
	const int first = opened_fd("fcntl|fcntl64<fd>", fcntl(STDIN_FILENO, F_DUPFD, MANY_LOW));
	const int second = opened_fd("dup2<fd>", dup2(first, first + 1));
	const int third = opened_fd("dup2<fd>", dup2(first, first + 2));

	if (close_range((unsigned)second, (unsigned)third, 4) == 0) /* CLOSE_RANGE_CLOEXEC */
		CHECK(close_range((unsigned)third, (unsigned)second, 0) == -1);
	if (close_range((unsigned)second, (unsigned)third, 0) == 0) {
		closed_fd(second, "close_range<fd>");
		closed_fd(third, "close_range<fd>");
	} else {
		done(second);
		done(third);
	}
	closefrom(first);
	closed_fd(first, "closefrom<fd>");
}
#endif

#ifdef __GLIBC__
static int close_all(void)
{
	CHECK(fopen("/dev/null", "r"));
	opened("fopen|fopen64<fp>");
	CHECK(fcloseall() == 0);
	released_last("fcloseall<fp>");
	return 0;
}
#endif

/* With an argument it only closes all streams. */
int main(int argc, char **argv)
{
	(void)argv;
#ifdef __GLIBC__
	if (argc > 1)
		return close_all();
#endif
	(void)argc;
	gate();
	paths();
	temporary();
	duplicates();
	pairs();
	sockets();
	received();
	events();
	rare();
	streams();
	own_streams();
	folders();
	spawned();
#ifdef __GLIBC__
	large_files();
	all_at_once();
#endif
	/* Three descriptors and a FILE pointer are never closed. */
	opened_fd("open|open64<fd>", open("/dev/null", O_RDONLY));
	int leaked[2];

	CHECK(pipe(leaked) == 0);
	both("pipe<fd>", leaked);
	CHECK(fopen("/dev/null", "r"));
	opened("fopen|fopen64<fp>");
	gate();
	return 0;
}
