/* Slots for out-of-line copies, and the tasks in them: see out_of_line.c. */
#ifndef FT_BREAKPOINTS_OUT_OF_LINE_H
#define FT_BREAKPOINTS_OUT_OF_LINE_H

#include "breakpoints/process_text.h"

/* Finds room for slots in an object that has been mapped; `object` stays the caller's, and must stay valid until
 * slots_forget_range() of where it is. */
void slots_add_object(struct process *p, struct object *object);
/* The range is no longer mapped: forgets the slots in it. */
void slots_forget_range(struct process *p, uint64_t start, uint64_t end);
/* Gives a breakpoint a slot with its copy in it. False: there is none for it. */
bool slot_assign(struct process *p, struct breakpoint *b);
/* The slot belongs to no breakpoint any more. */
void slot_release(struct slot *slot);
/* Makes sure that an assigned slot's copy is in memory: its object may have been unmapped and mapped again. If it
 * cannot be, releases it: false. */
bool slot_renew(struct process *p, struct slot *slot);
/* slot_renew() of the breakpoint's slot (false: it has none) where that can have happened without a notice. */
bool slot_prepare(struct process *p, struct breakpoint *b);
/* The slot that holds that pc; NULL none. */
struct slot *slot_at(struct process *p, uint64_t pc);
/* Puts back what was in all slots. */
void slots_restore(struct process *p);

/* ---- Tasks ---- */

/* What this floor knows of the task, made at its first use. */
struct task_hits *task_hits_new(struct task *task);
static inline struct task_hits *task_hits(struct task *task)
{
	return task->hits ? task->hits : task_hits_new(task);
}
/* Where it was last sent; NULL nowhere. */
static inline struct slot *task_slot(const struct task *task)
{
	return task->hits ? task->hits->slot : NULL;
}
/* The task is in the slot already: a fork's child that was born there. */
static inline void slot_joined(struct task *task, struct slot *slot)
{
	slot->users++;
	task_hits(task)->slot = slot;
}
/* It is known to be elsewhere. */
static inline void slot_left(struct task *task)
{
	struct slot *slot = task_slot(task);

	if (!slot)
		return;
	slot->users--;
	task->hits->slot = NULL;
}
/* The task goes on in the slot: sets its pc. It stays stopped. */
void slot_enter(struct task *task, struct slot *slot);
/* After any stop that is not a hit: a pc inside a copy goes back to the original address. */
void task_leave_slot(struct task *task);
/* Remembers the hit at b, whose instruction has not run, so that it is recognised. */
void hit_undo(struct task *task, const struct breakpoint *b);
/* Whether hits of the task were undone that may come again. */
static inline bool task_has_undone_hits(const struct task *task)
{
	return task->hits && task->hits->any_undone;
}
/* Whether this hit is one that was undone; forgets it then. The first `arguments` of args are the function's own. Those
 * in registers are compared too, but no others on the stack: they are the caller's variables, which the signal's
 * handler or another thread may have changed meanwhile. */
bool hit_redo(struct task *task, const struct breakpoint *b, const uint64_t args[CALL_ARGS], unsigned arguments);
/* A breakpoint goes: forgets hits of it that were undone. */
void hits_forget(struct task *task, const struct breakpoint *b);
/* Frees what this floor knows of a task that ends. */
void hits_free(struct task *task);

#endif
