/* Tasks, processes and the tracer: the data that this floor and the floors above share.
 *
 * One thread owns all of it. A process is an address space: tasks that share memory (threads, vfork children,
 * clone(CLONE_VM)) share one struct process and one trace. kcmp(KCMP_VM) decides which tasks do, never an event's
 * name.
 *
 * A floor above keeps its own data about a task, a process or the run in a part of its own, whose type only that
 * floor and the floors above it know. */
#ifndef FT_PTRACE_TRACEE_H
#define FT_PTRACE_TRACEE_H

#include "arch/arch.h"
#include "base/hash.h"
#include "engine/engine.h"
#include "ptrace/stop.h"
#include "symbols/objects/mapped_object.h"

#define CALL_ARGS 6 /* number of integer arguments that are read at a function's entry */

struct process;
struct tracer;

struct task {
	pid_t tid, tgid;
	int guard_slot; /* the task's index in the guard's list, or -1 */
	enum task_phase phase;
	struct process *process;      /* in phase EXPECTED the parent's; or NULL */
	struct task *sibling, **link; /* the next task of its process; the pointer that points to this task */

	/* The state of ptrace. */
	bool stopped;         /* in a ptrace stop that has been collected */
	bool interrupted;     /* by the tracer, so an EVENT_STOP will come */
	bool listening;       /* in a group-stop under PTRACE_LISTEN */
	bool is_stepping;     /* resumed for a step whose end has not been waited for */
	bool vforking;        /* blocked until its vfork child execs or ends */
	bool exit_event_seen; /* its exit event was seen */
	bool skip_halt;       /* not stopped with the others for now, because its system call would fail with EINTR */
	bool has_left_mm;     /* has left this address space: its exec or exit stop is queued, but not handled yet */
	bool blocks_trap;     /* the program blocks SIGTRAP here, which the kernel unblocks at a hit: calls/sigtrap.c */

	/* The current stop. */
	struct arch_regs regs; /* valid if regs_known */
	bool regs_known;
	uint64_t at_stop;     /* counts the stops at which the task's registers were read */
	uint64_t text_serial; /* the process's when this task was resumed; for a newborn, its parent's; 0 unknown */

	struct task_hits *hits;   /* text/ */
	struct task_calls *calls; /* calls/; NULL before its first call */
	struct task_life *life;   /* tracer/ */
};

struct process {
	pid_t pid; /* tgid of its first task */
	struct tracer *tracer;
	struct process *next;
	const struct arch *arch;
	int mem_fd;
	int guard; /* index of its address space in the guard's list, or -1 */
	size_t references;
	struct task *tasks;
	size_t task_count;
	bool shared;  /* by tasks of different thread groups */
	pid_t anchor; /* a task under whose id /proc shows it for now, or 0 */
	bool shadow_stack;
	bool leaving; /* being let go of, while other processes stay; its remaining tasks cannot be stopped yet */
	/* Counts the writes to the text. If the process borrows tables: the lender's count at its birth; 0 unknown. */
	uint64_t text_serial;

	struct object_list objects;
	struct object *program; /* the main program, or NULL if it is not among them */

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
	struct task *last_found; /* by task_find(), as a cache */
	size_t held_tasks;       /* number of tasks in phase HELD */
	struct process *processes;
	struct stops stops;
	struct collector *collector;
	bool letting_go, finished;
	bool is_pinned;  /* the tracer and the busy task share one CPU: pin.c */
	bool may_let_go; /* a task of a leaving process can be detached now */

	struct run *run; /* record/ */

	/* calls/ */
	struct probe_spec_list *wanted;
	struct pin *pin;
	struct call *spare_call; /* a freed call, which is used next; or NULL */

	/* tracer/ */
	bool is_dispatching;              /* a stop is being dispatched: stop_pump.c */
	struct end_reading *end_readings; /* read one after the other: exit_captures.c */
	bool launch_execed;               /* the launched program has called exec: execs.c */
	int launch_status;                /* its wait status, if waited_since is not 0: dispatch.c */
	/* CLOCK_MONOTONIC time of its end; 0: it has not ended, or its end was reported: dispatch.c */
	uint64_t waited_since;
};

#endif
