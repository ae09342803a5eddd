/* The engine: the process that owns ptrace, and its links to the visible process, the guardian and the tracer.
 *
 *   shell -> V  the visible process: command line, terminal, messages about job control, exit status.
 *            |  Its group is the foreground group. V drops INT, QUIT and TSTP while a launched target runs. E stops
 *            |  and continues V together with the target. V ends as the target ended.
 *            \- G  the guardian: sleeps. G traces E's tracer thread, so that a SIGKILL of E first causes a
 *               |   stop of that thread (PTRACE_EVENT_EXIT), in which all tracees are still E's. Then G restores the
 *               |   text, corrects the tasks that have just hit a breakpoint, becomes the parent of T (yama demands
 *               |   that T be a descendant of its tracer), and waits until T ends.
 *               \- E  the engine: forks the target first, then enters a process group of its own.
 *                  |   main thread: parent of the target until the target ends; receives V's messages;
 *                  |   tracer thread: an engine_tracer, the only thread that traces targets and writes traces.
 *                  \- T  the launched target: child of E, in V's process group.
 *
 * The guardian and the engine are in the visible process's session, each in a group of its own. Therefore T's group,
 * which is the visible process's, is not orphaned when the visible process is killed. If the visible process's group is
 * orphaned from the start (setsid, cron), the guardian and the engine get sessions of their own, because T's group has
 * to stay orphaned: otherwise T's end would orphan it, and the kernel would send SIGHUP to its stopped children.
 *
 * The guardian and the engine send their messages to the visible process by a pipe whose writers never wait
 * (message_queue.h), so that neither a stopped terminal nor a stopped visible process stops the guardian or the engine.
 *
 * The tracer thread blocks in a wait for all its children and tracees (waitid(), in guard_wait()). The main thread
 * wakes it by a vfork'ed child that exits at once: the wait returns the exit of this child, whose pid is no tracee's.
 * This needs no signal, and no wake-up gets lost. */
#ifndef FT_ENGINE_ENGINE_H
#define FT_ENGINE_ENGINE_H

#include "engine/settings.h"

#include <sched.h>

struct arch_regs;
struct engine;
struct launch;

/* The type of the tracer thread's function, tracer_run() in tracer/tracer.h. Returns when tracing is over: 0, or
 * functrace's exit status if tracing failed before it began. Tasks may still be attached then: the kernel detaches them
 * when the thread ends. */
typedef int engine_tracer(struct engine *engine, const struct settings *settings, struct launch *launch);

/* Runs all of functrace with these settings: starts the guardian, which forks the engine, supervises both, and returns
 * functrace's exit status (or ends by the signal that ended the target). functrace/functrace_main.c calls it once. When
 * it returns, every failure has been reported. */
int engine_run(const struct settings *settings, engine_tracer *tracer);

/* ---- For the tracer thread ---- */

/* The launched target: a process forked by the engine that blocks at a pipe, its gate, before it calls execvp. */
struct launch {
	pid_t pid;      /* pid of the launched target; 0 when attaching */
	int gate;       /* write end of the gate's pipe: to open the gate, write one byte and close it */
	int exec_error; /* a pipe: contains the int errno of a failed execvp, or EOF after a successful one */
};

/* Opens the gate, so that the target calls execvp. Returns 0 or -errno (-EPIPE: the target was killed meanwhile). */
int launch_open_gate(struct launch *launch);
/* Called when the target has ended without an exec. If execvp of `program` failed, reports why and returns 126 or 127;
 * if the target was killed at its gate, returns 0. Does not block, because the target has ended. */
int launch_failure(struct launch *launch, const char *program);

enum engine_request {
	REQUEST_LET_GO = 1, /* detach from all targets: at V's request or end, at SIGTERM, or when --duration is over */
	REQUEST_TOGGLE = 2, /* the signal of -S came */
	REQUEST_TICK = 4,   /* about a second has passed since engine_want_tick() was called */
	REQUEST_SCAN = 8,   /* scan the heaps of the traced processes now */
	REQUEST_READ = 16,  /* a worker thread has finished reading a heap */
	REQUEST_ALARM = 32, /* the time of engine_set_alarm() has come */
	REQUEST_ANY = REQUEST_LET_GO | REQUEST_TOGGLE | REQUEST_TICK | REQUEST_SCAN | REQUEST_READ | REQUEST_ALARM
};

/* Returns the pending requests, and clears them. Called after every wait. Cheap if there is none: one atomic load. */
unsigned engine_take_requests(struct engine *engine);
/* Returns true if one of these requests is pending. Cheap. */
bool engine_has_request(const struct engine *engine, unsigned requests);
/* Makes a request, and wakes the tracer thread for it. Any thread of the engine may call it. */
void engine_request(struct engine *engine, unsigned requests);
/* Asks for one REQUEST_TICK in about a second (flushing, sampling). Cheap if a tick was already asked for. */
void engine_want_tick(struct engine *engine);
/* Asks for one REQUEST_ALARM at this CLOCK_MONOTONIC time, in ns, and at no time asked for before. */
void engine_set_alarm(struct engine *engine, uint64_t at);
/* Returns true if `pid` is the engine's wake-up child, which the caller then ignores. Called once for each pid that a
 * wait has returned and that is no tracee. Forgets the pid, because the kernel may reuse it. */
bool engine_take_wake_child(struct engine *engine, pid_t pid);

/* Returns a pointer to a descriptor that is readable from the first REQUEST_LET_GO on. When the tracer waits for a file
 * or a reader that may not answer, it also waits for this descriptor. */
const int *engine_let_go_fd(const struct engine *engine);

/* These report the target's state to the visible process. None of them blocks.
 * - engine_started(): functrace has attached to a process, or the launched target has called exec. From then on
 *   functrace's exit status is that of a launched target, and --duration runs; at its end a REQUEST_LET_GO comes.
 * The others are called for launch->pid only:
 * - engine_target_stopped(): the target is in a group-stop by `sig`; stops the visible process too.
 * - engine_target_continued(): the target runs again.
 * - engine_target_ended(): the target was reaped with this wait status (its leader's). The visible process ends as the
 *   target ended, after the engine_tracer has returned. */
void engine_started(struct engine *engine);
void engine_target_stopped(struct engine *engine, int sig);
void engine_target_continued(struct engine *engine);
void engine_target_ended(struct engine *engine, int status);

/* Returns the pid of the visible process, the process that the user has started and that takes signals. */
pid_t engine_visible(const struct engine *engine);
/* engine_has_terminal() returns true if messages go to a terminal; engine_in_foreground() if functrace is also in that
 * terminal's foreground. */
bool engine_has_terminal(const struct engine *engine);
bool engine_in_foreground(const struct engine *engine);

/* ---- The guard: the data from which the guardian corrects the target when the engine dies ---- */

/* Registers an address space. mem_fd: its open /proc/PID/mem; the guardian gets a copy of the descriptor. Returns the
 * space's id, or -1. */
int guard_add_space(struct engine *engine, int mem_fd);
/* Ends the registration of an address space that has ended or has no breakpoints left (exit, exec, detached). Also
 * frees the space's entries in the journal: the indexes that guard_note() has returned for them become invalid. */
void guard_remove_space(struct engine *engine, int space);
/* Notes a breakpoint in the journal before it is written; `original` and `breakpoint` are `size` bytes each (at most
 * ARCH_BREAKPOINT_MAX). Returns the journal index for guard_clear(), which is called when the original is back in
 * place; -1 if the journal is full or `space` is not registered. */
long guard_note(struct engine *engine, int space, uint64_t address, const unsigned char *original,
		const unsigned char *breakpoint, unsigned size);
void guard_clear(struct engine *engine, long journal_index);

/* guard_add_task() registers a traced task, and returns the index of the task's entry in the journal, or -1 if all
 * entries are in use. guard_remove_task() frees the entry; it ignores -1. */
int guard_add_task(struct engine *engine, pid_t tid);
void guard_remove_task(struct engine *engine, int journal_task);
/* Waits as waitpid(which, status, flags | __WALL) does, for one task or all (-1). Afterwards the caller calls
 * guard_took() with the task's entry (-1 if it has none). */
pid_t guard_wait(struct engine *engine, pid_t which, int flags, int *status);
/* Notes the wait status in the entry: the guardian then regards the task as stopped (or ended) with that status. */
void guard_took(struct engine *engine, int journal_task, int status);
/* Notes the task's pc and sp at the latest stop that was collected. If the guardian later finds the task at another pc
 * or sp, the engine has changed them after the stop. */
void guard_saw(struct engine *engine, int journal_task, uint64_t pc, uint64_t sp);
/* Notes the registers and signal mask of a task before it makes a system call for the engine. tid 0: the task has got
 * them back. */
void guard_note_syscall(struct engine *engine, pid_t tid, const struct arch_regs *regs, uint64_t mask);

/* Notes a fork's child whose text has the breakpoints of `space`, but which has no space of its own yet. Returns the
 * number of this note (a loan) for guard_lend_end(), or -1 if all loans are in use. */
int guard_lend(struct engine *engine, int space, pid_t pid);
void guard_lend_end(struct engine *engine, int loan);

/* Notes the task whose CPU mask the tracer is about to change, the CPU that it gets, and its own mask, which the
 * guardian restores; tid 0: no task. */
void guard_note_pin(struct engine *engine, pid_t tid, int cpu, const cpu_set_t *mask);

#endif
