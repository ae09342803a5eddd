/* A fake kernel for the tracer's thread: tasks with their groups, memory and stops, and the answers of wait, ptrace and
 * /proc. It does by itself what the kernel does on request: it stops a running task that is interrupted, and reports a
 * task's end when the task is resumed from its exit event, but a leader's end only when all its threads have ended. All
 * other events are statements of a sequence (race_script.c).
 *
 * 	fake_kernel.c  tasks and stops, by these rules: ptrace(2), and kernel/ptrace.c, signal.c, exit.c, fs/exec.c
 * 	fake_memory.c  memory and its text
 * 	fake_ptrace.c  ptrace()
 * 	fake_calls.c   syscall(), kill() and the rest as the tracer calls them (the linker's --wrap)
 * 	fake_proc.c    files and folders of /proc
 * 	fake_world.c   the modules around the tracer: engine, objects, trace files; runs the tracer
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
	char name[16];                    /* the process that created it; after an exec with a number appended */
	bool has_tail;                    /* the text has room for copies of instructions */
	bool refuses;                     /* writes to its text through /proc/PID/mem fail */
	bool closed;                      /* /proc/PID/mem cannot be opened now */
	const struct fake_place *patched; /* where the program has written another instruction; NULL if nowhere */
};

/* A place in the program's text that has a name in the sequences: code, or room for a copy of an instruction. */
struct fake_place {
	const char *name;
	uint64_t address;
	unsigned length;           /* length of its first instruction */
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
/* Marks memory as ended, because the last task of its process has ended: reads from open descriptors return no bytes,
 * and writes fail. */
void fake_memory_end(struct fake_memory *memory);
struct fake_memory *fake_memory_of_fd(int fd);
void fake_memories_free(void);
/* Writes for the tracer, through a stopped task `by`, or through /proc/PID/mem if `by` is 0. Returns what pwrite()
 * would return. Records as an action each breakpoint or copy that the write adds or removes. */
ssize_t fake_memory_write(struct fake_memory *memory, uint64_t address, const void *data, size_t size, pid_t by);
void fake_memory_read(const struct fake_memory *memory, uint64_t address, void *data, size_t size);
void fake_memory_put(const struct fake_memory *memory, uint64_t address, const void *data, size_t size);
/* Lets the program overwrite its code at `place` with two nops. */
void fake_memory_patch(struct fake_memory *memory, const struct fake_place *place);
bool fake_has_breakpoint(const struct fake_memory *memory, uint64_t address);
/* Returns the number of bytes of the text that differ from the file. */
unsigned fake_text_differs(const struct fake_memory *memory);
const struct fake_place *fake_place_named(const char *name);
const struct fake_place *fake_place_n(size_t n); /* NULL after the last one */
/* Returns the name of the place at an address; inside a place "NAME+OFFSET", elsewhere the address. The text is in one
 * of four static buffers. */
const char *fake_place_text(uint64_t address);

/* ---- Tasks ---- */

enum fake_state {
	FAKE_RUNS,    /* or sleeps: see `activity` */
	FAKE_STOPPED, /* in a ptrace stop */
	FAKE_LISTENS, /* in a ptrace stop, after PTRACE_LISTEN */
	FAKE_ZOMBIE,
	FAKE_GONE,
};

struct fake_task {
	pid_t tid, tgid, parent;
	pid_t tracer;               /* 0 none; gettid(): the tracer under test */
	struct fake_memory *memory; /* NULL: the task has ended */
	enum fake_state state;
	char activity;  /* of a running task: R, S (asleep in a system call), D */
	bool deaf;      /* does not stop when it is interrupted */
	bool no_stack;  /* writes to its stack fail, because another thread must provide the page */
	unsigned order; /* order in which the tasks were attached to */

	bool unread; /* the task has a stop or an end that no wait of the tracer has returned yet */
	int status;
	unsigned long message;
	siginfo_t info;
	bool interrupted; /* an interruption is pending */
	bool vforking;    /* until its vfork child has its own memory, or has ended */
	int birth_event;  /* the event that its parent or creator will report */
	bool exit_event_seen, executing, dies_in_exec;
	int end;     /* the status with which it will end */
	int refusal; /* errno of PTRACE_SEIZE */

	struct arch_regs regs;
	uint64_t mask, stack;
	uint64_t hit;                  /* the breakpoint that it has hit, until it is resumed */
	uint64_t queued_hit;           /* a breakpoint whose SIGTRAP is pending during another stop */
	bool in_syscall;               /* the task runs a system call for the tracer */
	const struct fake_place *site; /* the return site of its last call */
	uint64_t block;                /* the block that this call returns or releases */

	/* Properties of the thread group, stored at its leader. */
	int group_stop; /* signal of the group-stop; 0: none */
	char trap;      /* action of SIGTRAP: d(efault), i(gnored), h(andled) */
};

extern const struct arch *fake_arch;

void fake_reset(void);
struct fake_task *fake_find(pid_t tid);
struct fake_task *fake_nth(size_t n); /* NULL after the last one; ended tasks are included */
struct fake_task *fake_leader(const struct fake_task *task);
struct fake_task *fake_new(pid_t tid, pid_t tgid, struct fake_memory *memory);
size_t fake_users(const struct fake_memory *memory);
bool fake_is_ours(const struct fake_task *task);

/* Stops the task. If it cannot stop, fails the sequence and returns false. */
bool fake_report(struct fake_task *task, int status, unsigned long message);
/* Stops a task that has single-stepped the instruction at its pc. */
void fake_end_step(struct fake_task *task);
/* Stops a task that has hit a breakpoint at this address. */
bool fake_hit(struct fake_task *task, uint64_t address);
/* Resumes a task from its stop. */
void fake_go_on(struct fake_task *task);
void fake_exit(struct fake_task *task, int status); /* ends a task, with an exit event if it is traced */
void fake_end(struct fake_task *task, int status);  /* ends a task without an exit event */
void fake_kill(pid_t tgid);
void fake_exec(struct fake_task *task);
void fake_interrupt(struct fake_task *task);
/* Returns a child or tracee of the tracer that has a stop or an end to report, or NULL. */
struct fake_task *fake_ready(pid_t which);
/* Returns true if there is any task to wait for. */
bool fake_has_children(pid_t which);
/* Marks the task's report as taken by a wait. */
void fake_taken(struct fake_task *task);

/* ---- Calls ---- */

void fake_calls_reset(void);
/* Makes the tested tracer the tracer of the task. */
void fake_attach(struct fake_task *task);
/* Sends SIGCHLD for that task. */
void fake_child_signal(pid_t tid);
/* Delivers SIGALRM if the tracer handles it now. */
void fake_alarm(void);
const char *fake_signal_name(int sig);

/* ---- The sequence: race_script.c ---- */

/* An action of the tracer: fake_begin() names it, and plays the statements that come just before it; fake_done()
 * records it, and plays those that come just after it. error: the errno of a failure, or 0. */
void fake_begin(const char *fmt, ...) FT_PRINTF(1, 2);
void fake_done(int error);
/* Does the same as fake_done(), but records nothing, because another text was recorded for the action. */
void fake_done_silently(void);
/* fake_failed() sets errno and returns -1, for a call that fails. fake_finished() records a call that has failed with
 * this errno, or succeeded (0), and returns its result. */
long fake_failed(int error);
long fake_finished(int error);
/* Returns " SIGNAL" with the signal's name for a recorded action, or "" for 0. The text is valid until the next
 * call. */
const char *fake_with_signal(long sig);
/* Plays the statements around an action that is not recorded. */
void fake_point(const char *fmt, ...) FT_PRINTF(1, 2);
/* Records the text, and plays no statements. */
void fake_note(const char *fmt, ...) FT_PRINTF(1, 2);
/* Plays the next statements, because the tracer waits or sleeps. Returns false if there are no more. */
bool fake_advance(void);
/* Drops the actions that were recorded so far, because tracing has begun now. */
void fake_started(void);
/* Fails the sequence, because it cannot be played. From now on the tracer has nothing to wait for. */
void fake_fail(const char *fmt, ...) FT_PRINTF(1, 2);
bool fake_has_failed(void);

#endif
