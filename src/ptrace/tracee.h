/* Tasks, processes and the tracer: the data that this layer and the layers above share.
 *
 * The tracer owns these data. A process is an address space: tasks that share memory (threads, vfork children,
 * clone(CLONE_VM)) share one struct process and one trace. kcmp(KCMP_VM) decides which tasks share memory, never the
 * kind of the event that created them.
 *
 * A layer above keeps its own data about a task, a process or the run in a struct of its own, whose type only that
 * layer and the layers above it can see. */
#ifndef FT_PTRACE_TRACEE_H
#define FT_PTRACE_TRACEE_H

#include "arch/arch.h"
#include "base/hash.h"
#include "engine/engine.h"
#include "ptrace/wait_status.h"
#include "symbols/objects/mapped_object.h"

#define CALL_ARGS 6 /* number of integer arguments that are read at a function's entry */

struct process;
struct tracer;

struct task {
	pid_t tid, tgid;
	int journal_task; /* index of the task's entry in the guardian's journal, or -1 */
	enum task_phase phase;
	struct process *process;      /* its process; in PHASE_EXPECTED its maker's; NULL: none yet */
	struct task *sibling, **link; /* the next task of its process; link: the pointer that points to this task */

	/* The task's ptrace state. */
	bool stopped;         /* in a ptrace stop that was collected */
	bool interrupted;     /* PTRACE_INTERRUPT was sent, so an EVENT_STOP will come */
	bool listening;       /* in a group-stop under PTRACE_LISTEN */
	bool is_stepping;     /* resumed for a single step; the stop after it was not collected yet */
	bool vforking;        /* blocked until its vfork child execs or ends */
	bool exit_event_seen; /* PTRACE_EVENT_EXIT was seen */
	bool skip_halt;       /* halt_*() skips it for now, because its system call would fail with EINTR */
	/* in an exec or exit stop that is queued and not handled yet: it has left this address space */
	bool has_left_mm;
	/* the program has blocked SIGTRAP in this task; the kernel unblocks SIGTRAP at a hit: calls/sigtrap.c */
	bool blocks_trap;

	/* The current stop. */
	struct arch_regs regs; /* valid if regs_known */
	bool regs_known;
	uint64_t at_stop; /* number of the stop: grows by 1 when the registers are read at a stop; never 0 */
	/* the process's text_serial when this task was resumed; for a new task, its maker's; 0: unknown */
	uint64_t text_serial;

	struct task_hits *hits;   /* src/breakpoints */
	struct task_calls *calls; /* src/calls; NULL before the task's first call */
	struct task_life *life;   /* src/tracer */
};

struct process {
	pid_t pid; /* the tgid of its first task */
	struct tracer *tracer;
	struct process *next;
	const struct arch *arch;
	int mem_fd;
	int guard; /* index of its address space in the guardian's journal, or -1 */
	size_t references;
	struct task *tasks;
	size_t task_count;
	bool shared;  /* tasks of several thread groups use its memory */
	pid_t anchor; /* the task whose /proc entry shows the process for now, or 0 */
	bool shadow_stack;
	/* functrace is detaching from this process, but not from all processes; its remaining tasks cannot be stopped
	 * yet */
	bool leaving;
	/* Number of writes to the text. If the process borrows tables: the lender's number at the fork; 0: unknown. */
	uint64_t text_serial;

	uint64_t resumed; /* how often its tasks were resumed after stops */

	struct object_list objects;
	struct object *program; /* the main program, or NULL if it is not among the objects */

	struct text *text;            /* src/breakpoints */
	struct trace *trace;          /* src/record */
	struct probe_list *probes;    /* src/calls */
	struct calls *calls;          /* src/calls */
	struct kernel_probes *kernel; /* src/calls; NULL: none */
	struct unwinder *unwinder;    /* src/calls; NULL: none */
	struct traps *traps;          /* src/calls */
	struct process_life *life;    /* src/tracer */
};

struct tracer {
	const struct settings *set;
	struct engine *engine;
	struct launch *launch;
	struct hash tasks;       /* tid -> struct task */
	struct task *last_found; /* the result of the latest task_find(), as a cache */
	size_t held_tasks;       /* number of tasks in phase HELD */
	struct process *processes;
	struct stops stops;
	struct collector *collector;
	bool letting_go, finished;
	bool is_pinned;  /* the tracer shares one CPU with a busy task: pin.c */
	bool may_let_go; /* a task of a leaving process can be detached now */

	struct run *run; /* src/record */

	struct uprobes *uprobes; /* src/uprobe; NULL: no probes in the kernel */
	/* src/tracer: takes the kernel's records, and returns the number of their bytes; NULL: there are no probes */
	size_t (*take_events)(struct tracer *t);
	unsigned kernel_serial; /* src/calls: number of the latest process that got probes in the kernel */
	uint64_t records_lost;  /* src/tracer: number of lost records that were counted in traces */

	struct watcher *watcher; /* src/tracer: --watch; NULL: none */

	/* src/calls: */
	struct probe_spec_list *wanted;
	struct pin *pin;
	struct call *spare_call; /* a freed call, reused for the next; or NULL */

	/* src/tracer: */
	bool is_dispatching;              /* a stop is being dispatched: stop_pump.c */
	struct end_reading *end_readings; /* reads of exiting processes' heaps, one after the other: exit_captures.c */
	bool launch_execed;               /* the launched program has called exec: execs.c */
	int launch_status;                /* the launched program's wait status, if waited_since is not 0: dispatch.c */
	/* CLOCK_MONOTONIC time at which the launched program ended; 0: it has not ended, or its end was reported:
	 * dispatch.c */
	uint64_t waited_since;
};

#endif
