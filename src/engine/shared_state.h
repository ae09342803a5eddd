/* Private to src/engine: the data shared by its processes. supervisor.c runs in the visible process (V); guardian.c,
 * rescue_code.c and rescue_tasks.c in the guardian (G); engine.c and launch.c in the engine (E); guardian_journal.c in
 * both the guardian and the engine. The tracer sees engine.h only.
 *
 * The processes communicate in two ways. The shared state is memory that all of them map: the engine writes facts
 * there, and the visible process reads them when it gets MESSAGE_NOTIFY. So no information gets lost, even if the
 * visible process is stopped for long and the socket is full. The socket (SOCK_SEQPACKET) between the visible process
 * and the engine carries the visible process's requests and the engine's notifications; the guardian has a copy of the
 * engine's end of the socket, and takes the engine's place when the engine is dead. An end-of-file on the socket shows
 * each of the two sides that the other has ended. The link between the guardian and the engine carries memory
 * descriptors for the guard. */
#ifndef FT_ENGINE_SHARED_STATE_H
#define FT_ENGINE_SHARED_STATE_H

#include "engine/engine.h"
#include "engine/fds.h"
#include "engine/guardian_journal.h"
#include "engine/message_queue.h"

#include "arch/arch.h"

#include <signal.h>
#include <stdatomic.h>

struct shared_state {
	/* Written by the engine. */
	atomic_int target;       /* pid of the launched target */
	atomic_bool started;     /* attached, or the target has execed */
	atomic_bool stopped;     /* the engine has stopped the visible process because the target is stopped */
	atomic_bool ended;       /* status is valid */
	atomic_int status;       /* wait status of the launched target */
	atomic_bool tracer_done; /* the engine_tracer has returned, so the tracer thread may end */
	atomic_bool traced;      /* tracing is over: `result` is valid, and no task is attached any more */
	/* a thread of the engine may be reading a file that does not answer; then the engine may never end */
	atomic_bool is_reading;
	atomic_int result;
	atomic_int pinned; /* the task whose CPU mask the guardian has to restore, or 0 */
	int pinned_cpu;
	cpu_set_t pinned_mask;
	/* the task that is making a system call for the engine, or 0; its own registers and mask follow */
	atomic_int borrowed;
	struct arch_regs borrowed_regs;
	uint64_t borrowed_mask;
	/* the stop that the engine's wait has returned, until guard_took() has noted it; si_pid 0: none */
	siginfo_t taken;
	atomic_uint journal_task_high, note_high; /* tasks and notes from here on have never been used */
	struct guard_loan loans[GUARD_LOANS];
	struct journal_task journal_tasks[JOURNAL_TASKS];
	struct guard_note notes[GUARD_NOTES];

	/* messages that did not fit into the queue; the visible process's thread reports the number and clears it */
	_Atomic uint64_t lost_messages;

	/* Written by the visible process, before it forks. */
	bool is_orphaned; /* the visible process's group is orphaned */

	/* Written by the guardian. */
	atomic_bool engine_died;
};

/* The signal state that functrace was started with, which a launched target gets. */
struct signal_state {
	sigset_t mask;
	struct sigaction actions[_NSIG];
};

/* The data with which the engine and the guardian start. */
struct job {
	const struct settings *settings;
	engine_tracer *tracer;
	struct shared_state *shared;
	pid_t visible; /* the visible process */
	const struct signal_state *signals;
	const struct message_queue *messages;
};

struct engine {
	const struct settings *settings;
	struct shared_state *shared;
	int socket;         /* to the visible process */
	int link;           /* to the guardian */
	int terminal;       /* the terminal to which messages go, used to ask for its foreground group; or -1 */
	pid_t visible;      /* the visible process */
	int visible_handle; /* a pidfd of the visible process, or -1 if the kernel has none */
	struct launch launch;
	engine_tracer *tracer;
	pid_t tracer_tid; /* the tracer thread; 0: not started */
	struct guard guard;

	atomic_uint requests; /* enum engine_request bits that the tracer thread has not taken yet */
	atomic_bool lets_go;  /* the tracer thread has taken a REQUEST_LET_GO */
	atomic_bool tick_wanted;
	_Atomic uint64_t alarm_at;  /* engine_set_alarm(); 0: none */
	_Atomic uint64_t let_go_at; /* end of --duration: CLOCK_MONOTONIC in ns; 0: never */
	atomic_int wake_child;      /* pid of the wake-up child that has not been reaped yet, or 0 */
	int wake_fd;                /* eventfd that wakes the main thread */
	int let_go;                 /* eventfd, readable from the first REQUEST_LET_GO on */
};

/* ---- launch.c ---- */

/* Forks the target (settings->target.argv), with the signal state that it would have had without functrace. The target
 * waits at its gate. Returns 0 or -errno. */
int launch_fork(struct launch *launch, const struct settings *settings, const struct signal_state *signals,
		const int *close_fds, size_t close_count);

/* ---- engine.c ---- */

/* Runs the engine until it ends; returns its exit status. socket: to the visible process; link: to the guardian. */
int engine_main(const struct job *job, int socket, int link);
/* Waits until the target, which is the caller's child, has ended. The visible process stops and continues with it
 * meanwhile. */
void engine_keep_target(struct engine *engine);
/* Gives the engine or the guardian a name in lists of processes, a process group of its own, and protection from the
 * OOM killer, so that it is not killed by accident. */
void engine_hide(const struct shared_state *shared, const char *name);
/* Ignores, in the engine or the guardian, the signals of the terminal and of closed outputs, and those that only the
 * visible process handles: pkill sends them to all of functrace's processes. Sets SIGCHLD to its default. */
void engine_ignore_signals(const struct settings *settings);

/* ---- guardian.c ---- */

/* Runs the guardian, which forks the engine, until it ends; returns its exit status. socket: to the visible process. */
int guardian_main(const struct job *job, int socket);

/* ---- unanswered.c ---- */

/* The time in ns after which a tracer thread that has not taken the first REQUEST_LET_GO is regarded as hung: it is in
 * an endless loop, or waits for a disk. The time starts anew while other threads copy or read a heap. A test shortens
 * it. */
extern uint64_t unanswered_limit_ns;
/* Kills the engine, so that the guardian rescues the targets, when unanswered_limit_ns is over and a target is still
 * traced. Called by the engine's main thread whenever it wakes. *due_at: the CLOCK_MONOTONIC time in ns at which the
 * limit is over; 0: no REQUEST_LET_GO waits. */
void unanswered_check(const struct engine *engine, uint64_t *due_at);

#endif
