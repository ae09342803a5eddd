#include "config.h"
#include "calls/sigtrap.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"

#include <signal.h>
#include <stdlib.h>

/* Which tasks block SIGTRAP.
 *
 * A hit of a task that blocks the signal unblocks it (force_sig_info_to_task() in kernel/signal.c), and no stop says
 * that it has: the mask must be known beforehand. /proc says it of a task that has hit nothing yet, a new task has its
 * maker's mask, and the C library's functions that change it are watched. What a program does by system calls of its
 * own (a raw rt_sigprocmask, setcontext, a handler's sa_mask) is not seen.
 *
 * The C library blocks all signals, its own two as well, while it makes a thread, and puts the mask back by a system
 * call of its own: such a mask is not the program's. */

#define TRAP_BIT      (1ull << (SIGTRAP - 1))
#define LIBRARY_OWN   (3ull << (32 - 1))    /* signals 32 and 33, which sigfillset() and pthread_sigmask() leave out */
#define TRAP_BYTE_BIT (1u << (SIGTRAP - 1)) /* in the first byte of a sigset_t of a little-endian processor */

void sigtrap_learn_masks(struct process *p)
{
	FOR_EACH_TASK(task, p) {
		char *status = proc_read(task->tid, "status", NULL);
		uint64_t mask = 0;

		proc_status_number(status, "SigBlk", 0, 16, &mask);
		free(status);
		task->blocks_trap = (mask & TRAP_BIT) && !(mask & LIBRARY_OWN);
	}
}

void sigtrap_inherit_mask(struct task *child, const struct task *maker)
{
	child->blocks_trap = maker->blocks_trap;
}

void sigtrap_mask_changes(struct task *task, int how, uint64_t set)
{
	unsigned char first;

	if (!set || memory_read(task->process, set, &first, 1) < 0)
		return; /* it only asks, or will fail */
	const bool has_trap = first & TRAP_BYTE_BIT;

	if (how == SIG_SETMASK)
		task->blocks_trap = has_trap;
	else if (has_trap && (how == SIG_BLOCK || how == SIG_UNBLOCK))
		task->blocks_trap = how == SIG_BLOCK;
}
