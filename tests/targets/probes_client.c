/* A hostile client of functrace-probes (tests/scenarios/probe_helper.py): it speaks the helper's protocol, and asks for
 * what it should not get. usage: probes_client HELPER CASE [ARGUMENT]. Prints "NAME: VALUE" for each answer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITES   256
#define MAPS    8
#define RING    (1u << 20)
#define ENTER   (1ull << 48)
#define TIMEOUT 60000

/* As in src/uprobe/uprobe_helper.h. */
enum { LOAD = 1, LINK = 2 };

struct request {
	uint32_t type, frames, entry_stacks, signal;
	uint64_t ring_size;
	int32_t pid;
	uint32_t at_return, count, unused;
	struct {
		uint64_t offset, cookie;
	} sites[SITES];
};

struct answer {
	int32_t error;
	char message[252];
};

static int helper; /* the socket */
static pid_t helper_pid;
static const uint64_t *produced; /* position in the ring */
static int libc_fd;
static uint64_t malloc_offset; /* in the file of the C library */

static void must(int is_so, const char *what)
{
	if (is_so)
		return;
	printf("failed: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

static void say(const char *name, long value)
{
	printf("%s: %ld\n", name, value);
	fflush(stdout);
}

static void start_helper(const char *path)
{
	int ends[2];

	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair");
	helper_pid = fork();
	if (helper_pid == 0) {
		dup2(ends[1], 0);
		open("/dev/zero", O_RDONLY); /* the helper closes it */
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	helper = ends[0];
}

static void transmit(const void *bytes, size_t size, const int *fds, unsigned count)
{
	struct iovec part = {(void *)(uintptr_t)bytes, size};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (count) {
		control.header = (struct cmsghdr){CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	must(sendmsg(helper, &header, MSG_NOSIGNAL) >= 0 || errno == EPIPE, "sendmsg");
}

/* Returns the error of an answer, or 1 if the helper has ended. */
static int receive(int *fd)
{
	struct answer answer;
	struct iovec part = {&answer, sizeof(answer)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = control.bytes,
				.msg_controllen = sizeof(control.bytes)};
	struct pollfd poller = {.fd = helper, .events = POLLIN};

	*fd = -1;
	must(poll(&poller, 1, TIMEOUT) == 1, "an answer");
	if (recvmsg(helper, &header, 0) <= 0)
		return 1;
	if (header.msg_controllen && CMSG_FIRSTHDR(&header))
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(int));
	return answer.error;
}

static int load(uint64_t ring, uint32_t frames, uint32_t sig)
{
	const struct request request = {.type = LOAD, .ring_size = ring, .frames = frames, .signal = sig};
	int fd, error = 0;

	transmit(&request, sizeof(request), NULL, 0);
	for (int i = 0; i < MAPS && !error; i++) {
		error = receive(&fd);
		if (!error && !i) {
			produced = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096);
			must(produced != MAP_FAILED, "mmap");
		}
	}
	return error;
}

/* Asks for a link, which stays until this process ends. */
static int link_at(pid_t pid, uint64_t offset, int at_return, uint32_t count)
{
	struct request request = {.type = LINK, .pid = pid, .at_return = (uint32_t)at_return, .count = count};
	int fd;

	for (unsigned i = 0; i < SITES; i++) {
		request.sites[i].offset = offset;
		request.sites[i].cookie = ENTER | 1;
	}
	transmit(&request, sizeof(request), &libc_fd, 1);
	const int error = receive(&fd);

	return error ? error : receive(&fd);
}

/* Returns the offset in the C library's file of a function. */
static uint64_t offset_of(const char *name)
{
	const uint64_t address = (uintptr_t)dlsym(RTLD_DEFAULT, name);
	unsigned long start, end, offset;
	char line[512], path[256];
	uint64_t found = 0;
	FILE *const maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &start, &end, &offset, path) == 4 &&
		    start <= address && address < end) {
			found = address - start + offset;
			if (!libc_fd)
				libc_fd = open(path, O_RDONLY | O_CLOEXEC);
		}
	fclose(maps);
	must(found && libc_fd > 0, name);
	return found;
}

/* Returns how many of the places from `offset` on are probed. *first: the first one. */
static int count_probed(pid_t pid, uint64_t offset, int at_return, uint64_t *first)
{
	int count = 0;

	for (uint64_t at = offset; at < offset + 64; at++) {
		if (link_at(pid, at, at_return, 1))
			continue;
		if (!count++ && first)
			*first = at;
	}
	return count;
}

static int commands[2], answers[2];

/* Runs in the probed process: executes the commands that the client writes into the pipe. */
static void obey(const char *program)
{
	char command;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(commands[0], &command, 1) == 1) {
		if (command == 'd')
			prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		if (command == 'e') {
			dup2(open("/dev/null", O_RDWR), 1);
			dup2(1, 2);
			execl(program, program, "--help", (char *)NULL);
			_exit(127);
		}
		for (int i = 0; i < 10; i++)
			free(malloc(100));
		must(write(answers[1], &command, 1) == 1, "write");
	}
	_exit(0);
}

static pid_t start_child(const char *program)
{
	must(!pipe2(commands, O_CLOEXEC) && !pipe2(answers, O_CLOEXEC), "pipe2");
	const pid_t pid = fork();

	if (pid == 0)
		obey(program);
	return pid;
}

/* Lets the child do a command, which allocates, and returns the number of bytes of records that it made. */
static long recorded(char command)
{
	const uint64_t before = produced ? __atomic_load_n(produced, __ATOMIC_ACQUIRE) : 0;
	char answer;

	must(write(commands[1], &command, 1) == 1, "write");
	must(read(answers[0], &answer, 1) == 1, "read");
	return produced ? (long)(__atomic_load_n(produced, __ATOMIC_ACQUIRE) - before) : 0;
}

static void attach(pid_t pid)
{
	must(!ptrace(PTRACE_SEIZE, pid, NULL, NULL), "PTRACE_SEIZE");
}

static void detach(pid_t pid)
{
	int status;

	must(!ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), "PTRACE_INTERRUPT");
	must(waitpid(pid, &status, __WALL) == pid, "waitpid");
	must(!ptrace(PTRACE_DETACH, pid, NULL, NULL), "PTRACE_DETACH");
}

/* Requests with wrong numbers. */
static void ask_numbers(pid_t child)
{
	say("link before load", link_at(child, malloc_offset, 0, 1));
	say("ring of 3 bytes", load(3, 16, 0));
	say("ring of 1 TiB", load(1ull << 40, 16, 0));
	say("ring of no power of two", load(RING + 4096, 16, 0));
	say("1000 frames", load(RING, 1000, 0));
	say("SIGKILL", load(RING, 16, SIGKILL));
	say("load", load(RING, 16, SIGURG));
	say("load twice", load(RING, 16, 0));
	say("no sites", link_at(child, malloc_offset, 0, 0));
	say("257 sites", link_at(child, malloc_offset, 0, 257));
	say("4294967295 sites", link_at(child, malloc_offset, 0, UINT32_MAX));
	say("at_return 2", link_at(child, malloc_offset, 2, 1));
	say("pid 0", link_at(0, malloc_offset, 0, 1));
	say("pid -1", link_at(-1, malloc_offset, 0, 1));
	say("own pid", link_at(getpid(), malloc_offset, 0, 1));
}

/* Processes that this process does not trace. */
static void ask_foreign(pid_t child, pid_t other)
{
	uint64_t first;

	say("not traced", count_probed(child, malloc_offset, 0, &first));
	say("of another user", count_probed(other, malloc_offset, 0, &first));
	/* Another process traces it. */
	const pid_t tracer = fork();

	if (tracer == 0) {
		attach(child);
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	waitpid(tracer, NULL, WUNTRACED);
	say("traced by another", count_probed(child, malloc_offset, 0, &first));
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	attach(child);
	say("traced", count_probed(child, malloc_offset, 0, &first) > 0);
	say("records", recorded('m') > 0);
}

/* Places where a probe would change what a program does. */
static void ask_places(pid_t child)
{
	const int libc = libc_fd;
	uint64_t first;

	attach(child);
	/* The first instruction may be probed, or a later one if that changes fewer arguments. */
	const int probed = count_probed(child, malloc_offset, 0, &first);

	say("malloc", probed >= 1 && probed <= 4);
	say("malloc's code", count_probed(child, malloc_offset + 64, 0, NULL));
	say("return of malloc", count_probed(child, malloc_offset, 1, NULL) >= 1);
	say("free", count_probed(child, offset_of("free"), 0, NULL) >= 1);
	say("return of free", count_probed(child, offset_of("free"), 1, NULL));
	say("_setjmp", count_probed(child, offset_of("_setjmp"), 0, NULL));
	say("return of _setjmp", count_probed(child, offset_of("_setjmp"), 1, NULL));
	say("printf", count_probed(child, offset_of("printf"), 0, NULL));
	libc_fd = open("/proc/self/status", O_RDONLY);
	say("/proc", link_at(child, malloc_offset, 0, 1));
	libc_fd = open("/", O_RDONLY);
	say("folder", link_at(child, malloc_offset, 0, 1));
	libc_fd = open("/dev/null", O_RDWR);
	say("device", link_at(child, malloc_offset, 0, 1));
	libc_fd = libc;
}

/* A process whose probes stay, but which the tracer could not read. */
static void ask_silence(pid_t child)
{
	uint64_t first;
	int status;

	attach(child);
	must(count_probed(child, malloc_offset, 0, &first) > 0, "links");
	say("traced", recorded('m') > 0);
	detach(child);
	say("detached", recorded('m'));
	attach(child);
	say("traced again", recorded('m') > 0);
	say("undumpable", recorded('d'));
	detach(child);
	const uint64_t before = __atomic_load_n(produced, __ATOMIC_ACQUIRE);

	must(write(commands[1], "e", 1) == 1, "write");
	must(waitpid(child, &status, 0) == child, "waitpid");
	say("set-user-ID program ended", WIFEXITED(status) && WEXITSTATUS(status) != 127);
	say("set-user-ID program", (long)(__atomic_load_n(produced, __ATOMIC_ACQUIRE) - before));
}

/* Messages that are no requests: the helper ends. */
static void ask_garbage(const char *path)
{
	struct request request = {.type = 77};
	int fd;

	transmit(&request, sizeof(request), NULL, 0);
	say("unknown type", receive(&fd));
	start_helper(path);
	transmit("abc", 3, NULL, 0);
	say("3 bytes", receive(&fd));
	start_helper(path);
	transmit("", 0, NULL, 0);
	say("0 bytes", receive(&fd));
	start_helper(path);
	char *const large = malloc(100000);

	memset(large, 0xff, 100000);
	transmit(large, 100000, NULL, 0);
	say("100000 bytes", receive(&fd));
	start_helper(path);
	say("load", load(RING, 16, 0));
	/* With two descriptors. */
	request.type = LINK;
	request.pid = 1;
	for (int i = 0; i < 3; i++) {
		transmit(&request, sizeof(request), (const int[]){libc_fd, libc_fd}, 2);
		must(receive(&fd) < 0, "an error");
	}
}

int main(int argc, char **argv)
{
	const char *const name = argv[2], *const argument = argc > 3 ? argv[3] : "";

	malloc_offset = offset_of("malloc");
	const pid_t child = start_child(argument);

	start_helper(argv[1]);
	if (!strcmp(name, "numbers")) {
		ask_numbers(child);
	} else if (!strcmp(name, "garbage")) {
		ask_garbage(argv[1]);
		say("helper", helper_pid);
		must(read(0, &(char){0}, 1) >= 0, "read"); /* the test counts the helper's descriptors now */
	} else {
		must(!load(RING, 16, 0), "load");
		if (!strcmp(name, "foreign"))
			ask_foreign(child, atoi(argument));
		else if (!strcmp(name, "places"))
			ask_places(child);
		else
			ask_silence(child);
	}
	kill(child, SIGKILL);
	return 0;
}
