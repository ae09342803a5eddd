/* sleepers [sysv]: one thread in each sleeping system call while the tracer attaches and detaches. Prints for each call
 * whether it was interrupted or ended too early: by the kernel's documentation neither may happen. With sysv also in
 * the calls whose System V semaphores and queues would remain if the process were killed. */
#include "target.h"
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#define MS 900

static int silent[2];
static int sysv;
static sem_t semaphore;
static uint32_t futex_word;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int do_poll(void)
{
	struct pollfd p = {silent[0], POLLIN, 0};

	return poll(&p, 1, MS);
}

static int do_select(void)
{
	struct timeval t = {MS / 1000, (MS % 1000) * 1000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(silent[0], &set);
	return select(silent[0] + 1, &set, NULL, NULL, &t);
}

static int do_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN}, out;
	const int fd = epoll_create1(EPOLL_CLOEXEC);

	CHECK(fd >= 0 && epoll_ctl(fd, EPOLL_CTL_ADD, silent[0], &event) == 0);
	const int result = epoll_wait(fd, &out, 1, MS);
	const int error = errno;

	close(fd);
	errno = error;
	return result;
}

static int do_nanosleep(void)
{
	const struct timespec t = {MS / 1000, (MS % 1000) * 1000000L};

	return nanosleep(&t, NULL);
}

static int do_clock_nanosleep(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += MS * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ? -1 : 0;
}

static int do_futex(void)
{
	const struct timespec t = {MS / 1000, (MS % 1000) * 1000000L};

	return syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, &t, NULL, 0) < 0 && errno == ETIMEDOUT ? 0 : -1;
}

static int do_sem(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += MS * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return sem_timedwait(&semaphore, &t) < 0 && errno == ETIMEDOUT ? 0 : -1;
}

static int do_sigtimedwait(void)
{
	const struct timespec t = {MS / 1000, (MS % 1000) * 1000000L};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &t) < 0 && errno == EAGAIN ? 0 : -1;
}

static int do_semtimedop(void)
{
	const struct timespec t = {MS / 1000, (MS % 1000) * 1000000L};
	struct sembuf down = {0, -1, 0};

	if (!sysv)
		return do_nanosleep();
	const int id = semget(IPC_PRIVATE, 1, 0600);

	CHECK(id >= 0);
#ifdef SYS_semtimedop /* musl has no semtimedop before 1.2 */
	const long result = syscall(SYS_semtimedop, id, &down, 1ul, &t);
#else /* a part of ipc */
	const long result = semtimedop(id, &down, 1, &t);
#endif
	const int error = errno;

	semctl(id, 0, IPC_RMID);
	errno = error;
	return result < 0 && errno == EAGAIN ? 0 : -1;
}

static int timed_socket(int type)
{
	const struct timeval t = {MS / 1000, (MS % 1000) * 1000};
	const struct sockaddr_un no_name = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	/* a name that the kernel chooses */
	CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&no_name, sizeof(sa_family_t)) == 0);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) == 0);
	return fd;
}

static int do_recv(void)
{
	char byte;
	const int fd = timed_socket(SOCK_DGRAM);
	const ssize_t got = recv(fd, &byte, 1, 0);
	const int error = errno;

	close(fd);
	errno = error;
	return got < 0 && errno == EAGAIN ? 0 : -1;
}

static int do_accept(void)
{
	const int fd = timed_socket(SOCK_STREAM);

	CHECK(listen(fd, 1) == 0);
	const int got = accept(fd, NULL, NULL);
	const int error = errno;

	close(fd);
	errno = error;
	return got < 0 && errno == EAGAIN ? 0 : -1;
}

static int do_io_getevents(void)
{
	struct timespec t = {MS / 1000, (MS % 1000) * 1000000L};
	aio_context_t context = 0;
	struct io_event event;

	if (syscall(SYS_io_setup, 1u, &context) < 0)
		return do_nanosleep(); /* this kernel has none */
	const long got = syscall(SYS_io_getevents, context, 1l, 1l, &event, &t);
	const int error = errno;

	syscall(SYS_io_destroy, context);
	errno = error;
	return (int)got;
}

/* A traced task is woken also by signals that it ignores. Calls with `says_eintr` then fail with EINTR, and functrace
 * makes the kernel restart them; the kernel itself restarts all others. If the registers of a stopped task do not allow
 * a restart (restart in arch/arch_syscalls.h), such a call fails: a limit that README.md states. */
#if defined(__aarch64__) || defined(__arm__)
#define IS_MADE_AGAIN false
#else
#define IS_MADE_AGAIN true
#endif

static const struct sleeper {
	const char *name;
	int (*sleep)(void);
	bool says_eintr;
} sleepers[] = {
	{"poll", do_poll, false},
	{"select", do_select, false},
	{"epoll_wait", do_epoll, true},
	{"nanosleep", do_nanosleep, false},
	{"futex", do_futex, false},
	{"clock_nanosleep", do_clock_nanosleep, false},
	{"sem_timedwait", do_sem, false},
	{"sigtimedwait", do_sigtimedwait, true},
	{"semtimedop", do_semtimedop, true},
	{"recv", do_recv, true},
	{"accept", do_accept, true},
	{"io_getevents", do_io_getevents, true},
};
#define COUNT (sizeof(sleepers) / sizeof(*sleepers))

static struct {
	int result, error;
	int too_soon;
} outcome[COUNT];

static void *run(void *data)
{
	const unsigned i = (unsigned)(uintptr_t)data;
	const uint64_t start = now_ns();

	errno = 0;
	outcome[i].result = sleepers[i].sleep();
	outcome[i].error = outcome[i].result < 0 ? errno : 0;
	outcome[i].too_soon = now_ns() - start < MS * 1000000u - 4000000u;
	return NULL;
}

/* ---- Calls without an end of their own: the code that ends each comes last ---- */

static int pipe_ends[2], message_queue, lock_fds[2];
static sem_t wake;
static pid_t child;

static int end_read(void)
{
	char byte = 0;

	return read(pipe_ends[0], &byte, 1) == 1 && byte == 'x' ? 0 : -1;
}

static int end_sem(void)
{
	return sem_wait(&wake);
}

static int end_wait(void)
{
	return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int end_msgrcv(void)
{
	struct {
		long type;
		char text[1];
	} message;

	return !sysv || msgrcv(message_queue, &message, 1, 0, 0) == 1 ? 0 : -1;
}

static int end_flock(void)
{
	return flock(lock_fds[1], LOCK_EX);
}

static const struct sleeper endless[] = {
	{"read", end_read, false},     {"sem_wait", end_sem, false}, {"waitpid", end_wait, false},
	{"msgrcv", end_msgrcv, false}, {"flock", end_flock, false},
};
#define ENDLESS (sizeof(endless) / sizeof(*endless))

static void *run_endless(void *data)
{
	const struct sleeper *sleeper = data;

	errno = 0;
	return sleeper->sleep() == 0 ? NULL : data;
}

static void prepare(void)
{
	char path[64];

	CHECK(pipe(pipe_ends) == 0 && sem_init(&wake, 0, 0) == 0);
	message_queue = sysv ? msgget(IPC_PRIVATE, 0600) : 0;
	/* Two open file descriptions, so that the second flock() waits for the first one's lock. The file is a memfd,
	 * because other runs of this program lock at the same time. */
	lock_fds[0] = memfd_create("lock", MFD_CLOEXEC);
	CHECK(lock_fds[0] >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", lock_fds[0]);
	lock_fds[1] = open(path, O_RDWR | O_CLOEXEC);
	CHECK(message_queue >= 0 && lock_fds[1] >= 0 && flock(lock_fds[0], LOCK_EX) == 0);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		close(pipe_ends[1]);
		close(silent[1]);
		char byte;

		/* until the parent writes or ends */
		_exit(read(silent[0], &byte, 1) == 1 ? 0 : 1);
	}
}

static void end_them(void)
{
	const struct {
		long type;
		char text[1];
	} message = {1, "x"};

	CHECK(write(pipe_ends[1], "x", 1) == 1 && sem_post(&wake) == 0 && flock(lock_fds[0], LOCK_UN) == 0);
	CHECK((!sysv || msgsnd(message_queue, &message, 1, 0) == 0) && write(silent[1], "x", 1) == 1);
}

int main(int argc, char **argv)
{
	pthread_t tid[COUNT], endless_tid[ENDLESS];
	void *failed;

	sysv = argc > 1 && !strcmp(argv[1], "sysv");
	CHECK(pipe(silent) == 0 && sem_init(&semaphore, 0, 0) == 0);
	prepare();
	for (unsigned i = 0; i < ENDLESS; i++)
		CHECK(pthread_create(&endless_tid[i], NULL, run_endless, (void *)(uintptr_t)&endless[i]) == 0);
	for (unsigned i = 0; i < COUNT; i++)
		CHECK(pthread_create(&tid[i], NULL, run, (void *)(uintptr_t)i) == 0);
	sleep_ms(50); /* they sleep: the tracer may attach now */
	gate();
	free(malloc(36201));
	/* SIGURG is ignored by default: untraced it wakes no call */
	for (unsigned i = 0; i < COUNT; i++)
		if (!sleepers[i].says_eintr || IS_MADE_AGAIN)
			pthread_kill(tid[i], SIGURG);
	for (unsigned i = 0; i < ENDLESS; i++)
		pthread_kill(endless_tid[i], SIGURG);
	for (unsigned i = 0; i < COUNT; i++) {
		pthread_join(tid[i], NULL);
		say("%s: %s%s%s", sleepers[i].name, outcome[i].result == 0 ? "slept to its end" : "failed: ",
		    outcome[i].result == 0 ? "" : strerror(outcome[i].error), outcome[i].too_soon ? ", too soon" : "");
	}
	end_them();
	for (unsigned i = 0; i < ENDLESS; i++) {
		pthread_join(endless_tid[i], &failed);
		say("%s: %s", endless[i].name, failed ? "failed" : "woken");
	}
	if (sysv)
		msgctl(message_queue, IPC_RMID, NULL);
	expect_alloc(1, 36201, "malloc");
	expect_release(1, 36201, "free");
	gate();
	return 0;
}
