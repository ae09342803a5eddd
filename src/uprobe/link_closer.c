#include "config.h"
#include "uprobe/link_closer.h"
#include "base/util.h"
#include "base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel removes a link's probes when the last descriptor of the link is closed. If the closing thread is killed
 * meanwhile, the kernel gives up, and the probes stay in the text:
 *
 *	A: close(link) | SIGKILL of A's process | A: get_user_pages_remote() = -EINTR, for each probe that is left
 *
 * A process that exits has taken its SIGKILL already, and gets no other. So the exit of a child, which has copies of
 * the descriptors, removes the probes. The child waits until this process has closed its own descriptor, or has been
 * killed.
 * Source: kernel/events/uprobes.c, uprobe_unregister_nosync(); mm/gup.c, fatal_signal_pending(). */

#define CHILDREN_MAX 16
#define STACK_SIZE   8192

struct closing {
	int pipe[2];
	pid_t pid;
	int pidfd; /* readable when the child has ended */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_closed = PTHREAD_COND_INITIALIZER;
static int *fds;
static size_t count, capacity;
static bool is_closing; /* the thread runs */

/* The child shares the memory with this process, so it makes bare system calls only. */
static int wait_and_exit(void *context)
{
	const struct closing *const closing = context;
	char byte;

	syscall(SYS_close, closing->pipe[1]);
	while (syscall(SYS_read, closing->pipe[0], &byte, 1) < 0 && errno == EINTR)
		;
	return (int)syscall(SYS_exit_group, 0);
}

/* Removes a link's probes by a child. Returns false if there can be no child. */
static bool begin_child(struct closing *closing, int fd, unsigned char stack[STACK_SIZE])
{
	if (pipe2(closing->pipe, O_CLOEXEC) < 0)
		return false;
	closing->pid = clone(wait_and_exit, stack + STACK_SIZE, CLONE_VM | CLONE_PIDFD, closing, &closing->pidfd);
	if (closing->pid > 0)
		close(fd);
	close(closing->pipe[0]);
	close(closing->pipe[1]);
	return closing->pid > 0;
}

static void await_child(const struct closing *closing)
{
	struct pollfd ended = {.fd = closing->pidfd, .events = POLLIN};

	while (poll(&ended, 1, -1) < 0 && errno == EINTR)
		;
	/* A wait for all tracees may have reaped it. */
	waitid(P_PIDFD, (id_t)closing->pidfd, &(siginfo_t){0}, WEXITED | __WALL);
	close(closing->pidfd);
}

static void close_some(const int *some, size_t number)
{
	static _Alignas(16) unsigned char stacks[CHILDREN_MAX][STACK_SIZE];
	struct closing closings[CHILDREN_MAX];
	size_t begun = 0;

	for (size_t i = 0; i < number; i++)
		if (begin_child(&closings[begun], some[i], stacks[begun]))
			begun++;
		else
			close(some[i]);
	for (size_t i = 0; i < begun; i++)
		await_child(&closings[i]);
}

static void *close_queued(void *unused)
{
	int some[CHILDREN_MAX];
	size_t number;

	(void)unused;
	pthread_mutex_lock(&lock);
	while (count) {
		for (number = 0; count && number < CHILDREN_MAX; number++)
			some[number] = fds[--count];
		pthread_mutex_unlock(&lock);
		close_some(some, number);
		pthread_mutex_lock(&lock);
	}
	is_closing = false;
	pthread_cond_broadcast(&all_closed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void link_close(int fd)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	ARRAY_GROW(fds, capacity, count);
	fds[count++] = fd;
	const bool starts = !is_closing;

	is_closing = true;
	pthread_mutex_unlock(&lock);
	if (!starts)
		return;
	if (thread_start_masked(&thread, NULL, close_queued, NULL) == 0)
		pthread_detach(thread);
	else
		close_queued(NULL);
}

void link_close_wait(void)
{
	pthread_mutex_lock(&lock);
	while (is_closing)
		pthread_cond_wait(&all_closed, &lock);
	pthread_mutex_unlock(&lock);
}

bool link_close_is_done(void)
{
	pthread_mutex_lock(&lock);
	const bool is_done = !is_closing;

	pthread_mutex_unlock(&lock);
	return is_done;
}
