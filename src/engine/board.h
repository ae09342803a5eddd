/* Inside the process structure: what supervisor.c (V), guardian.c and rescue.c (G), engine.c and launch.c (E) and
 * guard.c share. The tracer sees engine.h only.
 *
 * They talk in two ways. The board is memory that all map: E writes facts there, V reads them when it is poked; so
 * that no news can get lost, however long V is stopped and the socket full. The socket (SOCK_SEQPACKET) between V
 * and E carries V's requests and E's pokes; G has E's end, too, and takes E's place when that is dead. Its
 * end-of-file tells each that the other is gone. The link between G and E carries descriptors for the guard. */
#ifndef FT_ENGINE_BOARD_H
#define FT_ENGINE_BOARD_H

#include "engine/engine.h"
#include "engine/fds.h"
#include "engine/guard.h"
#include "engine/pump.h"

#include "arch/arch.h"

#include <signal.h>
#include <stdatomic.h>

struct board {
	/* Written by E. */
	atomic_int target;       /* pid of the launched target */
	atomic_bool started;     /* attached, or the target has execed */
	atomic_bool stopped;     /* E has stopped V because the target is stopped */
	atomic_bool ended;       /* status is valid */
	atomic_int status;       /* the target's wait status */
	atomic_bool tracer_done; /* the engine_tracer has returned: the tracer thread may end */
	atomic_bool traced;      /* and so has run(): `result` is valid, nothing is attached any more */
	atomic_bool is_reading;  /* a thread of E may read a file that does not answer: E's end need not come */
	atomic_int result;
	atomic_int pinned; /* a task whose CPU mask is to be put back, 0 none */
	int pinned_cpu;
	cpu_set_t pinned_mask;
	atomic_int borrowed; /* a task that does a system call for E, 0 none; then what is its own: */
	struct arch_regs borrowed_regs;
	uint64_t borrowed_mask;
	siginfo_t taken; /* the stop that E's wait has returned, until it stands in its task's seat; si_pid 0: none */
	atomic_uint seat_high, note_high; /* from here on they have never been used */
	struct guard_loan loans[GUARD_LOANS];
	struct guard_seat seats[GUARD_SEATS];
	struct guard_note notes[GUARD_NOTES];

	_Atomic uint64_t lost_messages; /* that found the queue of messages full; V's thread shows and clears it */

	/* Written by V, before it forks. */
	bool is_orphaned; /* its process group */

	/* Written by G. */
	atomic_bool engine_died;
};

/* The signal state that functrace was started with, which a launched target gets. */
struct signal_state {
	sigset_t mask;
	struct sigaction actions[_NSIG];
};

/* The data that E and G are begun with. */
struct job {
	const struct settings *settings;
	engine_tracer *tracer;
	struct board *board;
	pid_t visible; /* V */
	const struct signal_state *signals;
	const struct pump *pump;
};

struct engine {
	const struct settings *settings;
	struct board *board;
	int socket;         /* to V */
	int link;           /* to G */
	int terminal;       /* that messages come to, for questions; -1: none */
	pid_t visible;      /* V */
	int visible_handle; /* a pidfd of V, or -1 where the kernel has none */
	struct launch launch;
	engine_tracer *tracer;
	pid_t tracer_tid; /* of the thread that it runs in; 0: it has none */
	struct guard guard;

	atomic_uint requests; /* enum engine_request, not yet taken */
	atomic_bool tick_wanted;
	_Atomic uint64_t let_go_at; /* --duration: CLOCK_MONOTONIC, 0 never */
	atomic_int waker;           /* the wake-up child that has not been reaped yet, or 0 */
	int bell;                   /* eventfd by which the tracer thread reaches the main thread */
	int let_go;                 /* eventfd: a REQUEST_LET_GO has come; it stays so */
};

/* ---- launch.c ---- */

/* Forks the target (settings->argv), with `signals` as it would have had them, to wait at its gate.
 * 0 or -errno. */
int launch_fork(struct launch *launch, const struct settings *settings, const struct signal_state *signals,
		const int *close_fds, size_t close_count);

/* ---- engine.c ---- */

/* The whole life of E; returns its exit status. socket: to V; link: to G. */
int engine_main(const struct job *job, int socket, int link);
/* Waits for the end of the target, whose parent the caller is; V stops and goes on with it meanwhile. */
void engine_keep_target(struct engine *engine);
/* Gives E or G its name in lists of processes, a process group of its own and protection from the
 * kernel's lack of memory, so that nobody ends it by accident. */
void engine_hide(const struct board *board, const char *name);

/* ---- guardian.c ---- */

/* The whole life of G, which forks E; returns its exit status. socket: to V. */
int guardian_main(const struct job *job, int socket);

#endif
