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
	bool is_spared;   /* for now it is not stopped with the others, for its call would end with EINTR */
	bool elsewhere;   /* has left this address space: its exec or exit stop is queued, not yet acted on */
	bool blocks_trap; /* the program has it block SIGTRAP, which a hit makes the kernel unblock: calls/sigtrap.c */

	/* The current stop. */
	struct arch_regs regs; /* if regs_known */
	bool regs_known;
	uint64_t at_stop;     /* counts the stops at which its registers were read */
	uint64_t text_serial; /* the process's when this task was resumed; of a newborn its maker's; 0 unknown */

	struct task_hits *hits;   /* text/ */
	struct task_calls *calls; /* calls/; NULL before its first call */
	struct task_life *life;   /* tracer/ */
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
	/* Counts what is written to the text; a borrower's: the lender's at its birth, 0 unknown. */
	uint64_t text_serial;

	struct object_list objects;
	struct object *program; /* the main program, NULL if it is not among them */

	struct text *text;         /* text/ */
	struct trace *trace;       /* record/ */
	struct probe_list *probes; /* calls/ */
	struct calls *calls;       /* calls/ */
	struct unwinder *unwinder; /* calls/; NULL none */
	struct traps *traps;       /* calls/ */
	struct process_life *life; /* tracer/ */
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

	/* tracer/ */
	bool is_dispatching;              /* a stop is being acted on: stop_pump.c */
	struct end_reading *end_readings; /* one after the other: endings.c */
	bool launch_execed;               /* the launched program has begun: execs.c */
	int launch_status;                /* how it has ended, where waited_since is not 0: act.c */
	uint64_t waited_since; /* its end, by CLOCK_MONOTONIC; 0: it has not ended, or that was said: act.c */
};

#endif
