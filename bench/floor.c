/* Measures the floor: the time of the least that a tracer by breakpoints has to do at a stop.
 *
 * The traced child runs malloc and free, with three int3 per pair in its own text, where functrace would have its
 * breakpoints: at malloc's entry and return, and at free's entry. It prints its times as targets/run.c does.
 *
 *     --mode=bare   the tracer makes the system calls wait4, GETREGSET, SETREGSET, CONT at each stop (the default)
 *     --mode=calls  the tracer makes the system calls of functrace without stacks: GETREGS instead of GETREGSET,
 *                   POKEUSER of the pc instead of SETREGSET, and one read of a word of the stack per pair; so
 *                   functrace's own code takes the time by which functrace is slower
 *     --mode=lift   the tracer gets past a breakpoint as functracer and memleax do: it restores the byte, makes a
 *                   single step, and writes the breakpoint again; for one thread only, because other threads could
 *                   run through the place unnoticed meanwhile
 *     --rounds=N --pairs=N --threads=N --idle=N --pin=CPU as in targets/run.c */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "targets/hot.h"

/* Properties of the processor: the number of words in its register set (NT_PRSTATUS), the indexes of pc and sp, an
 * instruction that traps, and the number of bytes from the pc at the trap to the next instruction. The modes calls and
 * lift exist only on x86-64. */
#if defined(__x86_64__)
#define WORDS     27
#define REGSET_PC 16
#define REGSET_SP 19
#define TRAP_SKIP 0
#define TRAP()    __asm__ volatile("int3" : : : "memory")
typedef unsigned long long reg_word;
#elif defined(__aarch64__)
#define WORDS     34
#define REGSET_PC 32
#define TRAP_SKIP 4
#define TRAP()    __asm__ volatile("brk #0" : : : "memory")
typedef unsigned long long reg_word;
#elif defined(__arm__)
#define WORDS     18
#define REGSET_PC 15
#define TRAP_SKIP 4
#ifdef __thumb__
#define TRAP() __asm__ volatile(".inst.w 0xf7f0a000" : : : "memory")
#else
#define TRAP() __asm__ volatile(".inst 0xe7f001f0" : : : "memory")
#endif
typedef unsigned int reg_word;
#endif

#ifndef WORDS
int main(void)
{
	puts("the floor program does not know this processor");
	return 77;
}
#else

#define WARM_PAIRS 64
#define LIFT_SITES 3

static unsigned rounds = 1, threads = 1, idle;
static unsigned long pairs = 1000;
static bool lift, calls;
static int child_memory;

/* ---- The child ---- */

static pthread_barrier_t begin, end;
static unsigned long round_pairs;
static pid_t tracer;

static void hot_bare(unsigned long count)
{
	while (count--) {
		TRAP();
		void *block = malloc(36);

		TRAP();
		KEEP(block);
		TRAP();
		free(block);
	}
}

#ifdef __x86_64__
/* The places of hot_lift's breakpoints: instructions of one byte, which the parent replaces by int3. */
extern char lift_site_0[], lift_site_1[], lift_site_2[];

__attribute__((noipa)) static void hot_lift(unsigned long count)
{
	while (count--) {
		__asm__ volatile("lift_site_0: nop" : : : "memory");
		void *block = malloc(36);

		__asm__ volatile("lift_site_1: nop" : : : "memory");
		KEEP(block);
		__asm__ volatile("lift_site_2: nop" : : : "memory");
		free(block);
	}
}
#else
#define hot_lift hot_bare
#endif

static void work_pairs(unsigned long count)
{
	if (lift)
		hot_lift(count);
	else
		hot_bare(count);
}

static uint64_t clock_of(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *work(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		if (!round_pairs)
			return unused;
		work_pairs(round_pairs);
		pthread_barrier_wait(&end);
	}
}

static void *doze(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void run_round(unsigned long count)
{
	round_pairs = count;
	if (threads == 1) {
		work_pairs(count);
		return;
	}
	pthread_barrier_wait(&begin);
	if (count)
		pthread_barrier_wait(&end);
}

static void measure(void)
{
	char line[96];
	clockid_t id;

	clock_getcpuclockid(tracer, &id);
	const uint64_t others = clock_of(id), own = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	const uint64_t start = clock_of(CLOCK_MONOTONIC);

	run_round(pairs);
	const uint64_t wall = clock_of(CLOCK_MONOTONIC) - start;
	const uint64_t cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - own + clock_of(id) - others;
	const int length = snprintf(line, sizeof(line), "round %llu %llu %lu\n", (unsigned long long)wall,
				    (unsigned long long)cpu, pairs * threads);

	if (write(STDOUT_FILENO, line, (size_t)length) < 0)
		_exit(90);
}

static void start_threads(unsigned count, void *(*function)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64u << 10);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, function, NULL))
			_exit(1);
}

static void child(void)
{
	tracer = getppid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	raise(SIGSTOP); /* the parent seizes this process here */
	start_threads(idle, doze);
	if (threads > 1) {
		pthread_barrier_init(&begin, NULL, threads + 1);
		pthread_barrier_init(&end, NULL, threads + 1);
		start_threads(threads, work);
	}
	run_round(WARM_PAIRS);
	for (unsigned i = 0; i < rounds; i++)
		measure();
	_exit(0);
}

/* ---- The tracer ---- */

static void must(long result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void bare_stop(pid_t tid)
{
	reg_word words[WORDS];
	struct iovec iov = {words, sizeof(words)};

	must(ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov), "GETREGSET");
	words[REGSET_PC] += TRAP_SKIP;
	must(ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &iov), "SETREGSET");
}

#ifdef __x86_64__
static void calls_stop(pid_t tid)
{
	static unsigned long stops;
	reg_word words[WORDS];
	unsigned long long word;

	must(ptrace(PTRACE_GETREGS, tid, NULL, words), "GETREGS");
	if (stops++ % 3 == 0)
		must(pread(child_memory, &word, sizeof(word), (off_t)words[REGSET_SP]), "pread");
	must(ptrace(PTRACE_POKEUSER, tid, REGSET_PC * sizeof(*words), words[REGSET_PC]), "POKEUSER");
}

static void poke_byte(pid_t tid, uintptr_t address, unsigned char byte)
{
	errno = 0;
	long word = ptrace(PTRACE_PEEKTEXT, tid, address, NULL);

	must(errno ? -1 : 0, "PEEKTEXT");
	memcpy(&word, &byte, 1);
	must(ptrace(PTRACE_POKETEXT, tid, address, word), "POKETEXT");
}

static void lift_stop(pid_t tid)
{
	static const unsigned char nop = 0x90, trap = 0xcc;
	reg_word words[WORDS];
	struct iovec iov = {words, sizeof(words)};
	int status;

	must(ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov), "GETREGSET");
	const uintptr_t site = (uintptr_t)words[REGSET_PC] - 1;

	words[REGSET_PC] = site;
	must(ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &iov), "SETREGSET");
	poke_byte(tid, site, nop);
	must(ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL), "SINGLESTEP");
	must(wait4(tid, &status, __WALL, NULL), "wait4");
	poke_byte(tid, site, trap);
}

static void plant(pid_t tid)
{
	char *const sites[LIFT_SITES] = {lift_site_0, lift_site_1, lift_site_2};

	for (unsigned i = 0; lift && i < LIFT_SITES; i++)
		poke_byte(tid, (uintptr_t)sites[i], 0xcc);
}
#else
#define calls_stop bare_stop
#define lift_stop  bare_stop
#define plant(tid) ((void)(tid))
#endif

static int trace(pid_t pid)
{
	char path[32];
	int status;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	child_memory = open(path, O_RDONLY | O_CLOEXEC);
	must(child_memory, path);
	for (;;) {
		const pid_t tid = wait4(-1, &status, __WALL, NULL);

		if (tid < 0 && errno == EINTR)
			continue;
		must(tid, "wait4");
		if (!WIFSTOPPED(status)) {
			if (tid == pid)
				return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
			continue;
		}
		int sig = WSTOPSIG(status);

		if (status >> 8 == SIGTRAP) {
			if (lift)
				lift_stop(tid);
			else if (calls)
				calls_stop(tid);
			else
				bare_stop(tid);
			sig = 0;
		} else if (status >> 16) {
			sig = 0;
		}
		ptrace(PTRACE_CONT, tid, NULL, (long)sig);
	}
}

static int option(const char *text)
{
	const char *equals = strchr(text, '=');
	const size_t length = equals ? (size_t)(equals - text) : strlen(text);
	const unsigned long value = equals ? strtoul(equals + 1, NULL, 10) : 0;
	cpu_set_t set;

#ifdef __x86_64__
	if (!strcmp(text, "--mode=lift"))
		lift = true;
	else if (!strcmp(text, "--mode=calls"))
		calls = true;
	else
#endif
		if (!strcmp(text, "--mode=bare"))
		lift = calls = false;
	else if (!strncmp(text, "--rounds", length))
		rounds = (unsigned)value;
	else if (!strncmp(text, "--pairs", length))
		pairs = value;
	else if (!strncmp(text, "--threads", length))
		threads = (unsigned)value;
	else if (!strncmp(text, "--idle", length))
		idle = (unsigned)value;
	else if (!strncmp(text, "--pin", length)) {
		CPU_ZERO(&set);
		CPU_SET(value, &set);
		return sched_setaffinity(0, sizeof(set), &set);
	} else
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	int status;

	for (int i = 1; i < argc; i++)
		if (option(argv[i])) {
			fputs("floor: what option?\n", stderr);
			return 2;
		}
	if (lift && threads > 1) {
		fputs("floor: --mode=lift is for one thread\n", stderr);
		return 2;
	}
	const pid_t pid = fork();

	must(pid, "fork");
	if (!pid)
		child();
	must(waitpid(pid, &status, WUNTRACED), "waitpid");
	must(ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL), "SEIZE");
	must(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), "INTERRUPT");
	must(wait4(pid, &status, __WALL, NULL), "wait4");
	plant(pid);
	must(ptrace(PTRACE_CONT, pid, NULL, NULL), "CONT");
	kill(pid, SIGCONT);
	return trace(pid);
}
#endif
