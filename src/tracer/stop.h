/* A stop: what waitpid reports, as a plain struct. Everything here is pure, so that every race
 * of the ptrace protocol is a unit test fed with recorded statuses. */
#ifndef FT_TRACER_STOP_H
#define FT_TRACER_STOP_H

#include "tracer/model.h"

enum stop_kind {
	STOP_NONE,       /* nothing more to wait for */
	STOP_STRANGER,   /* the end of a child that is no tracee (a wake-up) */
	STOP_BORN_EARLY, /* first stop of a task whose parent's event has not been seen */
	STOP_BORN,       /* first stop of an expected task */
	STOP_TRAP,       /* SIGTRAP: a breakpoint, or the target's own */
	STOP_SIGNAL,     /* about to deliver `signal` */
	STOP_GROUP,      /* group-stop by `signal` */
	STOP_INTERRUPT,  /* EVENT_STOP: interrupted by the tracer, or SIGCONT after a group-stop */
	STOP_NEW_TASK,   /* clone, fork or vfork: `event` says by which call, not what is shared */
	STOP_VFORK_DONE,
	STOP_EXEC, /* tid is the process's; the message tells who it was before */
	STOP_EXIT, /* about to end */
	STOP_GONE, /* has ended with `status` */
};

struct stop {
	enum stop_kind kind;
	pid_t tid;
	int signal;
	unsigned event; /* PTRACE_EVENT_* */
	int status;     /* as waitpid gave it */
};

/* What a wait status means for a task in that phase. */
struct stop stop_decode(pid_t tid, int status, enum task_phase phase);

/* Job control: those signals do end epoll_wait and its like with EINTR, traced or not (signal(7)). */
bool stops_or_continues(int sig);

/* collect.c: the next stop, blocking; kind STOP_NONE when there are no children left. */
struct stop collect(struct tracer *t);
/* The same without blocking: STOP_NONE when there is none now. */
struct stop collect_now(struct tracer *t);
/* waitpid() for one task, or for all (-1), with __WALL: the one way in which the tracer takes stops, for the guard
 * knows then what has been taken. The task, 0 (WNOHANG: nothing now), or -1 and errno. */
pid_t collect_wait(struct tracer *t, pid_t which, int flags, int *status);
/* While attaching: what ends or was interrupted goes on, all else is put back for later. */
void collect_put_off(struct tracer *t, pid_t tid, int status);
/* A task of which it is not known yet whether it is ours, or which one it is: what it reports, but for its exit, is not
 * acted on. */
struct withheld {
	pid_t tid; /* 0 none */
	bool reported;
	int status;
	bool exiting; /* its exit was told, and it went on: what it had reported before is over */
};
/* The same with all stops there are now, but for those of two that are withheld (NULL none). Called by a handler
 * too. */
void collect_ends(struct tracer *t, struct withheld *withheld);
#define WITHHELD 2
/* Puts a stop back: collect() gives it out later, before it waits. */
void collect_later(struct tracer *t, const struct stop *stop);
/* The same for a known task: what it reported at a bad time. */
void task_put_back(struct tracer *t, struct task *task, const struct stop *stop);
/* Drops what was put back for a task that has been replaced by another of that id. */
void collect_forget(struct tracer *t, pid_t tid);

/* births.c */
/* The maker's event: its child is expected, or is held already and goes on now. */
void act_new_task(struct tracer *t, struct task *parent, const struct stop *stop);
/* A task's first stop before that event: it is held until then. */
void act_born_early(struct tracer *t, const struct stop *stop);
/* An expected task has come to its first stop, and goes on as what it is. */
void adopt(struct tracer *t, struct task *child);
/* The last of the group `maker` (but for `except`) has died: its children that are held must not wait for ever. p:
 * whose text they have. */
void adopt_orphans(struct tracer *t, struct process *p, pid_t maker, const struct task *except);
/* While attaching: those who would tell of a group's held children may have gone with an exec. The children go on,
 * without a struct process, and those with memory of their own untraced. */
void adopt_without_maker(struct tracer *t, pid_t maker);
/* While letting go: the children of which nobody will tell any more. */
void adopt_untold(struct tracer *t);

/* execs.c */
void act_exec(struct tracer *t, const struct stop *stop);

#endif
