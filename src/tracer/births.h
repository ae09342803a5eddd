/* Handles new tasks: see births.c. */
#ifndef FT_TRACER_BIRTHS_H
#define FT_TRACER_BIRTHS_H

#include "ptrace/wait_status.h"
#include "ptrace/tracee.h"

/* Acts on the parent's fork or clone event. Continues the child if the child has already stopped, else expects the
 * child's stop. */
void act_new_task(struct tracer *t, struct task *parent, const struct stop *stop);
/* Called at a task's exit event. If the task has just created a child whose event it cannot report any more, continues
 * the child if the child has already stopped, else expects the child's stop. */
void act_unannounced_birth(struct tracer *t, struct task *maker);
/* Called when a thread group of p has ended and functrace could not read the last registers of one of its tasks
 * (p->life->has_unread_end). Children of such a task may appear without a fork event: adds them to the table as
 * expected tasks. */
void births_expect_unannounced(struct tracer *t, struct process *p);
/* Acts on a new task's first stop that comes before the parent's event: keeps the task stopped until that event. */
void act_born_early(struct tracer *t, const struct stop *stop);
/* Acts on the first stop of an expected task, which then continues. */
void act_born(struct tracer *t, struct task *child, const struct stop *stop);
/* If no task of the thread group `maker`, apart from `except`, is alive, continues the group's held children, because
 * their parent's event will never come. If all tasks of the table are held, continues all of them. p: the process whose
 * text the children have. */
void births_adopt_orphans(struct tracer *t, struct process *p, pid_t maker, const struct task *except);
/* Called while functrace attaches, if an exec may have ended the parents of held children before the parents' events.
 * Continues the children, without a struct process; detaches from children with memory of their own. */
void births_adopt_without_maker(struct tracer *t, pid_t maker);
/* Called while functrace detaches. Continues the held children for which no event will come. */
void births_adopt_unannounced(struct tracer *t);

#endif
