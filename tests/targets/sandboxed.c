/* sandboxed HOW: a target that has restricted itself before the tracer attaches.
 *
 *   seccomp           a filter that kills the process for any system call except the few that it makes
 *   seccomp-handler   the same, with a handler of SIGTRAP that was set before and stays
 *   seccomp-ignored   the same, with SIGTRAP ignored before
 *   strict            the strict mode: only read, write, exit and sigreturn
 *   undumpable        PR_SET_DUMPABLE 0
 *   no-new-privs      PR_SET_NO_NEW_PRIVS, and an exec after that */
#include "target.h"
#include <sys/syscall.h>

/* Definitions of <linux/filter.h> and <linux/seccomp.h>: with some C libraries the compiler does not find these
 * headers. */
struct insn {
	unsigned short code;
	unsigned char if_true, if_false;
	unsigned value;
};
#define LOAD_NUMBER 0x20 /* BPF_LD | BPF_W | BPF_ABS, at 0: `nr` of struct seccomp_data */
#define JUMP_EQUAL  0x15
#define RETURN      0x06
#define ALLOW       0x7fff0000u
#define KILL        0x80000000u

static volatile sig_atomic_t traps;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	traps++;
	past_own_trap(context);
}

#ifndef SYS_mmap
#define SYS_mmap SYS_mmap2
#endif
static const unsigned short allowed[] = {
	SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_futex, SYS_brk, SYS_mmap, SYS_munmap, SYS_rt_sigreturn,
};
#define COUNT (sizeof(allowed) / sizeof(*allowed))

static void lock_in(void)
{
	struct insn code[2 * COUNT + 2], *at = code;

	*at++ = (struct insn){LOAD_NUMBER, 0, 0, 0};
	for (unsigned i = 0; i < COUNT; i++) {
		*at++ = (struct insn){JUMP_EQUAL, 0, 1, allowed[i]};
		*at++ = (struct insn){RETURN, 0, 0, ALLOW};
	}
	*at++ = (struct insn){RETURN, 0, 0, KILL};
	const struct {
		unsigned short count;
		const struct insn *code;
	} program = {(unsigned short)(at - code), code};

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, 2, &program, 0, 0) == 0);
}

/* gate() in two halves, because its prctl is no longer allowed when the tracer may attach. */
static int gate_in = -1, gate_out = -1;

static void gate_prepare(void)
{
	const char *where = getenv("GATE");

	if (where && sscanf(where, "%d,%d", &gate_in, &gate_out) == 2)
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

static void gate_here(void)
{
	char byte = 'g';

	if (gate_out < 0)
		return;
	CHECK(write(gate_out, &byte, 1) == 1);
	while (read(gate_in, &byte, 1) < 0 && errno == EINTR)
		;
}

static void work(void)
{
	for (unsigned i = 0; i < 40; i++) {
		char *p = malloc(36601);

		KEEP(p);
		p = realloc(p, 36602);
		KEEP(p);
		free(p);
	}
	expect_alloc(40, 36601, "malloc");
	expect_release(40, 36601, "realloc");
	expect_alloc(40, 36602, "realloc");
	expect_release(40, 36602, "free");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "seccomp";
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	gate_prepare();
	free(malloc(100)); /* makes the C library open and request now what it needs once */
	if (!strcmp(how, "seccomp-handler"))
		CHECK(!sigaction(SIGTRAP, &action, NULL));
	if (!strcmp(how, "seccomp-ignored"))
		signal(SIGTRAP, SIG_IGN);
	if (!strncmp(how, "seccomp", 7)) {
		lock_in();
	} else if (!strcmp(how, "strict")) {
		/* in strict mode the allocator can request no memory from the kernel, so it gets now what it needs */
		free(malloc(100000));
		CHECK(prctl(PR_SET_SECCOMP, 1, 0, 0, 0) == 0);
	} else if (!strcmp(how, "undumpable")) {
		CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
	} else if (!strcmp(how, "no-new-privs")) {
		CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
		execl("/proc/self/exe", argv[0], "after", (char *)NULL);
	}
	if (!strcmp(how, "after"))
		CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	gate_here();
	work();
	if (!strcmp(how, "seccomp-handler")) {
		OWN_TRAP();
		say("traps %d", (int)traps);
	}
	if (!strcmp(how, "undumpable"))
		CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
	gate_here();
	syscall(SYS_exit, 5); /* strict mode has no exit_group */
	return 0;
}
