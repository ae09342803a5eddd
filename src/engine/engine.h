/* The engine: the process that owns ptrace, and its links to the visible process, the guardian and the tracer.
 *
 *   shell -> V  the visible process: command line, terminal, messages about job control, exit status.
 *            |  Own group = the foreground group. Ignores INT, QUIT and TSTP while a launched target runs, stops
 *            |  itself when the target stops, ends as the target ended.
 *            \- G  the guardian: sleeps. It holds E's tracer thread by ptrace, so that a SIGKILL of E ends in a stop
 *               |   (PTRACE_EVENT_EXIT) in which all tracees are still E's. Then it puts the text back, and sets right
 *               |   who stands behind a breakpoint; becomes T's parent (T is a descendant, as yama wants it), and
 *               |   keeps it company.
 *               \- E  the engine: forks the target first, then puts itself into its own process group.
 *                  |   main thread: keeper (parent of the target until that ends) and listener to V;
 *                  |   tracer thread: an engine_tracer, the only one that traces targets and writes traces.
 *                  \- T  the launched target: child of E, in V's process group.
 *
 * G and E are in the session of V, each in a group of its own: thereby T's group, which is V's, is not orphaned when
 * V is killed. Where V's group is orphaned from the start (setsid, cron), they are in sessions of their own: T's
 * group is to stay orphaned, or T's end would make it so, and the kernel would send SIGHUP to its stopped children.
 *
 * Messages of G and E go to V, by a pipe that keeps nobody waiting (pump.h): a stopped terminal, or a stopped V, stops
 * neither.
 *
 * The tracer thread blocks in a wait for all its children and tracees (waitid(), in guard_wait()). The main thread
 * wakes it by a vfork'ed child that exits at once, whose end that wait returns (an unknown tid that is no tracee): no
 * signal, no lost wake-up. */
#ifndef FT_ENGINE_ENGINE_H
#define FT_ENGINE_ENGINE_H

#include "engine/settings.h"

#include <sched.h>

struct arch_regs;
struct engine;
struct launch;

/* What the tracer thread runs, until all is over: returns 0, or the exit status of functrace when tracing failed before
 * it began (tracer/tracer.h has one). On return, tasks may still be attached: the end of the thread lets go of them. */
typedef int engine_tracer(struct engine *engine, const struct settings *settings, struct launch *launch);

/* Runs the whole of functrace for these settings: forks E, supervises it, returns functrace's exit
 * status (or ends by the target's signal). Called once, by functrace.c. Every failure has been reported. */
int engine_run(const struct settings *settings, engine_tracer *tracer);

/* ---- For the tracer thread ---- */

/* The launched target: a fork of E that waits at its gate before execvp. */
struct launch {
	pid_t pid;      /* 0: attaching */
	int gate;       /* write one byte and close: the target goes on to execvp */
	int exec_error; /* becomes readable with the int errno of a failed execvp; EOF when exec succeeded */
};

/* Opens the gate: the target goes on to execvp. 0, or -errno (-EPIPE: it has been killed meanwhile). */
int launch_open_gate(struct launch *launch);
/* To be called when the target has ended without an exec: 126 or 127 after telling the user why execvp of
 * `program` failed; 0 if it did not fail (the target was killed at its gate). Never blocks then. */
int launch_failure(struct launch *launch, const char *program);

enum engine_request {
	REQUEST_LET_GO = 1, /* V asked for it, or V is gone */
	REQUEST_TOGGLE = 2, /* -S's signal came */
	REQUEST_TICK = 4,   /* about a second has passed since engine_want_tick() */
	REQUEST_SCAN = 8,   /* what is traced is to be looked through now */
	REQUEST_READ = 16,  /* a thread beside the tracer's has read a heap */
	REQUEST_ANY = REQUEST_LET_GO | REQUEST_TOGGLE | REQUEST_TICK | REQUEST_SCAN | REQUEST_READ
};

/* Takes and clears the pending requests (enum engine_request bits). Cheap: one atomic. To be asked after every wait. */
unsigned engine_take_requests(struct engine *engine);
/* Whether one of these requests is pending. Cheap. */
bool engine_has_request(const struct engine *engine, unsigned requests);
/* Makes a request, and wakes the tracer's thread for it. By any thread of E. */
void engine_request(struct engine *engine, unsigned requests);
/* Asks for one REQUEST_TICK about a second from now (flushing, sampling); cheap when already asked. */
void engine_want_tick(struct engine *engine);
/* Whether pid is the engine's wake-up child, to be ignored. To be asked once, when the wait has returned a pid that
 * is no tracee: the answer forgets the pid, which the kernel may then give to another process. */
bool engine_take_waker(struct engine *engine, pid_t pid);

/* A descriptor that is readable from the first REQUEST_LET_GO on: to be waited for beside what may hold the tracer
 * up. */
const int *engine_let_go_fd(const struct engine *engine);

/* Tells V. Started: attached, or the target has execed (only from then on is its status functrace's). Stopped: the
 * launched target is in a group-stop by `sig`; V is stopped too. Continued: after a stop, it runs again. Ended: the
 * wait status of the launched target (its leader), to be reported when it has been reaped; V ends as the target ended,
 * after the engine_tracer has returned. From engine_started() on --duration is counted; at its end comes a
 * REQUEST_LET_GO. For launch->pid only; engine_started() in both modes. None of them blocks. */
void engine_started(struct engine *engine);
void engine_target_stopped(struct engine *engine, int sig);
void engine_target_continued(struct engine *engine);
void engine_target_ended(struct engine *engine, int status);

/* The process that the user has started, which takes signals: V. */
pid_t engine_visible(const struct engine *engine);
/* Whether messages come to a terminal, and whether functrace is in its foreground. */
bool engine_has_terminal(const struct engine *engine);
bool engine_in_foreground(const struct engine *engine);

/* ---- The guard: what G needs to put the target right when E dies ---- */

/* Registers an address space with an open /proc/PID/mem (a copy of the descriptor goes to G); an id, or -1. */
int guard_add_space(struct engine *engine, int mem_fd);
/* The address space is gone or clean (exit, exec, let go): forgets its notes too, whose tickets are dead then. */
void guard_remove_space(struct engine *engine, int space);
/* To be called before a breakpoint is written: `size` original and breakpoint bytes (ARCH_BREAKPOINT_MAX at most).
 * Returns a ticket for guard_clear, called after the original has been put back; -1 when the journal is full. */
long guard_note(struct engine *engine, int space, uint64_t address, const unsigned char *original,
		const unsigned char *breakpoint, unsigned size);
void guard_clear(struct engine *engine, long ticket);

/* A task that is traced: its seat, or -1 (there are too many). guard_leave() of -1 does nothing. */
int guard_seat(struct engine *engine, pid_t tid);
void guard_leave(struct engine *engine, int seat);
/* Waits as waitpid(which, status, flags | __WALL) does, for one task or all (-1). The caller then calls guard_took()
 * with the task's seat (-1: it has none). */
pid_t guard_wait(struct engine *engine, pid_t which, int flags, int *status);
/* Notes the status in the seat: from now on G takes the task for stopped (or ended) by it. */
void guard_took(struct engine *engine, int seat, int status);
/* Where the task was at the stop that was taken last: with another pc or sp it has been sent on. */
void guard_saw(struct engine *engine, int seat, uint64_t pc, uint64_t sp);
/* The task is about to be made to do a system call: its own registers and signal mask; 0: they are its own again. */
void guard_note_syscall(struct engine *engine, pid_t tid, const struct arch_regs *regs, uint64_t mask);

/* A fork's child has the breakpoints of that space in its text, and no space of its own yet: an id for
 * guard_lend_end(), or -1 when there are too many. */
int guard_lend(struct engine *engine, int space, pid_t pid);
void guard_lend_end(struct engine *engine, int loan);

/* The task whose CPU mask the tracer has changed, its CPU and its own mask, for G to put back; 0: none any more. */
void guard_note_pin(struct engine *engine, pid_t tid, int cpu, const cpu_set_t *mask);

#endif
