/* Preserves the target's own action and mask of SIGTRAP, which a hit may change: see sigtrap.c. */
#ifndef FT_CALLS_SIGTRAP_H
#define FT_CALLS_SIGTRAP_H

#include "ptrace/tracee.h"

#include <signal.h>

#define TRAP_BIT (1ull << (SIGTRAP - 1)) /* SIGTRAP in a mask of signals in /proc */

enum trap_action { TRAP_DEFAULT, TRAP_IGNORED, TRAP_HANDLED };

struct traps {
	enum trap_action action;
	int stat_fd; /* descriptor of /proc/TID/stat of one of the process's tasks; -1: not open */
	bool known;  /* `saved` is valid */
	bool reset;  /* a hit has reset the action from ignored to the default; the tracer has to set it back */
	bool lost;   /* the handler could not be restored */
	bool once;   /* the handler was installed with SA_RESETHAND */
	struct arch_action saved;
	uint64_t syscall_insn, restorer; /* addresses of code, mostly in the C library; 0: not found yet */
};

/* Makes the data about a process. Reads the action from /proc of the task. traps_free() frees the data. */
struct traps *traps_new(pid_t tid);
/* Copies the data of a fork's parent for the child. */
struct traps *traps_fork(const struct traps *from);
void traps_free(struct traps *traps);

/* Called at the entry of sigaction(SIGTRAP, act, old): notes the action that the call will set. Returns true if the
 * action is a handler. Then the caller watches the call until it returns, because only then the kernel is certain to
 * have the new action. */
bool sigtrap_set(struct task *task, uint64_t act);
/* Finds out the action of a process that already runs, before its first breakpoint or when its tracing is resumed. If
 * the action is a handler, stops a task, which gets the handler's data from the kernel. */
void sigtrap_begin(struct process *p);
/* Finds out from /proc which tasks of a process block SIGTRAP (task->blocks_trap), before its first breakpoint. */
void sigtrap_learn_masks(struct process *p);
/* Gives a new task the mask of the task that created it. */
void sigtrap_inherit_mask(struct task *child, const struct task *maker);
/* Called at the entry of sigprocmask(how, set, old) or a similar function: notes whether the task blocks SIGTRAP after
 * the call. set: an address in the target. */
void sigtrap_mask_changes(struct task *task, int how, uint64_t set);
/* The slow path of sigtrap_after_hit(). */
void sigtrap_after_hit_slow(struct task *task);
/* Undoes the change that a hit makes to the action and the mask. Called first after each hit. */
static inline void sigtrap_after_hit(struct task *task)
{
	if (task->blocks_trap || task->process->traps->action != TRAP_DEFAULT)
		sigtrap_after_hit_slow(task);
}
/* Returns true if a SIGTRAP that was not raised by a hit is to be delivered. Returns false if the target ignores
 * SIGTRAP, or if a single step has raised it. */
bool sigtrap_deliver(struct task *task);
/* Returns true if a task must be stopped for sigtrap_restore(). */
bool sigtrap_needs_restore(const struct process *p);
/* Restores the action by a system call of a stopped task, when functrace detaches from the process. */
void sigtrap_restore(struct task *task);

#endif
