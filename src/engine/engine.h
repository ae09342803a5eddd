/* The engine: the process that owns ptrace, and its links to the visible process, the guardian and the tracer.
 *
 *   shell -> V  the visible process: command line, terminal, messages about job control, exit status.
 *            |  Its group is the foreground group. V ignores INT, QUIT and TSTP while a launched target runs, stops
 *            |  itself when the target stops, and ends as the target ended.
 *            \- G  the guardian: sleeps. G holds E's tracer thread by ptrace, so that a SIGKILL of E first causes a
 *               |   stop of that thread (PTRACE_EVENT_EXIT), in which all tracees are still E's. Then G restores the
 *               |   text, corrects the tasks that have just hit a breakpoint, becomes the parent of T (yama demands
 *               |   that T be a descendant of its tracer), and waits for T's end.
 *               \- E  the engine: forks the target first, then enters a process group of its own.
 *                  |   main thread: parent of the target until the target ends, and listener to V;
 *                  |   tracer thread: an engine_tracer, the only thread that traces targets and writes traces.
 *                  \- T  the launched target: child of E, in V's process group.
 *
 * G and E are in V's session, each in a group of its own. Therefore T's group, which is V's, is not orphaned when V
 * is killed. If V's group is orphaned from the start (setsid, cron), G and E get sessions of their own, because T's
 * group has to stay orphaned: otherwise T's end would orphan it, and the kernel would send SIGHUP to its stopped
 * children.
 *
 * G and E send their messages to V by a pipe whose writers never wait (pump.h), so that neither a stopped terminal
 * nor a stopped V stops G or E.
 *
 * The tracer thread blocks in a wait for all its children and tracees (waitid(), in guard_wait()). The main thread
 * wakes it by a vfork'ed child that exits at once: the wait returns the child's end, as an unknown tid that is no
 * tracee. This needs no signal, and no wake-up gets lost. */
#ifndef FT_ENGINE_ENGINE_H
#define FT_ENGINE_ENGINE_H

#include "engine/settings.h"

#include <sched.h>

struct arch_regs;
struct engine;
struct launch;

/* The function of the tracer thread; tracer/tracer.h has one. Returns when tracing is over: 0, or functrace's exit
 * status if tracing failed before it began. Tasks may still be attached then: the end of the thread detaches them. */
typedef int engine_tracer(struct engine *engine, const struct settings *settings, struct launch *launch);

/* Runs the whole of functrace with these settings: forks E, supervises it, and returns functrace's exit status (or
 * ends by the target's signal). functrace/functrace_main.c calls it once. Every failure has been reported on return. */
int engine_run(const struct settings *settings, engine_tracer *tracer);

/* ---- For the tracer thread ---- */

/* The launched target: a fork of E that waits at a pipe, its gate, before it calls execvp. */
struct launch {
	pid_t pid;      /* 0 when attaching */
	int gate;       /* to open it, write one byte and close it */
	int exec_error; /* a pipe: yields the int errno of a failed execvp, or EOF after a successful one */
};

/* Opens the gate, so that the target calls execvp. Returns 0 or -errno (-EPIPE: the target has been killed
 * meanwhile). */
int launch_open_gate(struct launch *launch);
/* To be called when the target has ended without an exec. If execvp of `program` failed, reports why and returns 126
 * or 127; if the target was killed at its gate, returns 0. Does not block then. */
int launch_failure(struct launch *launch, const char *program);

enum engine_request {
	REQUEST_LET_GO = 1, /* V asked for it, or V has ended */
	REQUEST_TOGGLE = 2, /* the signal of -S came */
	REQUEST_TICK = 4,   /* about a second has passed since engine_want_tick() */
	REQUEST_SCAN = 8,   /* scan the heaps of the traced processes now */
	REQUEST_READ = 16,  /* a worker thread has finished reading a heap */
	REQUEST_ANY = REQUEST_LET_GO | REQUEST_TOGGLE | REQUEST_TICK | REQUEST_SCAN | REQUEST_READ
};

/* Takes and clears the pending requests (enum engine_request bits). To be called after every wait. Cheap: one
 * atomic. */
unsigned engine_take_requests(struct engine *engine);
/* True if one of these requests is pending. Cheap. */
bool engine_has_request(const struct engine *engine, unsigned requests);
/* Makes a request, and wakes the tracer thread for it. Every thread of E may call it. */
void engine_request(struct engine *engine, unsigned requests);
/* Asks for one REQUEST_TICK about a second from now (flushing, sampling). Cheap if it was asked for already. */
void engine_want_tick(struct engine *engine);
/* True if pid is the engine's wake-up child, which the caller then ignores. To be called once, when the wait has
 * returned a pid that is no tracee: the call forgets the pid, because the kernel may give it to another process
 * next. */
bool engine_take_wake_child(struct engine *engine, pid_t pid);

/* A descriptor that is readable from the first REQUEST_LET_GO on. Waits that may hold up the tracer include it. */
const int *engine_let_go_fd(const struct engine *engine);

/* These report the target's state to V. None of them blocks. Started: attached, or the target has called exec (only
 * from then on is its status functrace's). --duration is counted from this call on; at its end comes a
 * REQUEST_LET_GO. Called in both modes; the others are for launch->pid only. Stopped: the launched target is in a
 * group-stop by `sig`; V is stopped too. Continued: it runs again after a stop. Ended: the launched target's wait
 * status (its leader's), to be reported when it has been reaped. V ends as the target ended, after the engine_tracer
 * has returned. */
void engine_started(struct engine *engine);
void engine_target_stopped(struct engine *engine, int sig);
void engine_target_continued(struct engine *engine);
void engine_target_ended(struct engine *engine, int status);

/* The pid of V, the process that the user has started and that takes signals. */
pid_t engine_visible(const struct engine *engine);
/* engine_has_terminal: true if messages go to a terminal. engine_in_foreground: true if functrace is also in that
 * terminal's foreground. */
bool engine_has_terminal(const struct engine *engine);
bool engine_in_foreground(const struct engine *engine);

/* ---- The guard: the data from which G corrects the target when E dies ---- */

/* Registers an address space with an open /proc/PID/mem, of which G gets a copy. Returns an id, or -1. */
int guard_add_space(struct engine *engine, int mem_fd);
/* To be called when the address space has ended or has no breakpoints left (exit, exec, detached). Also forgets the
 * space's notes, whose tickets are invalid from then on. */
void guard_remove_space(struct engine *engine, int space);
/* To be called before a breakpoint is written: `size` original and breakpoint bytes (at most ARCH_BREAKPOINT_MAX).
 * Returns a ticket for guard_clear(), which is called after the original has been restored; -1 if the journal is
 * full. */
long guard_note(struct engine *engine, int space, uint64_t address, const unsigned char *original,
		const unsigned char *breakpoint, unsigned size);
void guard_clear(struct engine *engine, long journal_index);

/* guard_seat() registers a traced task and returns its seat, or -1 if all seats are in use. guard_leave() frees the
 * seat; it ignores -1. */
int guard_seat(struct engine *engine, pid_t tid);
void guard_leave(struct engine *engine, int guard_slot);
/* Waits as waitpid(which, status, flags | __WALL) does, for one task or all (-1). The caller then calls guard_took()
 * with the task's seat (-1 if it has none). */
pid_t guard_wait(struct engine *engine, pid_t which, int flags, int *status);
/* Notes the status in the seat: from now on G regards the task as stopped (or ended) by it. */
void guard_took(struct engine *engine, int guard_slot, int status);
/* Notes the task's pc and sp at the stop that was taken last. If G finds another pc or sp, E has moved the task
 * since. */
void guard_saw(struct engine *engine, int guard_slot, uint64_t pc, uint64_t sp);
/* Notes the registers and signal mask of a task that is about to make a system call for E; tid 0: the task has them
 * back. */
void guard_note_syscall(struct engine *engine, pid_t tid, const struct arch_regs *regs, uint64_t mask);

/* Notes a fork's child: its text has the breakpoints of that space, but it has no space of its own yet. Returns an id
 * for guard_lend_end(), or -1 if all loans are in use. */
int guard_lend(struct engine *engine, int space, pid_t pid);
void guard_lend_end(struct engine *engine, int loan);

/* Notes the task whose CPU mask the tracer has changed, its CPU and its own mask, which G restores; tid 0: no task. */
void guard_note_pin(struct engine *engine, pid_t tid, int cpu, const cpu_set_t *mask);

#endif
