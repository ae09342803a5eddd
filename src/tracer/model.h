/* What the tracer keeps: tasks, processes (address spaces), breakpoints, slots, calls in flight.
 *
 * One thread owns all of it. A process is an address space: tasks that share memory (threads, vfork
 * children, clone(CLONE_VM)) share one struct process and one trace; kcmp(KCMP_VM) tells, never the name
 * of an event. */
#ifndef FT_TRACER_MODEL_H
#define FT_TRACER_MODEL_H

#include "tracer/spin.h"
#include "arch/arch.h"
#include "base/hash.h"
#include "symbols/names.h"
#include "symbols/object.h"
#include "trace/writer.h"
#include "tracer/engine.h"
#include "tracer/settings.h"
#include "unwind/unwind.h"

#include <sched.h>

#define MAX_FRAMES   256
#define CALL_ARGS    6
#define RECENT_TASKS 16

struct process;
struct breakpoint;

/* Functions that are watched for the tracer's own sake. */
enum hook {
	HOOK_NONE,
	HOOK_LIBRARY,   /* the dynamic linker's _dl_debug_state: objects have come or gone */
	HOOK_SIGACTION, /* the target may set its action for SIGTRAP */
};

/* One function to be traced, as the modules name it. */
struct wanted {
	const struct function *function; /* NULL: a hook */
	const struct module *module;
	enum hook hook;
	uint32_t resource; /* id in the trace; 0 for a hook */
	const char *symbol;
	char *shown;    /* name in the trace */
	uint64_t found; /* in how many objects */
};

/* A wanted function at an address of a process. */
struct probe {
	const struct wanted *wanted;
	const char *shown;    /* its name in the trace (a prefixed name keeps its prefix) */
	uint64_t start, size; /* extent of its code; size 0 unknown */
	const struct object *object;
	bool any_family;  /* free and operator delete are one function here */
	bool is_resolver; /* an IFUNC's: what it returns is the function */
};

/* An out-of-line copy in the tail of some text mapping. */
struct slot {
	uint64_t address;
	unsigned users; /* tasks sent into it and not yet seen elsewhere */
	bool written;
	bool used_lately;
	const struct object *object; /* in whose unused bytes it lies */
	struct breakpoint *owner;    /* NULL: free */
	struct insn insn;            /* what it is a copy of; tasks may be in it when the owner has gone */
	struct insn_copy copy;
	unsigned char saved[ARCH_SLOT_SIZE]; /* what was there before */
};

struct breakpoint {
	uint64_t address;
	struct insn insn; /* what stands there in truth */
	unsigned char original[ARCH_BREAKPOINT_MAX], trap[ARCH_BREAKPOINT_MAX];
	unsigned char size;
	bool inserted;
	bool wanted; /* prepared, to be planted with the others */
	bool is_return;
	bool is_made;          /* in memory that is no object's: code made at run time */
	bool is_computed;      /* a return site behind a call that may go to another function each time */
	bool ifunc_return;     /* the return of an IFUNC resolver */
	bool unusable;         /* could not be written; not tried again */
	unsigned char watched; /* pin_watch.c: which function's entry it is, from 1 on; 0 none */
	unsigned misses;       /* hits as a return site without a call, in a row */
	unsigned in_flight;
	struct probe *probe; /* entry of a traced function, or NULL */
	struct slot *slot;
	long ticket;          /* of the guard's journal; -1 none */
	struct path *path;    /* follow.c */
	unsigned led_nowhere; /* times that following its jump was in vain, in a row */
};

/* One traced call from entry to return. */
struct call {
	struct task *task;         /* who entered; NULL when that task has ended */
	struct call *next, **link; /* the task's calls, newest first; link: what points to this one */
	const struct probe *probe;
	uint64_t return_sp, return_address;
	uint64_t args[CALL_ARGS];
	uint64_t time_ns;            /* of its entry, for a reserved release */
	uint64_t serial;             /* of the stack kept for it: stack.c */
	struct breakpoint *site;     /* the return site, or NULL if none could be planted */
	bool reserved;               /* a release that can fail, not yet committed */
	uint64_t released;           /* its id */
	struct unwind_frame *frames; /* its stack, with -A; NULL none */
	size_t frame_count;
	enum stack_end end;
	/* The last call that was folded into this one, itself a part of it: what it calls is one too. */
	const struct probe *inner;
	uint64_t inner_sp;
	/* What a call that might have been a part of this one has allocated; has_made. */
	uint64_t made;
	bool has_made;
};

struct entry {
	const struct probe *probe;   /* NULL: none */
	uint64_t sp, return_address; /* sp: as its return will have it */
};

struct last_release {
	struct entry outer, inner; /* inner: the last one that was folded into it */
	uint64_t id;
};

/* A hit at an entry that a signal interrupted: the pc went back to the entry before the handler ran. When the
 * same call hits it again (same place on the stack, same arguments), it is not a second one. */
struct undone {
	const struct breakpoint *breakpoint; /* NULL: free */
	uint64_t sp, args[CALL_ARGS];
};
#define UNDONE_MAX 4 /* signals nest */

/* Stack bytes read at a call's entry: stack.c. */
struct kept_stack {
	unsigned char *bytes;
	size_t capacity, size;
	uint64_t address;
	uint64_t call; /* serial of the call that they are kept for; 0 none */
	bool is_valid; /* at the current stop */
};

enum task_phase {
	PHASE_UNKNOWN,  /* no task */
	PHASE_EXPECTED, /* its parent's event was seen, its own first stop not yet */
	PHASE_HELD,     /* its first stop was seen, its parent's event not yet: stays stopped */
	PHASE_LIVE,
};

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
	struct process *process; /* EXPECTED: its parent's */
	bool stopped;            /* in a ptrace stop that has been collected */
	bool interrupted;        /* by the tracer, to step another in place */
	bool lost;               /* attaching: an exec that was not told has put another task in its place */
	bool settled;            /* attaching: in no fork or clone that began before it was seized */
	bool listening;          /* in a group-stop under PTRACE_LISTEN */
	bool vforking;           /* blocked until its vfork child execs or ends */
	bool release_at_exec;    /* a vfork child that is not followed; of a group its leader's counts */
	bool is_vfork_child;     /* its parent sleeps until it execs or ends */
	int held_stop;           /* a stop signal that it gets after that */
	bool exiting;            /* its exit event was seen */
	bool elsewhere;     /* stopped, but out of the process's memory: an exec or end that has not been told yet */
	bool at_ease;       /* letting go: in a stop from which it can be made to do a system call */
	bool quiet, ready;  /* letting go: asleep and left alone; stopped and settled */
	int pending_signal; /* letting go: what its stop was about to deliver */
	enum birth birth;
	bool release_at_birth; /* a fork that is not followed */
	uint64_t text_serial;  /* the process's when this task was resumed; of a newborn its maker's; 0 unknown */
	pid_t maker;           /* HELD: the tgid of who made it, as it was at its first stop */
	unsigned birth_event;
	int birth_signal;  /* SIGTRAP, or the signal that has stopped its group */
	struct slot *slot; /* where it was last sent */
	struct call *calls;
	struct arch_regs regs; /* of the current stop, if regs_known */
	bool regs_known;
	uint64_t word_at, word; /* a word of memory read at the current stop; 0: none */
	struct kept_stack kept;
	uint64_t last_serial;
	/* Entries whose instruction was undone for a signal: their hits are known already. */
	struct undone undone[UNDONE_MAX];
	unsigned undone_next;
	struct last_release last_release;
	bool name_known;
	char name[16];
};

/* A stretch of slots in the tail of one text mapping. */
struct tail {
	uint64_t start, end, next; /* never used from `next` on */
	size_t hand;               /* the slot that is looked at first when one is to be taken */
	struct object *object;
};

struct counts {
	uint64_t events, allocations, releases;
	uint64_t stale, not_calls, no_return_seen, unknown_releases, mismatched;
	uint64_t internal; /* releases of the allocator's own bookkeeping, not written */
	uint64_t slow_steps, retired, withdrawn;
	uint64_t stacks, cut_stacks, lost_stacks; /* taken for events; see enum stack_end */
	uint64_t failed_sites, failed_probes;
};

/* Live resources and releases that wait for a proof: ledger.c. */
struct live_set {
	struct hash sizes; /* id -> size, family, and whether it is from before the fork */
	uint64_t bytes, peak_bytes;
	uint64_t inherited, inherited_bytes; /* of these from before the fork */
};

/* What is live, and of that what is not in the trace: a fork's child has its parent's blocks, too. */
struct live_total {
	uint64_t blocks, bytes;
	uint64_t inherited, inherited_bytes; /* not among those */
};

struct held_release;

enum trap_action { TRAP_DEFAULT, TRAP_IGNORED, TRAP_HANDLED };
#define SIGTRAP_ACTION_SIZE 32

struct process {
	pid_t pid; /* tgid of the task that began it */
	struct tracer *tracer;
	const struct arch *arch;
	int mem_fd;
	int guard;
	size_t tasks;
	bool shared;  /* by tasks that are not threads of each other */
	pid_t anchor; /* the task by which /proc tells of it for now, 0 none */
	bool shadow_stack;
	unsigned forgotten;  /* how many times breakpoints have been freed */
	unsigned pin_needed; /* hits in a row before its task is pinned; 0 as always: pin.c */
	bool planted;
	bool writes_refused; /* its text is written by ptrace, with a task stopped */
	bool is_launched;
	bool attached;    /* began in the midst (-t, a fork, a pause): blocks from before are unknown */
	bool attached_to; /* named by -t */
	bool dumpable_text_warned;
	bool leaving; /* is let go of, while others stay; what is left of its tasks cannot be stopped yet */

	/* A fork's child without tables of its own: forks.c. */
	struct process *lender, *borrowers, *next_borrower;
	int loan;    /* of the guard's; -1 none */
	bool behind; /* its text may lack breakpoints: it needs tables before it runs */
	uint64_t
		text_serial; /* counts what is written to the text; a borrower's: the lender's when it was born, 0 unknown */
	pid_t forked_by; /* it has no trace file before its first event; 0: not a fork's child, or it has one */

	struct object_list objects;
	struct object *program; /* the main program, NULL if it is not among them */
	struct unwinder *unwinder;
	struct hash breakpoints;     /* address -> struct breakpoint */
	size_t inserted;             /* how many of them are in */
	bool planting;               /* they are only prepared for now */
	const struct probe **probes; /* of those breakpoints */
	size_t probe_count, probe_capacity;
	size_t release_probes; /* how many of them release without a return breakpoint */
	struct hash slots;     /* address -> struct slot */
	size_t syscall_copies; /* how many of them ever held a system call's instruction */
	struct tail *tails;
	size_t tail_count, tail_capacity, tail_turn;
	uint64_t r_debug; /* address of r_debug, 0 unknown */

	/* The target's own SIGTRAP: sigtrap.c. */
	enum trap_action trap;
	int stat_fd; /* /proc/TID/stat of one of its tasks, -1 none yet */
	bool trap_known, trap_reset, trap_lost, trap_once;
	unsigned char trap_saved[SIGTRAP_ACTION_SIZE]; /* struct kernel_sigaction of its handler */
	uint64_t syscall_insn, restorer;               /* code of the C library, 0 not looked for */

	struct hash calls;                  /* return sp -> struct call */
	size_t calls_in_flight, publishers; /* publishers: calls whose id may be out before they return */
	size_t stack_want;                  /* bytes of stack to read at once */

	struct live_set *live; /* one a resource type */
	struct hash reserved;  /* id -> struct call with a reserved release */
	struct held_release *held, **held_end;
	size_t held_count;

	/* The trace. */
	struct writer *writer;
	int trace_fd;
	char *trace_path;
	char *exe;           /* the path of its program's file, as the trace has it */
	char *name;          /* what it was started by */
	bool foreign_mounts; /* its paths are those of another mount namespace */
	struct names *names;
	uint64_t start_ns; /* CLOCK_REALTIME at its beginning */
	uint64_t day_ns;   /* what to take off CLOCK_REALTIME for call times */
	uint64_t next_index;
	pid_t last_thread;
	bool broken;            /* the trace could not be written any more */
	bool may_miss;          /* something that happened may have no event: nobody is accused of a foreign release */
	int killed_by;          /* the signal that ended it, 0 none */
	uint64_t calls_written; /* by the writer that has been closed */
	bool reported;
	struct counts counts;

	struct process *next;
};

#define PIN_WATCHED_MAX 64

/* Where breakpoints are that show that a program is about to see its CPUs: pin_watch.c. */
struct pin_watch {
	uint64_t addresses[PIN_WATCHED_MAX];
	size_t count;
	bool answers; /* functions that tell a number are among them */
};

/* A task and the tracer on one CPU: pin.c. */
struct pin {
	bool on;
	pid_t tid, tgid; /* the task; after that, for as long as births from before may be reported; 0 none */
	int cpu;
	cpu_set_t task_mask, own_mask; /* as they were */
	struct pin_watch watch;
	pid_t last;                /* who had the last hit */
	unsigned in_a_row, others; /* hits of that one; of others while it is on */
	uint64_t row_began;
	uint64_t hits, next_look, look; /* while it is on */
	uint64_t looked_at, waited;     /* at the last look */
	uint64_t ticked_at, ticked_hits;
	uint64_t undone_at;
	int schedstat; /* 0 not opened yet */
};

/* Where the traces of this run go: trace_file.c. */
struct trace_files {
	pid_t first;         /* the process whose first trace is -o's FILE, or standard output; 0 none yet */
	struct hash written; /* device and inode of what this run writes */
	struct hash next;    /* pid -> number of its next trace */
};

struct recent {
	pid_t tid;
	uint64_t time; /* of its last stop */
};

struct tracer {
	const struct settings *set;
	struct engine *engine;
	struct launch *launch;
	bool launch_execed, launch_ended;
	int launch_status;

	struct wanted *wanted;
	size_t wanted_count;
	struct hash wanted_names; /* hash of the symbol -> index + 1 */

	struct hash tasks;       /* tid -> struct task */
	struct task *last_found; /* by task_find() */
	struct call *spare_call; /* one that has been freed */
	size_t held_tasks;       /* how many of them are HELD */
	struct process *processes;
	struct stop *queue; /* collected while waiting for something else: see collect.c */
	size_t queue_head, queue_count, queue_capacity;

	/* Waiting among many tasks: those that stopped lately. */
	struct recent recent[RECENT_TASKS];
	size_t recent_turn;
	unsigned singles; /* stops to be taken one by one */
	uint64_t next_sweep;
	bool many_busy;

	struct spin spin;
	bool after_hit;     /* what the latest stop was */
	bool one_processor; /* the tracer may run on one only */
	struct pin pin;
	bool paused, letting_go, finished;
	bool symbols_checked; /* those of --symbol, in the first program */
	bool shows_progress;
	uint64_t started_ns; /* CLOCK_MONOTONIC, when it was attached */
	bool has_broken;     /* a process whose trace cannot be written is to be let go of */
	int exit_status;
	struct report *reports; /* what the summary will say: report.c */
	size_t report_count, report_capacity, unread_told;
	struct trace_files files;
	size_t untraced_children; /* let go of: -F, or of a processor this build does not know */
	size_t lost_attach;
	size_t broken_traces;
	size_t silent_children; /* forked, without an event, so without a trace */
	struct counts totals;
	bool attached;
	unsigned char *stack; /* one snapshot's bytes */
};

#define STACK_MAX (64u << 10)

/* memory.c: the tracee's memory. All return 0 (or a count) or -errno; ESRCH/EIO are normal when it dies. */
ssize_t memory_read_some(struct process *p, uint64_t address, void *data, size_t size);
int memory_read(struct process *p, uint64_t address, void *data, size_t size);
int memory_read_pointer(struct process *p, uint64_t address, uint64_t *value);
/* Data of the target (an emulated push). */
int memory_write(struct process *p, uint64_t address, const void *data, size_t size);
/* Text, through /proc/PID/mem; where a kernel refuses that, through POKETEXT of a stopped task. */
int text_write(struct process *p, uint64_t address, const void *data, size_t size);
/* The same for a stopped task of a process that there is no struct of, its memory open as mem_fd. */
int text_write_stopped(int mem_fd, pid_t tid, uint64_t address, const void *data, size_t size);
/* The other way round. */
int text_read_stopped(int mem_fd, pid_t tid, uint64_t address, void *data, size_t size);
int memory_open(pid_t tid);

/* tasks.c */
struct task *task_find(struct tracer *t, pid_t tid);
/* The leader or else another task that is that or belongs to its group; NULL none. */
struct task *task_of_group(struct tracer *t, pid_t pid);
struct task *task_new(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase);
void task_free(struct tracer *t, struct task *task);
/* The same, and its process's reference: `how` is the process's end, if it was its last task. */
void task_forget(struct tracer *t, struct task *task, const char *how);
/* Those of a thread group but for `keep`: of whom nothing will be told any more. */
void task_forget_group(struct tracer *t, pid_t tgid, const struct task *keep);
/* Registers of a stopped task: read once a stop. 0 or -errno. */
int task_regs(struct task *task);
int task_set_regs(struct task *task);            /* all of them */
int task_set_pc(struct task *task, uint64_t pc); /* only the pc, in task->regs too */
void task_resume(struct task *task, int sig);
/* After an event that the task need not know of. While letting go it stays as it is, ready to be detached: any stop
 * uses up an interruption that is still pending, so it would not stop again. */
void task_go_on(struct tracer *t, struct task *task);
/* After any stop that is not a hit: a pc inside a copy goes back to the original address. */
void task_leave_slot(struct task *task);
/* Remembers the hit at b, whose instruction has not run, so that it is recognised. */
void task_undo(struct task *task, const struct breakpoint *b);
/* A system call that said EINTR only because this stop woke it (epoll_wait and its like) is made again, unless a
 * handler runs after all. */
void task_restart_syscall(struct task *task);
void task_args(struct task *task, uint64_t args[CALL_ARGS]);
pid_t tgid_of(pid_t tid);
/* Whether it belongs to that group, without a look at /proc; false if either has gone. */
bool is_of_group(pid_t tid, pid_t tgid);
/* The thread that traces a task; 0 none (or it has gone). */
pid_t tracer_of(pid_t tid);
/* The user whose it is, as the real user id; -1 unknown. */
long owner_of(pid_t tid);
/* The process that is a process's parent; 0 unknown. */
pid_t parent_of(pid_t tid);
/* The n-th space-separated field (0-based) after the ")" of /proc/TID/stat; false if the task has gone. */
bool task_stat(pid_t tid, char *state, unsigned long *flags);
/* Flags: a kernel thread; one that works for the kernel among a program's own (io_uring, vhost). */
#define PF_KTHREAD     0x00200000ul
#define PF_IO_WORKER   0x00000010ul
#define PF_USER_WORKER 0x00004000ul
/* Whether it is a program's, and has not ended. */
bool task_is_alive(pid_t tid);
/* The first thread of a process, by /proc, of which that is true; 0 none. */
pid_t find_thread(pid_t pid, bool (*wanted)(pid_t tid));
/* The leader, or a thread that lives on when that has ended and has no memory any more; 0 if none does. */
pid_t live_thread(pid_t pid);
/* The system call that a task is blocked in, and the pc after its instruction; false if it is in none. */
bool task_syscall(pid_t tid, long *number, uint64_t *pc);
/* Whether its program has the set-user-ID or set-group-ID bit and runs without what that gives: the kernel does so
 * while a tracer without rights of its own watches. */
bool lacks_privileges(pid_t pid);
bool same_memory(pid_t a, pid_t b, bool *known);

/* process.c */
void counts_add(struct counts *to, const struct counts *from);
struct process *process_new(struct tracer *t, pid_t tid, pid_t tgid);
/* One without memory, tables and a name. */
struct process *process_alloc(struct tracer *t, pid_t pid, const struct arch *arch);
/* Opens its memory by one of its tasks, if it is not open. 0 or -errno. */
int process_open(struct process *p, pid_t tid);
/* A task by which /proc tells of the process: its anchor, the leader, or another if that has ended. */
pid_t process_proc(const struct process *p);
/* Where one of those that share the memory may be executing another program, /proc must not be asked by that one:
 * finds or stops a task that cannot, its anchor. 0 if there is none. */
pid_t process_anchor(struct process *p);
/* The same process made anew by its anchor, with all its tasks; the old one is freed. NULL: errno, nothing has
 * changed. */
struct process *process_again(struct process *old);
void process_ref(struct process *p);
/* One task less; the last one ends the process and its trace. */
void process_unref(struct process *p, const char *how);
/* Reads the objects, probes what they define, begins a trace. 0 or -errno. */
int process_start(struct process *p);
/* The same for all that there are, in their midst. From the first breakpoint on they wait for the tracer: planted are
 * those only when all is prepared. 0 or the first -errno, and *failed is whose; the others go on. */
int processes_start(struct tracer *t, struct process **failed);
void process_update_objects(struct process *p);
/* Takes all breakpoints out while tasks run, drops the calls, ends the trace file (pausing, letting go). */
void process_pause(struct process *p, const char *why);

/* forks.c */
/* A fork's address space, which has the parent's text with our breakpoints in it. The child has not run yet. NULL:
 * errno (only where the parent has never been looked at). */
struct process *process_fork(struct process *parent, struct task *child);
/* Gives a borrower tables of its own, and opens its memory if that can be. Its tasks may be running. */
void process_own(struct process *p);
/* To be called before anything that its borrowers go by changes: its objects, its blocks, breakpoints that go. */
void lend_no_more(struct process *lender);
/* It needs no tables any more. */
void borrow_no_more(struct process *p);
/* Takes all that is ours out of the text of a stopped process that is not followed any further. */
void clean_child(struct process *p, pid_t tid);

/* probes.c */
void wanted_init(struct tracer *t);
/* The dynamic linker's notices only. */
void probe_linker(struct process *p);
void probe_object(struct process *p, struct object *object);
/* The functions that IFUNC resolvers chose before they were watched, found where they were written down. */
void probe_resolved(struct process *p);
void forget_range(struct process *p, uint64_t start, uint64_t end);
void probe_at(struct process *p, const struct probe *probe);
/* What --symbol names, in the main program. */
void probe_manual_symbols(struct process *p);
/* Where the breakpoint of a function at that address belongs. */
uint64_t probe_entry(struct process *p, uint64_t start);
/* The object's code in which the address is, or NULL. */
const struct text_range *object_text_at(const struct object *object, uint64_t address);

/* The probe whose function's code holds the address, or NULL. */
const struct probe *probe_around(const struct process *p, uint64_t address);

/* breakpoints.c */
struct breakpoint *breakpoint_find(struct process *p, uint64_t address);
/* The breakpoint at address (made if new), inserted. NULL if it cannot be. */
struct breakpoint *breakpoint_insert(struct process *p, uint64_t address);
/* While p->planting is set, breakpoint_insert only prepares; this writes all of them in one go: from the first trap
 * on the target waits for the tracer. */
void breakpoints_plant(struct process *p);
void breakpoint_remove(struct process *p, struct breakpoint *b);
/* Whether it is inserted still, and over the instruction that is known: code made at run time can be made anew. If not,
 * it is taken out. */
bool breakpoint_refresh(struct process *p, struct breakpoint *b);
/* Removes up to `most` that are in, entries only or any. How many were. */
size_t breakpoints_remove_some(struct process *p, bool entries, size_t most);
void breakpoint_free(struct process *p, struct breakpoint *b);

/* linker.c: what the dynamic linker knows. */
/* Its notice: something is about to be loaded or unloaded, or has been. */
void linker_notice(struct task *task);
/* Marks the objects that are never unloaded. */
void linker_mark_lasting(struct process *p);

/* slots.c */
void slots_add_object(struct process *p, struct object *object);
/* Whether the breakpoint's slot holds its copy now: a library may have been unloaded and loaded again at the same
 * place without a notice, when that was while attaching. */
bool slot_usable(struct process *p, struct breakpoint *b);
void slots_forget_range(struct process *p, uint64_t start, uint64_t end);
bool slot_assign(struct process *p, struct breakpoint *b);
void slot_release(struct process *p, struct slot *s);
/* Makes sure that an assigned slot's copy is in memory: its object may have been unmapped and mapped again. */
bool slot_ready(struct process *p, struct slot *slot);
struct slot *slot_at(struct process *p, uint64_t pc);
void slots_restore(struct process *p);

/* pass.c: getting past a breakpoint, and resuming. */
/* The status of a resumed task's next stop or its end, 0 if it has gone. Of a killed leader that is told only when the
 * ends of all its threads have been taken, which are kept for collect(). */
int task_wait(struct task *task);
/* Keeps what a task of a known process reported at a bad time for collect(). */
void task_keep_stop(struct task *task, int status);
/* Stops one task of the process; collect() will tell of that. Its id, or 0 if none would stop. */
pid_t halt_one(struct process *p);
void pass_breakpoint(struct task *task, struct breakpoint *b);

/* follow.c: the breakpoint that the task will hit next, before anything else, if it is passed: then task->regs are
 * those of that hit (the task's own are not written); else NULL. */
struct breakpoint *follow_jump(struct task *task, struct breakpoint *b);

/* calls.c */
void call_enter(struct task *task, struct breakpoint *b);
void call_return(struct task *task, struct breakpoint *b);
/* At the entry of a hook or of an IFUNC's resolver: its return is watched, nothing is written. */
void call_watch(struct task *task, struct breakpoint *b);
/* It never returned: counted and dropped. */
void call_stale(struct process *p, struct call *call);
void calls_drop_task(struct task *task);
void calls_drop_all(struct process *p);
/* The task that a fork has made, in a process of its own, comes back from its maker's calls as well. */
void calls_fork(const struct task *maker, struct task *child);
/* Forgets the calls of a probe or return site that is going. */
void calls_drop_site(struct process *p, const struct breakpoint *b);

/* nesting.c: which calls are parts of others. The task is at the entry of `probe`. */
/* Watched for the tracer's own sake; no module knows it. */
bool is_watched(const struct probe *probe);
const struct function *function_of(const struct call *call);
/* Both allocate or release the same kind of resource. */
bool same_kind(const struct probe *a, const struct probe *b);
/* Makes the call that is being entered a part of one of the task's calls in flight, if it is an inner one of it: true.
 * Drops the calls that turn out to be over. */
bool fold_call(struct task *task, const struct probe *probe, uint64_t return_sp);
/* The same for a release, by whichever functions, of what a call in flight has reserved (a realloc that frees its old
 * block, or jumps to free). */
bool fold_reserved(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* The same for a release, of the task's last release (delete -> free), if it has come here only to be done. Remembers
 * this one as the last if it is none. */
bool fold_release(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id);
/* Counts a release of what an allocator keeps for itself and never gave away, if it is one: true. */
bool count_bookkeeping(struct task *task, const struct probe *probe, uint64_t id);

/* stack.c: the stack of a stopped task whose registers are known. */
/* Where the call just entered returns to. With with_stack what a walk will want is read along with it. False if it
 * cannot be read. */
bool stack_return_address(struct task *task, bool with_stack, uint64_t *address);
/* What was read at this entry is kept for the call's return; at that it is good again. */
void stack_keep(struct task *task, struct call *call);
void stack_recall(struct task *task, const struct call *call);
/* Up to max frames of a task at a breakpoint, until one whose CFA is until_cfa or above it (0: all). *cut: there are
 * more. */
size_t stack_walk(struct task *task, struct unwind_frame *frames, size_t max, uint64_t until_cfa, bool *cut);

/* A copy for the caller to free; NULL of none. */
struct unwind_frame *frames_copy(const struct unwind_frame *frames, size_t count);

/* ledger.c: what calls mean for the trace, in the right order. */
void ledger_init(struct process *p);
void ledger_free(struct process *p);
void ledger_fork(const struct process *from, struct process *to);
struct event {
	struct task *task;
	const struct probe *probe;
	uint64_t id, size, time_ns;
	struct unwind_frame *frames;
	size_t frame_count;
	bool has_frames;
	enum stack_end end;
};
void ledger_allocated(struct process *p, const struct event *e);
/* At the entry of a release that cannot fail. */
void ledger_released(struct process *p, const struct event *e);
void ledger_call(struct process *p, const struct event *e);
void ledger_reserve(struct process *p, struct call *call, uint64_t id);
void ledger_commit(struct process *p, struct call *call);
void ledger_withdraw(struct process *p, struct call *call);
/* A release of that id is entered, as a part of a call in flight (is_inner), or on its own. A reserved one of the
 * same id has succeeded in the first case; in the second it is over, or it leaves the release to this one. */
void ledger_entered_release(struct process *p, struct task *task, uint64_t id, bool is_inner);
void ledger_publisher_done(struct process *p);
/* The probe is going: what is held and names it is written. */
void ledger_forget_probe(struct process *p, const struct probe *probe);
struct live_total ledger_live(const struct process *p);
bool ledger_knows(const struct process *p, uint32_t resource, uint64_t id);

/* trace_file.c */
/* Opens the next trace of a process, which replaces nothing that this run has written; p->trace_path is its name.
 * A descriptor, or -errno. */
int trace_file_open(struct process *p);
void trace_files_free(struct trace_files *files);

/* output.c */
/* The time from which its trace counts. */
void output_start(struct process *p);
int output_begin(struct process *p);
void output_end(struct process *p, const char *how);
void output_object(struct process *p, const struct object *object);
void output_note(struct process *p, const char *fmt, ...) FT_PRINTF(2, 3);
void output_call(struct process *p, const struct event *e, enum call_kind kind);
void output_flush_all(struct tracer *t);
uint64_t output_time(const struct process *p);
/* What a process's trace holds and what was not traced, told to the user when it ends. */
void output_report(struct process *p);
void output_summary(struct tracer *t);
void reports_free(struct tracer *t);

/* progress.c: only when attached, on a terminal. Once a second; not any more. */
void progress_begin(struct tracer *t);
void progress_show(struct tracer *t);
void progress_end(struct tracer *t);

/* attach.c */
int attach_all(struct tracer *t);
int launch_begin(struct tracer *t);

/* seize.c */
extern const unsigned long seize_options;
/* Around all that seizes: a thread's exec may come in between. */
void seize_begin(void);
void seize_end(void);
/* Seizes all threads of a process, which have no struct process yet. How many new ones; *error: 0,
 * EBUSY where one of them has another tracer, or why one of them could not be seized. */
size_t seize_tasks(struct tracer *t, pid_t pid, int *error);
/* Processes that share memory. */
struct sharers {
	pid_t *pids; /* the one that was named is the first; the caller's */
	size_t count, capacity;
	pid_t refused; /* one that cannot be seized, 0 none: then nothing may be planted */
	int error;     /* why */
};
/* Seizes all processes that share the memory of the task `one` and are not seized yet; how many. */
size_t seize_sharers(struct tracer *t, struct sharers *s, pid_t one);
/* Of the process that was begun with those: gives them to it, and seizes all else that uses its memory or is about to.
 * Where it is shared it is made anew, and p freed. */
void seize_rest(struct tracer *t, struct process *p, struct sharers *s);
/* Whether it has executed another program meanwhile without our being told: then what is left of its tasks has no
 * struct process any more, and the others are to be seized again. */
bool seize_lost(struct tracer *t, pid_t pid);

/* act.c */
struct stop;
bool act(struct tracer *t, const struct stop *stop);

/* sigtrap.c: the target's own SIGTRAP, which hits can take from it. */
/* What /proc/PID/stat says of the process's action for SIGTRAP. */
enum trap_action sigtrap_action(pid_t pid);
/* At the entry of sigaction(SIGTRAP, act, old): what the action is going to be. */
void sigtrap_set(struct task *task, uint64_t act);
/* Before the first breakpoint of a process in its midst, or after a pause: learns its action, a handler from a task
 * that is stopped for it. */
void sigtrap_begin(struct process *p);
/* A fork's child has its parent's. */
void sigtrap_fork(const struct process *from, struct process *to);
/* To be called after each hit of a process that does not leave SIGTRAP at its default. */
void sigtrap_after_hit(struct task *task);
/* A SIGTRAP that is not ours is about to be delivered: false if the target ignores it. */
bool sigtrap_deliver(struct task *task);
/* Whether some task must be stopped for sigtrap_restore(). */
bool sigtrap_needs_restore(const struct process *p);
/* When letting go, on a stopped task: the action is put back. */
void sigtrap_restore(struct task *task);

/* pin.c: placement, but for --cpu=free. */
void pin_init(struct tracer *t);
void pin_free(struct tracer *t);
void pin_hit(struct task *task);
/* A request of engine_want_tick() has come. */
void pin_tick(struct tracer *t);
/* The task is about to do what could show or pass on its CPUs, as `why` says: with --cpu=auto it gets its own back. */
void pin_expose(struct tracer *t, const struct task *task, const char *why);
/* The maker's event; the child has got its CPUs. */
void pin_birth(struct tracer *t, const struct task *maker, pid_t child);
/* The same when that event may never have been reported. */
void pin_orphan(struct tracer *t, const struct task *child);
/* The task that was `former` (0 not known) is `tid` now and has executed another program. */
void pin_exec(struct tracer *t, pid_t former, pid_t tid);
void pin_gone(struct tracer *t, pid_t tid);
void pin_undo(struct tracer *t);

/* pin_watch.c */
/* Plants what shows that the process is about to see its CPUs. False, and nothing is planted: that cannot be shown. */
bool pin_watch(struct process *p, struct pin_watch *w);
void pin_unwatch(struct process *p, struct pin_watch *w);
/* A hit of one of these. */
void pin_asked(struct task *task, const struct breakpoint *b);

/* letgo.c */
void let_go(struct tracer *t);
/* Lets go of the processes whose traces cannot be written any more; of all, if no other is left. */
void let_go_broken(struct tracer *t);
/* Whether a task of the process (NULL: not known) is to be detached rather than to go on. */
bool is_leaving(const struct tracer *t, const struct process *p);
/* Lets go of one stopped task for good, its text being clean. */
void release_task(struct tracer *t, struct task *task, int sig);

#endif
