/* forks HOW: ways to create a process, with allocations in both processes.
 *
 * HOW is fork, tree, vfork, spawn, or a mix of clone flags: vm (shares memory, a process of its own), vfork-own
 * (CLONE_VFORK with its own memory), vm-vfork, parent (CLONE_PARENT), vm-parent, vm-vfork-parent, no-signal (exit
 * signal 0), ptrace (CLONE_PTRACE), untraced-ptrace, sighand (shares memory, files and handlers), clone3 and clone3-mix
 * (the newer call), or a child that cannot be followed: untraced-raw (CLONE_UNTRACED, and no calls of the allocator)
 * and untraced (with calls). */
#include "target.h"
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif

extern char **environ;

static void *kept;

/* Runs in a child that has its own memory. */
static void child_work(void)
{
	void *p = malloc(34001);

	CHECK(p);
	free(p);
	free(kept); /* the child's copy; the parent releases its own */
}

static void expect_child(unsigned count)
{
	say("expect-child + %u 34001 malloc", count);
	say("expect-child - %u 34001 free", count);
}

static void reap(pid_t pid, int flags)
{
	int status;

	while (waitpid(pid, &status, flags) < 0)
		CHECK(errno == EINTR);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void fork_one(void)
{
	const pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		child_work();
		_exit(7);
	}
	reap(pid, 0);
	expect_child(1);
}

static void fork_tree(void)
{
	for (unsigned i = 0; i < 4; i++) {
		const pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			const pid_t grandchild = fork();

			CHECK(grandchild >= 0);
			child_work();
			if (!grandchild)
				_exit(7);
			reap(grandchild, 0);
			_exit(7);
		}
		reap(pid, 0);
	}
	expect_child(8);
}

static void vfork_one(void)
{
	/* A vfork child may only exec or exit. Until then it runs in the parent's memory. */
	const pid_t pid = vfork();

	CHECK(pid >= 0);
	if (!pid) {
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
		_exit(99);
	}
	reap(pid, 0);
	const pid_t second = vfork();

	if (!second)
		_exit(7);
	reap(second, 0);
}

static void spawn_one(void)
{
	char *argv[] = {"sh", "-c", "exit 7", NULL};
	pid_t pid;

	for (unsigned i = 0; i < 3; i++) {
		CHECK(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) == 0);
		reap(pid, 0);
	}
	/* a missing program: the child fails within the parent's memory */
	CHECK(posix_spawn(&pid, "/nonexistent/program", NULL, NULL, argv, environ) == ENOENT);
}

static int shared;

static int clone_child(void *data)
{
	const int how = *(const int *)data;

	shared = 1;
	if (how & CLONE_VM) {
		/* The same memory: these calls are in the parent's trace. */
		free(malloc(34002));
		return 7;
	}
	child_work();
	return 7;
}

/* Forks by clone3(2), which takes the child's exit signal in a field of its own. */
static void clone3_one(uint64_t flags)
{
	int pidfd = -1;
	pid_t told = 0;
	const struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} args = {.flags = flags | CLONE_PIDFD | CLONE_PARENT_SETTID,
		  .pidfd = (uint64_t)(uintptr_t)&pidfd,
		  .parent_tid = (uint64_t)(uintptr_t)&told,
		  .exit_signal = SIGCHLD};
	const long pid = syscall(SYS_clone3, &args, sizeof(args));

	CHECK(pid >= 0);
	if (pid)
		CHECK(told == pid && pidfd >= 0 && close(pidfd) == 0);
	if (!pid) {
		child_work();
		_exit(7);
	}
	reap((pid_t)pid, 0);
	expect_child(1);
}

/* Prints how the child ended: that depends on whether the parent is traced. */
static void untraced_one(bool calls)
{
	int status;
	const long pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);

	CHECK(pid >= 0);
	if (!pid) {
		if (calls)
			free(malloc(34005));
		_exit(7);
	}
	CHECK(waitpid((pid_t)pid, &status, 0) == pid);
	if (WIFSIGNALED(status))
		say("the child was killed by signal %d", WTERMSIG(status));
	else
		say("the child has exited with status %d", WEXITSTATUS(status));
}

static void clone_one(int flags)
{
	const size_t size = 256 << 10;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	CHECK(stack != MAP_FAILED);
	const pid_t pid = clone(clone_child, stack + size, flags, &flags);

	CHECK(pid > 0);
	if (flags & CLONE_PARENT) {
		/* the child of this process's parent: this process cannot wait for it */
		CHECK(waitpid(pid, NULL, __WALL) < 0 && errno == ECHILD);
		while (kill(pid, 0) == 0) {
			char path[64], state[256] = "";

			/* until it is a zombie or reaped */
			snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
			const int fd = open(path, O_RDONLY | O_CLOEXEC);

			if (fd < 0)
				break;
			const ssize_t got = read(fd, state, sizeof(state) - 1);

			close(fd);
			if (got <= 0 || strstr(state, ") Z ") || strstr(state, ") X "))
				break;
			sleep_ms(1);
		}
	} else
		reap(pid, __WALL);
	if (flags & CLONE_VM) {
		expect_alloc(1, 34002, "malloc");
		expect_release(1, 34002, "free");
	} else
		expect_child(1);
	munmap(stack, size);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "fork";

	gate();
	kept = malloc(34003);
	CHECK(kept);
	if (!strcmp(how, "fork"))
		fork_one();
	else if (!strcmp(how, "tree"))
		fork_tree();
	else if (!strcmp(how, "vfork"))
		vfork_one();
	else if (!strcmp(how, "spawn"))
		spawn_one();
	else if (!strcmp(how, "vm"))
		clone_one(CLONE_VM | SIGCHLD);
	else if (!strcmp(how, "vfork-own"))
		clone_one(CLONE_VFORK | SIGCHLD);
	else if (!strcmp(how, "vm-vfork"))
		clone_one(CLONE_VM | CLONE_VFORK | SIGCHLD);
	else if (!strcmp(how, "parent"))
		clone_one(CLONE_PARENT | SIGCHLD);
	else if (!strcmp(how, "no-signal"))
		clone_one(0);
	else if (!strcmp(how, "ptrace"))
		clone_one(CLONE_PTRACE | SIGCHLD);
	else if (!strcmp(how, "sighand"))
		clone_one(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD);
	else if (!strcmp(how, "vm-parent"))
		clone_one(CLONE_VM | CLONE_PARENT | CLONE_PTRACE | SIGCHLD);
	else if (!strcmp(how, "clone3"))
		clone3_one(0);
	else if (!strcmp(how, "clone3-mix"))
		clone3_one(CLONE_VFORK | CLONE_FILES | CLONE_PTRACE | CLONE_CLEAR_SIGHAND);
	else if (!strcmp(how, "untraced") || !strcmp(how, "untraced-raw"))
		untraced_one(!strcmp(how, "untraced"));
	else if (!strcmp(how, "untraced-ptrace"))
		clone_one(CLONE_UNTRACED | CLONE_PTRACE | SIGCHLD);
	else if (!strcmp(how, "vm-vfork-parent"))
		clone_one(CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD);
	else
		CHECK(!"HOW");
	free(malloc(34004));
	free(kept);
	expect_alloc(1, 34003, "malloc");
	expect_release(1, 34003, "free");
	expect_alloc(1, 34004, "malloc");
	expect_release(1, 34004, "free");
	gate();
	return 0;
}
