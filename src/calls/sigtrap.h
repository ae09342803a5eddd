/* The target's own SIGTRAP, which hits can take from it: see sigtrap.c. */
#ifndef FT_CALLS_SIGTRAP_H
#define FT_CALLS_SIGTRAP_H

#include "ptrace/tracee.h"

enum trap_action { TRAP_DEFAULT, TRAP_IGNORED, TRAP_HANDLED };

struct traps {
	enum trap_action action;
	int stat_fd; /* /proc/TID/stat of one of its tasks, -1 none yet */
	bool known;  /* `saved` is the handler's action */
	bool reset;  /* by a hit, and the target does not know */
	bool lost;   /* it could not be put back */
	bool once;   /* SA_RESETHAND */
	struct arch_action saved;
	uint64_t syscall_insn, restorer; /* code of the C library, 0 not looked for */
};

/* By what /proc says of a task. */
struct traps *traps_new(pid_t tid);
/* A fork's child has its parent's. */
struct traps *traps_fork(const struct traps *from);
void traps_free(struct traps *traps);

/* At the entry of sigaction(SIGTRAP, act, old): what the action is going to be. True: a handler is, and the call is to
 * be watched until it returns, for the kernel's action says nothing till then. */
bool sigtrap_set(struct task *task, uint64_t act);
/* Before the first breakpoint of a process in its midst, or after a pause: learns its action, a handler from a task
 * that is stopped for it. */
void sigtrap_begin(struct process *p);
/* Learns from /proc which tasks of a process block SIGTRAP (task->blocks_trap): before its first breakpoint. */
void sigtrap_learn_masks(struct process *p);
/* A new task's mask is its maker's. */
void sigtrap_inherit_mask(struct task *child, const struct task *maker);
/* At the entry of sigprocmask(how, set, old), or of its like: what the mask is going to be. set: an address. */
void sigtrap_mask_changes(struct task *task, int how, uint64_t set);
/* See sigtrap_after_hit(). */
void sigtrap_after_hit_slow(struct task *task);
/* To be called after each hit, before anything else is done about it. */
static inline void sigtrap_after_hit(struct task *task)
{
	if (task->blocks_trap || task->process->traps->action != TRAP_DEFAULT)
		sigtrap_after_hit_slow(task);
}
/* A SIGTRAP that is no hit is about to be delivered: false if it is to be dropped, for the target ignores it, or it is
 * the end of a step. */
bool sigtrap_deliver(struct task *task);
/* Whether some task must be stopped for sigtrap_restore(). */
bool sigtrap_needs_restore(const struct process *p);
/* When letting go, on a stopped task: the action is put back. */
void sigtrap_restore(struct task *task);

#endif
