/* The part of struct arch (arch.h) for system calls. */
#ifndef FT_ARCH_SYSCALLS_H
#define FT_ARCH_SYSCALLS_H

#include "arch/arch_registers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ARCH_CLONE_CALLS  3
#define ARCH_HEAP_CALLS   8
#define ARCH_FUTEX_CALLS  2
#define ARCH_EINTR_CALLS  24
#define ARCH_RESIZE_CALLS 3

/* System calls: their numbers, and the registers of a task that is in one. A list of numbers ends with 0 unless it is
 * full. Source: the kernel's asm/unistd.h, and its code that restarts system calls after a signal. */
struct arch_syscalls {
	/* vfork, clone and clone3, in which the caller may wait for the child. */
	unsigned short clone[ARCH_CLONE_CALLS];
	/* Calls by which an allocator gets memory and returns it: brk, mmap and others; prctl names mappings. */
	unsigned short heap[ARCH_HEAP_CALLS];
	/* Calls by which threads wait for each other and wake each other. */
	unsigned short futex[ARCH_FUTEX_CALLS];
	/* Calls that end with EINTR when their task is stopped, or may do so (on a socket with a timeout): signal(7).
	 * Empty if the port has a restart() function. */
	unsigned short eintr[ARCH_EINTR_CALLS];
	/* The calls of `heap` that resize a mapping, or release its pages: brk, mprotect, madvise. */
	unsigned short resize[ARCH_RESIZE_CALLS];
	/* exit(2), which ends a thread but not its process. */
	unsigned short exit;
	unsigned rt_sigaction;

	/* Called at a PTRACE_EVENT_STOP or signal-delivery stop. If the registers are those of a system call that
	 * fails with EINTR only because the tracer has interrupted it (epoll_wait and others), changes them and
	 * returns true. The kernel then makes the call again, unless it is about to run a handler; in this case the
	 * program sees EINTR, as it would untraced. NULL if the registers do not show the call any more (arm64's
	 * kernel does not keep the first argument in them). */
	bool (*restart)(struct arch_regs *regs);
	/* Returns true if the system call that restart() restarts has a timeout (epoll_wait() and others), which then
	 * begins again. NULL if restart is NULL. */
	bool (*has_timeout)(const struct arch_regs *regs);
	/* Returns true if an interrupted task is in a system call that the kernel will make again, and sets *number to
	 * the call's number. The kernel has then moved the pc back to the call's instruction. code: the four bytes at
	 * the pc. NULL if /proc/TID/syscall shows the call. On arm64 this file does not, because do_signal() in
	 * arch/arm64/kernel/signal.c discards the number. On arm the file keeps the number of the last call. */
	bool (*interrupted)(const struct arch_regs *regs, const unsigned char *code, long *number);
	/* For system calls that functrace makes a stopped task execute. find returns the offset in `code` of an
	 * instruction that makes a system call, with the bits of code_state, or -1 if there is none. set sets the
	 * registers for a call by this instruction. */
	long (*find)(const unsigned char *code, size_t size);
	void (*set)(struct arch_regs *regs, uint64_t insn, uint64_t number, const uint64_t *args);
	/* Returns the tid of the task that was just created, if the registers are those at the return of fork,
	 * vfork, clone or clone3; else 0. The tid is that in the parent's pid namespace. NULL: the registers do not
	 * show the tid. */
	pid_t (*created_tid)(const struct arch_regs *regs);
};

/* Returns true if a list of system calls contains a number. */
static inline bool arch_has_call(const unsigned short *calls, size_t count, long number)
{
	for (size_t i = 0; i < count && calls[i]; i++)
		if (calls[i] == number)
			return true;
	return false;
}

#endif
