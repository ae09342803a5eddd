/* Preserves the target's own SIGTRAP, whose action and mask hits can change: see sigtrap.c. */
#ifndef FT_CALLS_SIGTRAP_H
#define FT_CALLS_SIGTRAP_H

#include "ptrace/tracee.h"

enum trap_action { TRAP_DEFAULT, TRAP_IGNORED, TRAP_HANDLED };

struct traps {
	enum trap_action action;
	int stat_fd; /* /proc/TID/stat of one of the process's tasks; -1: not open */
	bool known;  /* `saved` is the handler's action */
	bool reset;  /* a hit has reset the action; it is to be put back */
	bool lost;   /* the handler could not be put back */
	bool once;   /* the handler has SA_RESETHAND */
	struct arch_action saved;
	uint64_t syscall_insn, restorer; /* code of the C library; 0: not looked for yet */
};

/* Makes the part of a process from what /proc says about the task; traps_free() frees it. */
struct traps *traps_new(pid_t tid);
/* Copies the part of a fork's maker for the child. */
struct traps *traps_fork(const struct traps *from);
void traps_free(struct traps *traps);

/* Notes the action that sigaction(SIGTRAP, act, old) will set, at its entry. Returns true if that is a handler: the
 * call is to be watched until it returns, because only then the kernel has the new action. */
bool sigtrap_set(struct task *task, uint64_t act);
/* Learns the action of a process that runs already, before its first breakpoint or after a pause. A task is stopped to
 * ask for a handler. */
void sigtrap_begin(struct process *p);
/* Learns from /proc which tasks of a process block SIGTRAP (task->blocks_trap), before its first breakpoint. */
void sigtrap_learn_masks(struct process *p);
/* Gives a new task the mask of its maker. */
void sigtrap_inherit_mask(struct task *child, const struct task *maker);
/* Notes the mask that sigprocmask(how, set, old), or a similar function, will set, at its entry. set: an address of the
 * target. */
void sigtrap_mask_changes(struct task *task, int how, uint64_t set);
/* Does the work of sigtrap_after_hit(). */
void sigtrap_after_hit_slow(struct task *task);
/* Undoes what a hit has done to the action and the mask. Called after each hit, before anything else is done about
 * it. */
static inline void sigtrap_after_hit(struct task *task)
{
	if (task->blocks_trap || task->process->traps->action != TRAP_DEFAULT)
		sigtrap_after_hit_slow(task);
}
/* Returns whether a SIGTRAP that is no hit is to be delivered. It is dropped if the target ignores it, or if it is the
 * end of a step. */
bool sigtrap_deliver(struct task *task);
/* Returns whether a task must be stopped for sigtrap_restore(). */
bool sigtrap_needs_restore(const struct process *p);
/* Puts the action back by means of a stopped task, when functrace lets go of the process. */
void sigtrap_restore(struct task *task);

#endif
