/* A kernel as the tracer's thread sees it: tasks with their groups, memory and stops, and what wait, ptrace and /proc
 * answer. It does by itself what follows from what was asked (an interruption stops who runs; an end is reported when
 * the exit event has been left, a leader's when all its threads have gone); all else happens because a sequence says
 * so: race_script.c.
 *
 *	fake_kernel.c  tasks and stops, by these rules: ptrace(2), and kernel/ptrace.c, signal.c, exit.c, fs/exec.c
 *	fake_memory.c  memory and its text
 *	fake_ptrace.c  ptrace()
 *	fake_calls.c   syscall(), kill() and the rest as the tracer calls them (the linker's --wrap)
 *	fake_proc.c    files and folders of /proc
 *	fake_world.c   the rooms beside the tracer: engine, objects, trace files; runs the tracer
 */
#ifndef FT_TESTS_FAKE_KERNEL_H
#define FT_TESTS_FAKE_KERNEL_H

#include "arch/arch.h"
#include "base/util.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FAKE_TASKS_MAX    128
#define FAKE_MEMORIES_MAX 32

#define STATUS_STOPPED(sig)      (((sig) << 8) | 0x7f)
#define STATUS_EVENT(event, sig) (((event) << 16) | STATUS_STOPPED(sig))
#define STATUS_EXITED(code)      ((code) << 8)

/* ---- Memory ---- */

struct fake_memory {
	int fd;
	ino_t inode;
	char name[16];                    /* the process that began it; after an exec with a number behind */
	bool has_tail;                    /* room for copies */
	bool refuses;                     /* writes to its text through /proc/PID/mem */
	bool closed;                      /* cannot be opened now */
	const struct fake_place *patched; /* where the program has written another instruction; NULL none */
};

/* What the program's text has, and where copies of instructions go. */
struct fake_place {
	const char *name;
	uint64_t address;
	unsigned length;           /* of its instruction */
	const char *symbol;        /* NULL: no function */
	const unsigned char *code; /* NULL: nothing */
	unsigned size;
};
#define FAKE_TEXT      0x400000u
#define FAKE_TAIL      0x400800u
#define FAKE_TEXT_END  0x401000u
#define FAKE_COPIES    8
#define FAKE_STACK     0x700000u
#define FAKE_STACK_END 0x740000u

struct fake_memory *fake_memory_new(const char *name, bool has_tail);
struct fake_memory *fake_memory_fork(const struct fake_memory *from, const char *name);
/* Its last user has gone: what is open on it reads nothing any more. */
void fake_memory_end(struct fake_memory *memory);
struct fake_memory *fake_memory_of_fd(int fd);
void fake_memories_free(void);
/* A write by the tracer, through a stopped task (by) or through /proc/PID/mem (0): as pwrite(). Breakpoints and copies
 * that come or go are noted as actions. */
ssize_t fake_memory_write(struct fake_memory *memory, uint64_t address, const void *data, size_t size, pid_t by);
void fake_memory_read(const struct fake_memory *memory, uint64_t address, void *data, size_t size);
void fake_memory_put(const struct fake_memory *memory, uint64_t address, const void *data, size_t size);
/* The program writes other code there: two instructions that do nothing. */
void fake_memory_patch(struct fake_memory *memory, const struct fake_place *place);
bool fake_has_breakpoint(const struct fake_memory *memory, uint64_t address);
/* How many bytes of its text differ from what the file has. */
unsigned fake_text_differs(const struct fake_memory *memory);
const struct fake_place *fake_place_named(const char *name);
const struct fake_place *fake_place_n(size_t n); /* NULL behind the last */
/* Its name, with what is to be added; one of a few static buffers. */
const char *fake_place_text(uint64_t address);

/* ---- Tasks ---- */

enum fake_state {
	FAKE_RUNS,    /* or sleeps: see `activity` */
	FAKE_STOPPED, /* in a ptrace stop */
	FAKE_LISTENS, /* the same, under PTRACE_LISTEN */
	FAKE_ZOMBIE,
	FAKE_GONE,
};

struct fake_task {
	pid_t tid, tgid, parent;
	pid_t tracer;               /* 0 none; gettid(): the tracer under test */
	struct fake_memory *memory; /* NULL: it has ended */
	enum fake_state state;
	char activity;  /* of one that runs: R, S (asleep in a system call), D */
	bool deaf;      /* does not come to a stop when it is interrupted */
	bool no_stack;  /* its page has to be brought by somebody first */
	unsigned order; /* of attaching */

	bool unread; /* its stop or its end has not been waited for */
	int status;
	unsigned long message;
	siginfo_t info;
	bool interrupted; /* an interruption is pending */
	bool vforking;    /* until its vfork child has its own memory, or has ended */
	int birth_event;  /* which event its maker will report */
	bool exit_event_seen, executing;
	int end;     /* the status it will end with */
	int refusal; /* errno of PTRACE_SEIZE */

	struct arch_regs regs;
	uint64_t mask, stack;
	uint64_t hit;                  /* the breakpoint it has run into, until it goes on */
	uint64_t queued_hit;           /* one whose SIGTRAP is pending behind the stop it is in */
	bool in_syscall;               /* of the tracer's */
	const struct fake_place *site; /* where its last call returns to */
	uint64_t block;                /* what that gives or gets */

	/* Of a group, at its leader. */
	int group_stop; /* the signal, 0 none */
	char trap;      /* action of SIGTRAP: d(efault), i(gnored), h(andled) */
};

extern const struct arch *fake_arch;

void fake_reset(void);
struct fake_task *fake_find(pid_t tid);
struct fake_task *fake_nth(size_t n); /* NULL behind the last; those that have gone are among them */
struct fake_task *fake_leader(const struct fake_task *task);
struct fake_task *fake_new(pid_t tid, pid_t tgid, struct fake_memory *memory);
size_t fake_users(const struct fake_memory *memory);
bool fake_is_ours(const struct fake_task *task);

/* The task comes to a stop; false (and the sequence has failed) if it cannot. */
bool fake_report(struct fake_task *task, int status, unsigned long message);
/* It has done the instruction at its pc, and stops for that. */
void fake_end_step(struct fake_task *task);
/* It has run into a breakpoint there. */
bool fake_hit(struct fake_task *task, uint64_t address);
/* It leaves its stop. */
void fake_go_on(struct fake_task *task);
void fake_exit(struct fake_task *task, int status); /* with its exit event, if it is traced */
void fake_end(struct fake_task *task, int status);  /* without */
void fake_kill(pid_t tgid);
void fake_exec(struct fake_task *task);
void fake_interrupt(struct fake_task *task);
/* Of the tracer's children, tracees included, one that has something to report; NULL none. */
struct fake_task *fake_ready(pid_t which);
/* Whether anything could be waited for at all. */
bool fake_has_children(pid_t which);
/* What it has reported has been taken. */
void fake_taken(struct fake_task *task);

/* ---- Calls ---- */

void fake_calls_reset(void);
/* The tracer under test becomes its tracer. */
void fake_attach(struct fake_task *task);
/* SIGCHLD is sent for that one. */
void fake_child_signal(pid_t tid);
/* SIGALRM comes, if the tracer handles it now. */
void fake_alarm(void);
const char *fake_signal_name(int sig);

/* ---- The sequence: race_script.c ---- */

/* What the tracer does: fake_begin() names it, and what is to happen just before happens; fake_done() writes it down,
 * and what is to happen just behind happens. errno of its failure, or 0. */
void fake_begin(const char *fmt, ...) FT_PRINTF(1, 2);
void fake_done(int error);
/* The same, where it has been written down in other words. */
void fake_done_silently(void);
/* What a call returns that fails so; what one returns that has failed, or not (0), and is written down. */
long fake_failed(int error);
long fake_finished(int error);
/* " SIGNAL" behind what is written down; "" for 0. Valid until the next call. */
const char *fake_with_signal(long sig);
/* The same of what is not written down. */
void fake_point(const char *fmt, ...) FT_PRINTF(1, 2);
/* What is written down only. */
void fake_note(const char *fmt, ...) FT_PRINTF(1, 2);
/* The tracer waits, or naps: what comes next happens. False: nothing does any more. */
bool fake_advance(void);
/* The tracing has begun: what was written down before is of no interest. */
void fake_started(void);
/* The sequence cannot be played: from now on nothing can be waited for. */
void fake_fail(const char *fmt, ...) FT_PRINTF(1, 2);
bool fake_has_failed(void);

#endif
