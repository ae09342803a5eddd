/* sharers HOW: a process that shares another one's memory and exists before the tracer attaches; then both allocate.
 *
 * HOW is vfork (detach while the child runs and its parent sleeps), vfork-exec (the child executes a shell while
 * traced), vm (clone(CLONE_VM)), vm-parent (with CLONE_PARENT), vm-vfork, threads (the other process has a second
 * thread, which allocates), leaderless (and its first has ended), or exec-now PROGRAM MICROSECONDS (the vfork child
 * executes PROGRAM that long after a tracer has attached). */
#include "target.h"
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STACK_SIZE (256 << 10)

static volatile int go, thread_done;

static char *new_stack(void)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	CHECK(stack != MAP_FAILED);
	return stack + STACK_SIZE;
}

static void work(void)
{
	for (unsigned i = 0; i < 3; i++)
		free(malloc(36901));
}

static int wait_and_work(void *data)
{
	(void)data;
	while (!go)
		sleep_ms(1);
	work();
	thread_done = 1;
	return 7;
}

static int with_thread(void *data)
{
	CHECK(clone(wait_and_work, new_stack(), CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD,
		    data) > 0);
	while (!thread_done)
		sleep_ms(1);
	return 7;
}

static int without_leader(void *data)
{
	CHECK(clone(wait_and_work, new_stack(), CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD,
		    data) > 0);
	syscall(SYS_exit, 0);
	return 0;
}

static char **arguments;

static void give_up(int signal)
{
	(void)signal;
	go = 1;
}

/* Makes no calls of the allocator. Waits for a tracer or, if one came and left unnoticed, for SIGURG, which the
 * executed program ignores; then executes the program. */
static int exec_when_traced(void)
{
	say("child %d", (int)getpid());
	while (!is_traced() && !go)
		;
	usleep((useconds_t)atoi(arguments[3]));
	execl(arguments[2], arguments[2], (char *)NULL);
	return 99;
}

static int at_the_gate(void *data)
{
	gate();
	work();
	if (!strcmp(data, "vfork-exec"))
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
	gate();
	return 7;
}

/* Waits for the end of another process's child, for which waitpid() does not work: polls until the child is a zombie or
 * was reaped. */
static void wait_for_end(pid_t pid)
{
	char path[64], state[256];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (;;) {
		const int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return;
		const ssize_t got = read(fd, state, sizeof(state) - 1);

		close(fd);
		state[got > 0 ? got : 0] = '\0';
		if (got <= 0 || strstr(state, ") Z ") || strstr(state, ") X "))
			return;
		sleep_ms(1);
	}
}

static pid_t make(char *how)
{
	if (!strcmp(how, "vfork") || !strcmp(how, "vfork-exec")) {
		const pid_t pid = vfork();

		if (!pid)
			_exit(at_the_gate(how));
		return pid;
	}
	if (!strcmp(how, "exec-now")) {
		signal(SIGURG, give_up);
		const pid_t pid = vfork();

		if (!pid)
			_exit(exec_when_traced());
		return pid;
	}
	if (!strcmp(how, "vm-vfork"))
		return clone(at_the_gate, new_stack(), CLONE_VM | CLONE_VFORK | SIGCHLD, how);
	if (!strcmp(how, "vm-parent"))
		return clone(wait_and_work, new_stack(), CLONE_VM | CLONE_PARENT | SIGCHLD, NULL);
	if (!strcmp(how, "leaderless"))
		return clone(without_leader, new_stack(), CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD,
			     NULL);
	if (!strcmp(how, "threads"))
		return clone(with_thread, new_stack(), CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD,
			     NULL);
	CHECK(!strcmp(how, "vm"));
	return clone(wait_and_work, new_stack(), CLONE_VM | SIGCHLD, NULL);
}

int main(int argc, char **argv)
{
	char *how = argc > 1 ? argv[1] : "vm";
	const bool waits = strstr(how, "vfork"), let_go_in_child = waits && strcmp(how, "vfork-exec") != 0;
	int status;

	arguments = argv;
	if (!strcmp(how, "exec-now")) {
		CHECK(argc == 4 && waitpid(make(how), &status, 0) > 0);
		for (unsigned i = 0; i < 300; i++) {
			free(malloc(36903));
			usleep(1000);
		}
		say("the child ended with 0x%x", status);
		return 3;
	}
	expect_alloc(3, 36901, "malloc");
	expect_release(3, 36901, "free");
	if (!let_go_in_child) {
		expect_alloc(1, 36902, "malloc");
		expect_release(1, 36902, "free");
	}
	const pid_t pid = make(how);

	CHECK(pid > 0);
	if (!waits)
		gate();
	go = 1;
	if (!strcmp(how, "vm-parent"))
		wait_for_end(pid);
	else
		CHECK(waitpid(pid, &status, __WALL) == pid && WIFEXITED(status) &&
		      (WEXITSTATUS(status) == 7 || !strcmp(how, "leaderless")));
	if (!let_go_in_child) {
		free(malloc(36902));
		gate();
	}
	say("all is well");
	return 3;
}
