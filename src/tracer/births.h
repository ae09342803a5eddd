/* Handles new tasks: see births.c. */
#ifndef FT_TRACER_BIRTHS_H
#define FT_TRACER_BIRTHS_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* Acts on the maker's event: its child is expected, or, if it is already held, goes on. */
void act_new_task(struct tracer *t, struct task *parent, const struct stop *stop);
/* Called at a task's exit event: expects the child that the task has made just before, and cannot announce any more. */
void act_unannounced_birth(struct tracer *t, struct task *maker);
/* Called when a thread group of p has ended that contained a task whose registers could not be read
 * (p->life->has_unread_end): expects the children of such tasks. */
void births_expect_unannounced(struct tracer *t, struct process *p);
/* Acts on a task's first stop if it comes before the maker's event: the task is held until then. */
void act_born_early(struct tracer *t, const struct stop *stop);
/* Acts on the first stop of an expected task, which then goes on. */
void act_born(struct tracer *t, struct task *child, const struct stop *stop);
/* Called when the last task of the group `maker`, except `except`, has died: its held children go on, because they
 * would wait for ever. p: the process whose text they have. */
void births_adopt_orphans(struct tracer *t, struct process *p, pid_t maker, const struct task *except);
/* Called while attaching, when the tasks that would announce a group's held children may be gone by an exec. The
 * children go on without a struct process; those with memory of their own go on untraced. */
void births_adopt_without_maker(struct tracer *t, pid_t maker);
/* Called while letting go: the held children that no event will announce go on. */
void births_adopt_unannounced(struct tracer *t);

#endif
