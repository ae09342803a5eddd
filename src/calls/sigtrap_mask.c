#include "config.h"
#include "calls/sigtrap.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"

#include <signal.h>
#include <stdlib.h>

/* Tracks which tasks block SIGTRAP.
 *
 * If a task that blocks the signal hits a breakpoint, the kernel unblocks it (force_sig_info_to_task() in
 * kernel/signal.c), and no stop reports that; so functrace must find out the mask before a hit. For a task without hits
 * so far, /proc shows the mask. A new task has the mask of the task that created it. The C library's functions that
 * change the mask have breakpoints. Changes by a program's own system calls (a raw rt_sigprocmask, setcontext, a
 * handler's sa_mask) are not seen.
 *
 * While the C library creates a thread, it blocks all signals, including its own two, and restores the mask by a system
 * call of its own. Such a mask is not the program's. */

#define LIBRARY_OWN (3ull << (32 - 1)) /* signals 32 and 33, which sigfillset() and pthread_sigmask() leave out */

_Static_assert(TRAP_BIT <= 0xff && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "SIGTRAP is in a sigset_t's first byte");

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
		return; /* the call only reads the mask, or will fail */
	const bool has_trap = first & TRAP_BIT;

	if (how == SIG_SETMASK)
		task->blocks_trap = has_trap;
	else if (has_trap && (how == SIG_BLOCK || how == SIG_UNBLOCK))
		task->blocks_trap = how == SIG_BLOCK;
}
