#include "config.h"
#include "tests/unit/arch_arena.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

#ifdef __aarch64__
#include <sys/auxv.h>
#define REACH       (1u << 26) /* within reach of a jump */
#define NT_EXTENDED NT_FPREGSET
/* Landing pads are enforced if the processor has them: the code in TEXT and the copies must work with them. */
#define PROT_GUARDED 0x10
#define HAS_GUARD    (getauxval(AT_HWCAP2) & 1u << 17)
#else
#define REACH        (1u << 30)
#define NT_EXTENDED  NT_X86_XSTATE
#define PROT_GUARDED 0
#define HAS_GUARD    false
#endif
#define PROT_CODE (PROT_READ | PROT_EXEC | (HAS_GUARD ? PROT_GUARDED : 0))

const uint64_t arena_slots[ARENA_SLOTS] = {
	[SLOT_NEAR] = ARENA_TEXT - 0x8000,
	[SLOT_ABOVE] = ARENA_TEXT + REACH,
	[SLOT_BELOW] = ARENA_TEXT - REACH,
#ifdef ARENA_32
	[SLOT_FAR] = ARENA_TEXT + (1u << 31),
#else
	[SLOT_FAR] = ARENA_TEXT + (1ull << 36),
#endif
};

static pid_t child;
static int memory_fd = -1;

/* Ends the test, because the test itself or the kernel is broken. */
static void die(const char *what)
{
	fprintf(stderr, "arena: %s: %s\n", what, strerror(errno));
	if (child > 0)
		kill(child, SIGKILL);
	exit(1);
}

/* Fills code with breakpoints. */
static void fill(unsigned char *code, size_t size)
{
	unsigned char bytes[ARCH_BREAKPOINT_MAX];
	const unsigned length = arch_native()->breakpoint.encode(0, bytes);

	for (size_t i = 0; i < size; i++)
		code[i] = bytes[i % length];
}

static void map(uint64_t address, size_t size, int protection)
{
	void *at = mmap((void *)address, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at != (void *)address)
		die("mmap");
	if (protection & PROT_EXEC)
		fill(at, size);
	if (mprotect(at, size, protection))
		die("mprotect");
}

/* Maps the arena and stops. The child's own code does not run after that. */
static void child_main(void)
{
	map(ARENA_TEXT, ARENA_TEXT_SIZE, PROT_CODE);
	map(ARENA_DATA, ARENA_DATA_SIZE, PROT_READ | PROT_WRITE);
	for (unsigned i = 0; i < ARENA_SLOTS; i++)
		map(arena_slots[i] & ~0xfffull, 0x1000, PROT_CODE);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(errno == EPERM ? 77 : 1);
	raise(SIGSTOP);
	_exit(1);
}

static void wait_stop(int *status)
{
	alarm(20); /* if the child loops for ever, SIGALRM ends the test */
	if (waitpid(child, status, 0) != child)
		die("waitpid");
	alarm(0);
}

#ifdef ARENA_32
#define WORD(member) (offsetof(struct user_regs_struct, member) / sizeof(uint64_t))

/* Reads or writes the child's registers in the 64-bit form. NT_PRSTATUS would have the 32-bit form while the child runs
 * 32-bit code. */
static void transfer_regs(int request, struct arena_state *state)
{
	if (ptrace(request == PTRACE_SETREGSET ? PTRACE_SETREGS : PTRACE_GETREGS, child, NULL, &state->regs))
		die("registers");
}

#define USER32_CS 0x23 /* the kernel's selectors for 32-bit code, and for data */
#define USER_DS   0x2b

/* For each word of i386's registers the word of x86-64's. */
static const unsigned char wide_words[] = {
	WORD(rbx), WORD(rcx), WORD(rdx),      WORD(rsi), WORD(rdi), WORD(rbp),    WORD(rax), WORD(ds), WORD(es),
	WORD(fs),  WORD(gs),  WORD(orig_rax), WORD(rip), WORD(cs),  WORD(eflags), WORD(rsp), WORD(ss),
};

const struct arch *arena_arch(void)
{
	return arch_for_elf(EM_386, ELFCLASS32);
}

void arena_fit(struct arch_regs *regs)
{
	struct arch_regs whole = *regs;

	memset(regs, 0, sizeof(*regs));
	for (size_t i = 0; i < ARRAY_SIZE(wide_words); i++)
		regs->words[wide_words[i]] = (uint32_t)whole.words[wide_words[i]];
	regs->words[WORD(orig_rax)] = UINT64_MAX;
	regs->words[WORD(cs)] = USER32_CS;
	regs->words[WORD(ds)] = regs->words[WORD(es)] = regs->words[WORD(ss)] = USER_DS;
}

bool arena_can_resume(const struct arch_regs *regs)
{
	(void)regs;
	return true;
}

int arena_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *memory)
{
	struct arch_regs narrow = {.words = {0}};

	for (size_t i = 0; i < ARRAY_SIZE(wide_words); i++)
		narrow.narrow[i] = (uint32_t)regs->words[wide_words[i]];
	const struct arch_regs before = narrow;
	const int error = arena_arch()->insns.emulate(insn, &narrow, memory);

	if (error && memcmp(&narrow, &before, sizeof(narrow)))
		die("registers have changed");
	for (size_t i = 0; i < ARRAY_SIZE(wide_words); i++)
		if (wide_words[i] != WORD(orig_rax))
			regs->words[wide_words[i]] = narrow.narrow[i];
	return error;
}
#else
static void transfer_regs(int request, struct arena_state *state)
{
	struct iovec regs = {&state->regs, arch_native()->registers.size};

	if (ptrace(request, child, NT_PRSTATUS, &regs))
		die("regset");
}

const struct arch *arena_arch(void)
{
	return arch_native();
}

#ifdef __x86_64__
static bool resumes_any_sp;

bool arena_can_resume(const struct arch_regs *regs)
{
	const int64_t sp = (int64_t)regs->words[offsetof(struct user_regs_struct, rsp) / 8];

	return resumes_any_sp || sp >> 47 == 0 || sp >> 47 == -1;
}

void arena_fit(struct arch_regs *regs)
{
	if (!arena_can_resume(regs))
		regs->words[offsetof(struct user_regs_struct, rsp) / 8] &= UINT64_MAX >> 17;
}
#else
void arena_fit(struct arch_regs *regs)
{
	(void)regs;
}
#endif

int arena_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *memory)
{
	return arena_arch()->insns.emulate(insn, regs, memory);
}
#endif

static void transfer_xstate(int request, struct arena_state *state)
{
	struct iovec xstate = {state->xstate, sizeof(state->xstate)};

	if (request == PTRACE_SETREGSET)
		xstate.iov_len = state->xstate_size;
	if (ptrace(request, child, NT_EXTENDED, &xstate))
		die("xstate");
	if (xstate.iov_len == sizeof(state->xstate)) { /* the state may be truncated, and would then be refused */
		errno = E2BIG;
		die("xstate: ARENA_XSTATE");
	}
	state->xstate_size = xstate.iov_len;
}

void arena_end(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		close(memory_fd);
	}
	child = 0;
}

void arena_code(uint64_t address, const unsigned char *bytes, size_t size)
{
	unsigned char filling[64];

	fill(filling, sizeof(filling));
	if (size > sizeof(filling) || pwrite(memory_fd, bytes ? bytes : filling, size, (off_t)address) != (ssize_t)size)
		die("writing code");
}

void arena_put_data(const struct arena_state *state)
{
	if (pwrite(memory_fd, state->data, ARENA_DATA_SIZE, ARENA_DATA) != ARENA_DATA_SIZE)
		die("writing data");
}

void arena_get_data(struct arena_state *state)
{
	if (pread(memory_fd, state->data, ARENA_DATA_SIZE, ARENA_DATA) != ARENA_DATA_SIZE)
		die("reading data");
}

/* Sets the child's registers and DATA from *after, resumes it by PTRACE_CONT or PTRACE_SINGLESTEP, and reads the state
 * at its next stop into *after, except for the extended registers. */
static void resume_until_stop(int request, struct arena_state *after)
{
	siginfo_t info;
	int status;

	transfer_regs(PTRACE_SETREGSET, after);
	arena_put_data(after);
	if (ptrace(request, child, 0, 0))
		die("resuming");
	wait_stop(&status);
	if (!WIFSTOPPED(status) || ptrace(PTRACE_GETSIGINFO, child, 0, &info))
		die("the child did not stop");
	after->signal = WSTOPSIG(status);
	after->code = info.si_code;
	after->fault = after->signal == SIGSEGV || after->signal == SIGBUS ? (uintptr_t)info.si_addr : 0;
	transfer_regs(PTRACE_GETREGSET, after);
	arena_get_data(after);
}

void arena_run(const struct arena_state *before, struct arena_state *after)
{
	*after = *before;
	transfer_xstate(PTRACE_SETREGSET, after);
	resume_until_stop(PTRACE_CONT, after);
	transfer_xstate(PTRACE_GETREGSET, after);
}

void arena_step(const struct arena_state *before, struct arena_state *after)
{
	*after = *before;
	resume_until_stop(PTRACE_SINGLESTEP, after);
}

#ifdef __x86_64__
/* Returns true if a nop runs with this stack pointer: the child stops after it, at the breakpoint. */
static bool runs_nop(const struct arena_state *idle, uint64_t sp)
{
	static const unsigned char nop = 0x90;
	struct arena_state before = *idle, after;

	before.regs.words[offsetof(struct user_regs_struct, rip) / 8] = ARENA_HERE;
	before.regs.words[offsetof(struct user_regs_struct, rsp) / 8] = sp;
	arena_code(ARENA_HERE, &nop, 1);
	arena_run(&before, &after);
	arena_code(ARENA_HERE, NULL, 1);
	return after.signal == SIGTRAP &&
	       after.regs.words[offsetof(struct user_regs_struct, rip) / 8] == ARENA_HERE + 2;
}

/* Finds out what this kernel can run. Returns -ENOEXEC if it does not run the child's code: some kernels have no 32-bit
 * code at all. Sets resumes_any_sp: some guest kernels kill a task that is resumed with a stack pointer that is not a
 * valid address, although a processor would allow this until the next use of the stack. */
static int probe(const struct arena_state *idle)
{
	if (!runs_nop(idle, ARENA_STACK))
		return -ENOEXEC;
#ifndef ARENA_32
	resumes_any_sp = runs_nop(idle, 1ull << 60);
	if (!resumes_any_sp)
		printf("this kernel resumes no task whose stack pointer is no address: these states are left out\n");
#endif
	return 0;
}
#else
static int probe(const struct arena_state *idle)
{
	(void)idle;
	return 0;
}
#endif

void arena_skipped(int error)
{
	if (error == -ENOEXEC)
		printf("skipped: this kernel runs no 32-bit code\n");
	else
		printf("skipped: this process may not trace a child (%s)\n", strerror(-error));
}

int arena_start(struct arena_state *state)
{
	char path[64];
	int status;

	memset(state, 0, sizeof(*state));
	fflush(NULL);
	child = fork();
	if (child < 0)
		return -errno;
	if (!child)
		child_main();
	wait_stop(&status);
	if (!WIFSTOPPED(status)) {
		child = 0;
		return -EPERM;
	}
	if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL))
		die("SETOPTIONS");
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	memory_fd = open(path, O_RDWR | O_CLOEXEC);
	if (memory_fd < 0)
		die(path);
	transfer_regs(PTRACE_GETREGSET, state);
	transfer_xstate(PTRACE_GETREGSET, state);
	arena_fit(&state->regs);
	return probe(state);
}

/* Reads the child's memory, and fails as an access by the child itself would: process_vm_readv() obeys memory
 * protection, /proc/PID/mem would ignore it. */
static int memory_read(void *context, uint64_t address, void *data, size_t size)
{
	const struct iovec local = {data, size}, remote = {(void *)(uintptr_t)address, size};

	(void)context;
	return process_vm_readv(child, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static int memory_write(void *context, uint64_t address, const void *data, size_t size)
{
	const struct iovec local = {(void *)(uintptr_t)data, size}, remote = {(void *)(uintptr_t)address, size};
	unsigned char old[16];

	/* No partial write at the end of DATA. */
	if (size > sizeof(old) || memory_read(context, address, old, size))
		return -EFAULT;
	return process_vm_writev(child, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

const struct arch_memory arena_memory = {memory_read, memory_write, NULL};

/* Returns true if a task sleeps in a system call: by its state in /proc/PID/stat. */
static bool is_sleeping(pid_t pid)
{
	char path[64];
	bool sleeps = false;
	char *text;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	text = read_file(path, 4096, NULL);
	if (text && strrchr(text, ')'))
		sleeps = !strncmp(strrchr(text, ')'), ") S", 3);
	free(text);
	return sleeps;
}

/* Returns true when the child sleeps and stays asleep, false when it has ended. */
static bool wait_asleep(void)
{
	for (int same = 0; same < 5; usleep(2000)) {
		siginfo_t info = {0};

		if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return false;
		same = is_sleeping(child) ? same + 1 : 0;
	}
	return true;
}

/* Waits for the end of the pipe as the start signal, then calls the function. */
static void interrupted_main(const int start[2], int (*function)(void))
{
	char byte;

	close(start[1]);
	if (read(start[0], &byte, 1) || function() < 0)
		_exit(77);
	_exit(0);
}

static void offer_regs(bool (*change)(struct arch_regs *regs))
{
	struct arch_regs regs;
	struct iovec iov = {&regs, arch_native()->registers.size};

	if (ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &iov))
		die("GETREGSET");
	if (change(&regs) && ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &iov))
		die("SETREGSET");
}

/* Stops the sleeping child, changes its registers, and observes what it does then. */
static enum arena_interrupted interrupt(bool (*change)(struct arch_regs *regs), int signal)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, child, 0, 0))
		die("INTERRUPT");
	wait_stop(&status);
	offer_regs(change);
	if (signal) {
		kill(child, signal);
		if (ptrace(PTRACE_CONT, child, 0, 0))
			die("CONT");
		wait_stop(&status);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != signal)
			die("another stop than the signal's");
		offer_regs(change);
	}
	if (ptrace(PTRACE_CONT, child, 0, signal))
		die("CONT");
	return wait_asleep() ? INTERRUPTED_SLEEPS : INTERRUPTED_ENDED;
}

enum arena_interrupted arena_interrupt(int (*function)(void), bool (*change)(struct arch_regs *regs), int signal)
{
	enum arena_interrupted result = INTERRUPTED_CANNOT;
	int start[2];

	fflush(NULL);
	if (pipe(start))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child)
		interrupted_main(start, function);
	close(start[0]);
	if (ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_EXITKILL)) {
		perror("PTRACE_SEIZE");
		close(start[1]);
	} else {
		/* Waits until the child sleeps in read(). Closing the pipe wakes the child at once, so wait_asleep()
		 * does not take this read() for the sleep of `function`. */
		while (!is_sleeping(child))
			usleep(1000);
		close(start[1]);
		if (wait_asleep())
			result = interrupt(change, signal);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	child = 0;
	return result;
}

uint64_t arena_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}
