/* The life of a task from its begin to its end: this room's part of a task. */
#ifndef FT_TRACER_PROCESS_LIFE_H
#define FT_TRACER_PROCESS_LIFE_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* The kind of a new task. */
enum birth {
	BIRTH_UNKNOWN,
	BIRTH_SHARES, /* a thread, or a process that shares its maker's memory */
	BIRTH_FORK,   /* a process with memory of its own */
};

/* This room's part of a task. Each part names the file that writes it. */
struct task_life {
	/* While the task is being born: births.c. */
	struct {
		enum birth kind;
		pid_t maker;     /* PHASE_HELD: the tgid of its maker, as it was at its first stop */
		unsigned event;  /* PTRACE_EVENT_* of the maker */
		int signal;      /* SIGTRAP, or the signal that has stopped its group */
		bool is_release; /* a fork that is not followed */
	} birth;

	/* Until it executes another program: execs.c. births.c sets it. */
	struct {
		bool is_child; /* its maker sleeps until it execs or ends */
		int signal;    /* a stop signal that it gets after its exec */
	} vfork;
	/* It shares its maker's memory and is not followed, so functrace lets go of it at its exec. The leader's value
	 * counts for the group. Written by each file that finds out whose task it is: births.c, seize.c, attach.c, and
	 * by execs.c. */
	bool release_at_exec;

	/* While its process is attached to. */
	bool is_lost;    /* seize.c: another task has taken its place by an exec that was not reported */
	bool is_settled; /* wait_for_births.c: it is in no fork or clone that began before it was seized */

	/* While functrace lets go of it: letgo.c, except what task_make_ready() writes. */
	struct {
		bool is_asleep; /* in a system call, and left alone */
		bool can_call;  /* in a stop in which it can be made to do a system call */
		bool is_ready;  /* stopped, and nothing of functrace's is left to be undone: task_make_ready() */
		int signal;     /* the signal that its stop was about to deliver: task_make_ready() */
	} parting;
};

/* Makes a new task of a process (NULL: of none yet), with an empty part of this room. */
struct task *task_begin(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase);
/* Discards the state of a leader whose id and place another task has taken, by an exec that was not reported. */
void task_begin_again(struct task *leader);
/* Continues the task after an event that it need not know of. While functrace lets go of it, it stays stopped and ready
 * to be detached: any stop takes the place of a pending interrupt, so it would not stop again. */
void task_go_on(struct tracer *t, struct task *task);
/* Makes a stopped task ready to be detached, which will deliver the signal (0: none). */
void task_make_ready(struct task *task, int signal);
/* Frees a task. If it was the last of its process, that ends as `how` says (NULL: nothing). */
void task_forget(struct tracer *t, struct task *task, const char *how);
/* Forgets every task of the group except `keep`, because the kernel reports nothing more about them. */
void task_forget_group(struct tracer *t, pid_t tgid, const struct task *keep);
/* Detaches one stopped task, whose text is clean, and frees it. */
void task_release(struct tracer *t, struct task *task, int sig);

#endif
