/* The life of a task from its creation to its end: the data of src/tracer about it. */
#ifndef FT_TRACER_TASK_LIFE_H
#define FT_TRACER_TASK_LIFE_H

#include "ptrace/wait_status.h"
#include "ptrace/tracee.h"

/* How a new task shares memory. */
enum birth {
	BIRTH_UNKNOWN,
	BIRTH_SHARES, /* a thread, or a process that shares its parent's memory */
	BIRTH_FORK,   /* a process with memory of its own */
};

/* The data of src/tracer about a task. The comment above each group names the file that writes it. */
struct task_life {
	/* Used while the task is being created: births.c. */
	struct {
		enum birth kind;
		pid_t maker;     /* in PHASE_HELD, the tgid of its parent, read at its first stop */
		unsigned event;  /* PTRACE_EVENT_* of its parent */
		int signal;      /* SIGTRAP, or the signal of a group-stop in which it was created */
		bool is_release; /* the task is a child of fork that is not followed, so functrace detaches from it */
	} birth;

	/* Used by execs.c until the task calls execve. births.c sets is_child. */
	struct {
		bool is_child; /* the parent sleeps in vfork until the task execs or ends */
		int signal;    /* a stop signal that is sent to the task after its exec */
	} vfork;
	/* The task shares its parent's memory and is not followed, so functrace detaches from it at its exec. The
	 * leader's value applies to the group. Written by each file that finds out to which process a task belongs:
	 * births.c, seize.c, attach.c; and by execs.c. */
	bool release_at_exec;

	/* Used while functrace attaches to the task's process. */
	bool is_lost;    /* seize.c: another task has taken this task's tid by an exec that was not reported */
	bool is_settled; /* wait_for_births.c: the task is in no fork or clone that began before the seize */

	/* Used while functrace detaches from the task: written by letgo.c, except what task_make_ready() writes. */
	struct {
		bool is_asleep; /* the task sleeps in a system call, or ends, so functrace waits for no stop of it */
		bool can_call;  /* the task is in a stop in which it can make a system call for the tracer */
		bool is_ready;  /* stopped, and free of functrace's changes: task_make_ready() */
		int signal;     /* the signal that the kernel delivers when the task continues: task_make_ready() */
	} parting;
};

/* Makes a new task of process p (NULL: its process is not known yet), with an empty `life`. */
struct task *task_begin(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase);
/* Resets the state of a leader whose tid another task has taken by an exec that was not reported. */
void task_begin_again(struct task *leader);
/* Continues the task after its event has been handled. But while functrace detaches from the task's process, leaves the
 * task stopped and makes it ready to be detached, because the stop has cancelled a pending interrupt: if the task
 * continued, it would not stop again. */
void task_go_on(struct tracer *t, struct task *task);
/* Makes a stopped task ready to be detached; the detach delivers `signal` (0: none). */
void task_make_ready(struct task *task, int signal);
/* Frees a task. If it was the last task of its process, ends the process; `how` is noted in the trace (NULL:
 * nothing). */
void task_forget(struct tracer *t, struct task *task, const char *how);
/* Frees every task of the group in PHASE_LIVE except `keep`, because the kernel reports nothing more about them. */
void task_forget_group(struct tracer *t, pid_t tgid, const struct task *keep);
/* Detaches one stopped task, whose text has no breakpoints any more, and frees it. */
void task_release(struct tracer *t, struct task *task, int sig);

#endif
