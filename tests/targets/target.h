/* Functions that the targets share.
 *
 * A target allocates blocks with sizes in 30000..39999, which no other code allocates, and prints what a trace of it
 * must contain (its oracle), one line each:
 *
 *     expect + COUNT SIZE FUNCTION    COUNT allocations of that size by that function
 *     expect - COUNT SIZE FUNCTION    COUNT releases by that function of blocks of that size
 *     expect = COUNT SIZE             COUNT blocks of that size that are never released
 *     expect stack SIZE F1 F2 ...     each stack of an allocation of that size begins with these functions
 *
 * FUNCTION may be several names separated by |, of which any is right.
 * Every allocation in that range must be in a "+" line: an unexpected one is an error.
 * The lines are the same in every run, so a traced and an untraced run print the same bytes.
 * No function here allocates. */
#ifndef TARGET_H
#define TARGET_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* size_t in demangled names of C++. */
#ifdef __LP64__
#define SIZE_T "unsigned long"
#else
#define SIZE_T "unsigned int"
#endif

/* The compiler must neither drop nor merge values that are passed to it. */
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#if defined(__GNUC__) && !defined(__clang__)
#define NOINLINE __attribute__((noipa))
#else
#define NOINLINE __attribute__((noinline))
#endif

/* A breakpoint of the program's own, and the si_code of its SIGTRAP. In the handler the pc is after the breakpoint on
 * x86, and at the breakpoint on other processors; there past_own_trap() advances the pc. */
#if defined(__x86_64__) || defined(__i386__)
#define OWN_TRAP()             __asm__ volatile("int3")
#define OWN_TRAP_CODE          SI_KERNEL
#define past_own_trap(context) ((void)(context))
#elif defined(__aarch64__)
#define OWN_TRAP()             __asm__ volatile("brk #0")
#define OWN_TRAP_CODE          TRAP_BRKPT
#define past_own_trap(context) (((ucontext_t *)(context))->uc_mcontext.pc += 4)
#elif defined(__arm__)
#ifdef __thumb__
#define OWN_TRAP() __asm__ volatile(".inst.w 0xf7f0a000")
#else
#define OWN_TRAP() __asm__ volatile(".inst 0xe7f001f0")
#endif
#define OWN_TRAP_CODE          TRAP_BRKPT
#define past_own_trap(context) (((ucontext_t *)(context))->uc_mcontext.arm_pc += 4)
#endif

__attribute__((format(printf, 1, 2), unused)) static void say(const char *fmt, ...)
{
	char line[512];
	va_list args;

	va_start(args, fmt);
	const int length = vsnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	line[length] = '\n';
	if (write(STDOUT_FILENO, line, (size_t)length + 1) < 0)
		_exit(90);
}

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			say("line %d: not so: %s (errno %d)", __LINE__, #condition, errno);                            \
			_exit(91);                                                                                     \
		}                                                                                                      \
	} while (0)

__attribute__((unused)) static void expect_alloc(unsigned long count, size_t size, const char *function)
{
	say("expect + %lu %zu %s", count, size, function);
}

__attribute__((unused)) static void expect_release(unsigned long count, size_t size, const char *function)
{
	say("expect - %lu %zu %s", count, size, function);
}

__attribute__((unused)) static void expect_live(unsigned long count, size_t size)
{
	say("expect = %lu %zu", count, size);
}

/* Waits where a scenario attaches: GATE=IN,OUT names two descriptors; the target writes a byte to OUT and waits for one
 * from IN. Without GATE it does not wait. */
__attribute__((unused)) static void gate(void)
{
	const char *where = getenv("GATE");
	int in, out;
	char byte = 'g';

	if (!where || sscanf(where, "%d,%d", &in, &out) != 2)
		return;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* allows attaching if yama restricts it */
	CHECK(write(out, &byte, 1) == 1);
	while (read(in, &byte, 1) < 0 && errno == EINTR)
		;
}

/* Waits until the starting process closes the target's standard input. */
__attribute__((unused)) static void wait_for_input_end(void)
{
	ssize_t got;
	char byte;

	while ((got = read(STDIN_FILENO, &byte, 1)) > 0 || (got < 0 && errno == EINTR))
		;
}

/* A function with this attribute also clears the registers that a call may leave unchanged. */
#if defined(__has_attribute) && (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__))
#if __has_attribute(zero_call_used_regs)
#define WIPES __attribute__((zero_call_used_regs("all")))
#endif
#endif
#ifndef WIPES
#define WIPES
#endif

/* Clears the stack memory where functions that have returned may have left pointers. */
__attribute__((unused)) WIPES static NOINLINE void wipe_stack(void)
{
	unsigned char stack[32768];

	memset(stack, 0, sizeof(stack));
	__asm__ volatile("" : : "r"(stack) : "memory");
}

__attribute__((unused)) static void sleep_ms(unsigned ms)
{
	struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* Returns true if this process is traced. Allocates nothing. */
__attribute__((unused)) static int is_traced(void)
{
	char text[4096];
	const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	const ssize_t got = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return !strstr(text, "TracerPid:\t0\n");
}

__attribute__((unused)) static void *sleep_for_ever(void *data)
{
	for (;;)
		pause();
	return data;
}

__attribute__((unused)) static void start_sleepers(int count)
{
	pthread_attr_t small;
	pthread_t tid;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < count; i++)
		CHECK(pthread_create(&tid, &small, sleep_for_ever, NULL) == 0);
	pthread_attr_destroy(&small);
}

__attribute__((unused)) static unsigned argument(int argc, char **argv, int n, unsigned otherwise)
{
	return argc > n ? (unsigned)atoi(argv[n]) : otherwise;
}

#endif
