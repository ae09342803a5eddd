/* Assigns slots for out-of-line copies, and counts the tasks in them: see out_of_line_slots.c. */
#ifndef FT_BREAKPOINTS_OUT_OF_LINE_SLOTS_H
#define FT_BREAKPOINTS_OUT_OF_LINE_SLOTS_H

#include "breakpoints/process_text.h"

/* Finds room for slots in an object that was mapped. The caller owns `object`, which must stay valid until
 * slots_forget_range() is called for its range. */
void slots_add_object(struct process *p, struct object *object);
/* Forgets the slots in a range that is no longer mapped. */
void slots_forget_range(struct process *p, uint64_t start, uint64_t end);
/* Assigns a slot to the breakpoint and writes the copy into it. Returns false if no slot is available. */
bool slot_assign(struct process *p, struct breakpoint *b);
/* Takes the slot from its breakpoint, if it has one, so that another breakpoint can use the slot. */
void slot_release(struct slot *slot);
/* Makes sure that an assigned slot contains its copy: the object may have been unmapped and mapped again. If the copy
 * cannot be written, does slot_release() and returns false. */
bool slot_renew(struct process *p, struct slot *slot);
/* Does slot_renew() for the breakpoint's slot if the slot's object may have been unmapped unnoticed. Returns false if
 * the breakpoint has no usable slot. */
bool slot_prepare(struct process *p, struct breakpoint *b);
/* Returns the slot that contains the pc, or NULL. */
struct slot *slot_at(struct process *p, uint64_t pc);
/* Restores the original bytes of all slots. */
void slots_restore(struct process *p);

/* ---- Tasks ---- */

/* Allocates the data of src/breakpoints about the task; task_hits() calls this at the first use. */
struct task_hits *task_hits_new(struct task *task);
static inline struct task_hits *task_hits(struct task *task)
{
	return task->hits ? task->hits : task_hits_new(task);
}
/* Returns the slot that the task was last sent to; NULL if the task is certainly in no slot. */
static inline struct slot *task_slot(const struct task *task)
{
	return task->hits ? task->hits->slot : NULL;
}
/* Counts the task as inside the slot, because it is sent there, or was forked there. */
static inline void slot_joined(struct task *task, struct slot *slot)
{
	slot->users++;
	task_hits(task)->slot = slot;
}
/* Notes that the task has left its slot, if it was in one. */
static inline void slot_left(struct task *task)
{
	struct slot *slot = task_slot(task);

	if (!slot)
		return;
	slot->users--;
	task->hits->slot = NULL;
}
/* Sets the pc of a stopped task to the slot's copy. The task stays stopped. */
void slot_enter(struct task *task, struct slot *slot);
/* If a stopped task's pc is inside a copy, sets the pc to the corresponding address of the original code. Called after
 * any stop that is not a hit. */
void task_leave_slot(struct task *task);
/* Remembers the hit at b, whose instruction has not run, so that hit_redo() recognises the hit if the same call repeats
 * it. */
void hit_undo(struct task *task, const struct breakpoint *b);
/* Returns true if the task has undone hits, which may be repeated. */
static inline bool task_has_undone_hits(const struct task *task)
{
	return task->hits && task->hits->any_undone;
}
/* Returns true if this hit repeats an undone hit, and forgets the undone hit. The two hits must agree in all words of
 * args that are in registers, and in the first `arguments` words, which are the function's arguments. Other words on
 * the stack are the caller's variables, which a signal handler or another thread may have changed meanwhile. */
bool hit_redo(struct task *task, const struct breakpoint *b, const uint64_t args[CALL_ARGS], unsigned arguments);
/* Forgets the undone hits of a breakpoint that is about to be freed. */
void hits_forget(struct task *task, const struct breakpoint *b);
/* Frees the data of src/breakpoints about a task that ends, and counts the task out of its slot. */
void hits_free(struct task *task);

#endif
