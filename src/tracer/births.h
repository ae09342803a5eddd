/* New tasks: see births.c. */
#ifndef FT_TRACER_BIRTHS_H
#define FT_TRACER_BIRTHS_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* The maker's event: its child is expected, or is held already and goes on now. */
void act_new_task(struct tracer *t, struct task *parent, const struct stop *stop);
/* A task's exit event: what it has made just before, and cannot announce any more, is expected as well. */
void act_unannounced_birth(struct tracer *t, struct task *maker);
/* A group of p's has ended, and of a task of it (p->life->has_unread_end) that could not be asked: what it has made is
 * expected. */
void births_expect_unannounced(struct tracer *t, struct process *p);
/* A task's first stop before that event: it is held until then. */
void act_born_early(struct tracer *t, const struct stop *stop);
/* An expected task has come to its first stop, and goes on as what it is. */
void act_born(struct tracer *t, struct task *child, const struct stop *stop);
/* The last of the group `maker` (but for `except`) has died: its children that are held must not wait for ever. p:
 * whose text they have. */
void births_adopt_orphans(struct tracer *t, struct process *p, pid_t maker, const struct task *except);
/* While attaching: the tasks that would announce a group's held children may have gone with an exec. The children go
 * on, without a struct process, and those with memory of their own untraced. */
void births_adopt_without_maker(struct tracer *t, pid_t maker);
/* While letting go: the children that no event will announce any more. */
void births_adopt_unannounced(struct tracer *t);

#endif
