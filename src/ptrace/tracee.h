/* Tasks, processes and the tracer: the data that this floor and those above share.
 *
 * One thread owns all of it. A process is an address space: tasks that share memory (threads, vfork children,
 * clone(CLONE_VM)) share one struct process and one trace; kcmp(KCMP_VM) says who does, never the name of an event.
 *
 * A floor above keeps its own data about a task, a process or the run in a part of its own, of a type that only that
 * floor and those above it know. */
#ifndef FT_PTRACE_TRACEE_H
#define FT_PTRACE_TRACEE_H

#include "arch/arch.h"
#include "base/hash.h"
#include "engine/engine.h"
#include "ptrace/stop.h"
#include "symbols/object.h"

#define CALL_ARGS 6 /* integer arguments that are read at a function's entry */

struct process;
struct tracer;

/* What a new task turned out to be. */
enum birth {
	BIRTH_UNKNOWN,
	BIRTH_SHARES, /* a thread, or a process that shares its maker's memory */
	BIRTH_FORK,   /* a process with memory of its own */
};

struct task {
	pid_t tid, tgid;
	int seat; /* its place in the guard's list, or -1 */
	enum task_phase phase;
	struct process *process;      /* EXPECTED: its parent's; NULL: none */
	struct task *sibling, **link; /* the next task of its process; what points to this one */

	/* What ptrace has it do. */
	bool stopped;     /* in a ptrace stop that has been collected */
	bool interrupted; /* by the tracer: an EVENT_STOP is to come */
	bool listening;   /* in a group-stop under PTRACE_LISTEN */
	bool is_stepping; /* it was resumed for a step whose end has not been waited for */
	bool vforking;    /* blocked until its vfork child execs or ends */
	bool exiting;     /* its exit event was seen */
	bool elsewhere;   /* has left this address space: its exec or exit stop is queued, not yet acted on */

	/* The current stop. */
	struct arch_regs regs; /* if regs_known */
	bool regs_known;
	uint64_t at_stop;     /* counts the stops at which its registers were read */
	uint64_t text_serial; /* the process's when this task was resumed; of a newborn its maker's; 0 unknown */

	/* While it is being born: births.c. */
	struct {
		enum birth kind;
		pid_t maker;     /* HELD: the tgid of who made it, as it was at its first stop */
		unsigned event;  /* PTRACE_EVENT_* of the maker */
		int signal;      /* SIGTRAP, or the signal that has stopped its group */
		bool is_release; /* a fork that is not followed */
	} birth;
	bool release_at_exec; /* a vfork child that is not followed; of a group its leader's counts */
	bool is_vfork_child;  /* its parent sleeps until it execs or ends */
	int stop_after_exec;  /* a stop signal that it gets after that */

	/* While its process is attached to: is_lost seize.c, is_settled settle.c and seize.c. */
	struct {
		bool is_lost;    /* an exec that was not reported has put another task in its place */
		bool is_settled; /* it is in no fork or clone that began before it was seized */
	} arriving;

	/* While it is let go of: letgo.c. */
	struct {
		bool is_asleep; /* in a system call, and left alone */
		bool is_ready;  /* stopped, and nothing of ours is left to be undone */
		bool can_call;  /* in a stop from which it can be made to do a system call */
		int signal;     /* what its stop was about to deliver */
	} parting;

	struct task_hits *hits;   /* text/ */
	struct task_calls *calls; /* calls/; NULL before its first call */
};

struct process {
	pid_t pid; /* tgid of the task that began it */
	struct tracer *tracer;
	struct process *next;
	const struct arch *arch;
	int mem_fd;
	int guard; /* its space of the guard's, -1 none */
	size_t references;
	struct task *tasks;
	size_t task_count;
	bool shared;  /* by tasks that are not threads of each other */
	pid_t anchor; /* the task under whose id /proc shows it for now, 0 none */
	bool shadow_stack;
	bool leaving; /* is let go of, while others stay; what is left of its tasks cannot be stopped yet */
	bool planted; /* its functions have breakpoints */
	/* Counts what is written to the text; a borrower's: the lender's at its birth, 0 unknown. */
	uint64_t text_serial;

	struct object_list objects;
	struct object *program; /* the main program, NULL if it is not among them */
	uint64_t r_debug;       /* the dynamic linker's, 0 unknown: linker.c */
	unsigned pin_needed;    /* hits in a row before its task is pinned; 0 as always: pin.c */

	struct text *text;
	struct trace *trace;
	struct probe_list *probes;
	struct calls *calls;
	struct traps *traps;

	/* A fork's child without tables of its own: forks.c. */
	struct process *lender, *borrowers, *next_borrower;
	int loan;        /* of the guard's; -1 none */
	bool behind;     /* its text may lack breakpoints: it needs tables before it runs */
	bool uncompared; /* it has got tables, but its memory could not be opened: they may say what its text is not */
	/* Called before anything changes that borrowers go by, where there are any; else NULL. */
	void (*before_change)(struct process *p);
};

struct tracer {
	const struct settings *set;
	struct engine *engine;
	struct launch *launch;
	struct hash tasks;       /* tid -> struct task */
	struct task *last_found; /* by task_find() */
	size_t held_tasks;       /* how many of them are HELD */
	struct process *processes;
	struct stops stops;
	struct collector *collector;
	bool letting_go, finished;
	bool is_pinned;  /* the tracer and the busy task have one CPU: pin.c */
	bool may_let_go; /* a task of a leaving process can be let go of now */

	struct run *run; /* record/ */

	/* calls/ */
	struct wanted_list *wanted;
	struct pin *pin;
	struct call *spare_call; /* freed, and the next one to be used; NULL none */
	char *symbols_of;        /* the file of the first program, which --symbol is about; NULL: none yet */

	/* tracer/ */
	bool launch_execed;    /* the launched program has begun */
	int launch_status;     /* how it has ended, where waited_since is not 0 */
	uint64_t waited_since; /* its end, by CLOCK_MONOTONIC; 0: it has not ended, or that was said */
};

#endif
