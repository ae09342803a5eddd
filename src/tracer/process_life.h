/* The life of a task from its beginning to its end: the data of this floor about a task. */
#ifndef FT_TRACER_PROCESS_LIFE_H
#define FT_TRACER_PROCESS_LIFE_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* What a new task turned out to be. */
enum birth {
	BIRTH_UNKNOWN,
	BIRTH_SHARES, /* a thread, or a process that shares its maker's memory */
	BIRTH_FORK,   /* a process with memory of its own */
};

/* What this floor knows of a task; beside each part the file that writes it. */
struct task_life {
	/* While the task is being born: births.c. */
	struct {
		enum birth kind;
		pid_t maker;     /* HELD: the tgid of who made it, as it was at its first stop */
		unsigned event;  /* PTRACE_EVENT_* of the maker */
		int signal;      /* SIGTRAP, or the signal that has stopped its group */
		bool is_release; /* a fork that is not followed */
	} birth;

	/* Until it executes another program: execs.c; births.c begins it. */
	struct {
		bool is_child; /* its parent sleeps until it execs or ends */
		int signal;    /* a stop signal that it gets after its exec */
	} vfork;
	/* A child that shares its maker's memory and is not followed; of a group its leader's counts. Written by each
	 * file that finds out whose task it is: births.c, seize.c, attach.c, and by execs.c. */
	bool release_at_exec;

	/* While its process is attached to. */
	bool is_lost;    /* seize.c: an exec that was not reported has put another task in its place */
	bool is_settled; /* wait_for_births.c: it is in no fork or clone that began before it was seized */

	/* While it is let go of: letgo.c, but for what task_make_ready() writes. */
	struct {
		bool is_asleep; /* in a system call, and left alone */
		bool can_call;  /* in a stop from which it can be made to do a system call */
		bool is_ready;  /* stopped, and nothing of ours is left to be undone: task_make_ready() */
		int signal;     /* what its stop was about to deliver: task_make_ready() */
	} parting;
};

/* A new task of a process (NULL: of none yet), of which this floor knows nothing more. */
struct task *task_begin(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase);
/* Another task has taken the leader's id and place, by an exec that was not reported: what was known of its state is
 * forgotten. */
void task_begin_again(struct task *leader);
/* After an event that the task need not know of. While letting go it stays as it is, ready to be detached: any stop
 * uses up an interruption that is still pending, so it would not stop again. */
void task_go_on(struct tracer *t, struct task *task);
/* The stopped task can be detached now; that delivers the signal (0: none). */
void task_make_ready(struct task *task, int signal);
/* Frees a task; a process of which it was the last has ended as `how` says (NULL: nothing). */
void task_forget(struct tracer *t, struct task *task, const char *how);
/* Forgets every task of the group except `keep`: the kernel reports nothing more about them. */
void task_forget_group(struct tracer *t, pid_t tgid, const struct task *keep);
/* Lets go of one stopped task for good, its text being clean. */
void task_release(struct tracer *t, struct task *task, int sig);

#endif
