/* One thread in each sleeping system call while the tracer comes and goes. Each says whether
 * it was interrupted or woke too soon: by the kernel's documents neither may happen. */
#include "target.h"
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#define MS 900

static int silent[2];
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

	return syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, &t, NULL, 0) < 0 && errno == ETIMEDOUT
		       ? 0
		       : -1;
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

static const struct sleeper {
	const char *name;
	int (*sleep)(void);
} sleepers[] = {
	{"poll", do_poll},         {"select", do_select},
	{"epoll_wait", do_epoll},  {"nanosleep", do_nanosleep},
	{"futex", do_futex},       {"clock_nanosleep", do_clock_nanosleep},
	{"sem_timedwait", do_sem}, {"sigtimedwait", do_sigtimedwait},
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

/* A read without an end, which is ended by a byte. */
static void *read_one(void *data)
{
	char byte = 0;

	errno = 0;
	const ssize_t got = read(*(const int *)data, &byte, 1);

	return got == 1 && byte == 'x' ? NULL : data;
}

int main(void)
{
	pthread_t tid[COUNT], reader;
	int pipe_ends[2];
	void *failed;

	CHECK(pipe(silent) == 0 && pipe(pipe_ends) == 0 && sem_init(&semaphore, 0, 0) == 0);
	CHECK(pthread_create(&reader, NULL, read_one, &pipe_ends[0]) == 0);
	for (unsigned i = 0; i < COUNT; i++)
		CHECK(pthread_create(&tid[i], NULL, run, (void *)(uintptr_t)i) == 0);
	sleep_ms(50); /* they sleep: the tracer may come now */
	gate();
	free(malloc(36201));
	for (unsigned i = 0; i < COUNT; i++) {
		pthread_join(tid[i], NULL);
		say("%s: %s%s%s", sleepers[i].name,
		    outcome[i].result == 0 ? "slept to its end" : "failed: ",
		    outcome[i].result == 0 ? "" : strerror(outcome[i].error),
		    outcome[i].too_soon ? ", too soon" : "");
	}
	CHECK(write(pipe_ends[1], "x", 1) == 1);
	pthread_join(reader, &failed);
	say("read: %s", failed ? "failed" : "one byte");
	expect_alloc(1, 36201, "malloc");
	expect_release(1, 36201, "free");
	gate();
	return 0;
}
