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

/* Numbers of system calls. A list ends with 0 unless it is full. */
struct arch_syscalls {
	/* vfork, clone and clone3, in which the caller may wait for the child. */
	unsigned short clone[ARCH_CLONE_CALLS];
	/* Calls by which an allocator gets memory and returns it: brk, mmap and others; prctl names mappings. */
	unsigned short heap[ARCH_HEAP_CALLS];
	/* Calls by which threads wait for each other and wake each other. */
	unsigned short futex[ARCH_FUTEX_CALLS];
	/* Calls that end with EINTR when their task is stopped, or may do so (on a socket with a timeout): signal(7).
	 * Empty if the port has a restart_syscall() function. */
	unsigned short eintr[ARCH_EINTR_CALLS];
	/* The calls of `heap` that resize a mapping, or release its pages: brk, mprotect, madvise. */
	unsigned short resize[ARCH_RESIZE_CALLS];
	/* exit(2), which ends a thread but not its process. */
	unsigned short exit;
	unsigned rt_sigaction;
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
