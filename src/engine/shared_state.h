/* Private to the processes of src/engine: the data shared by supervisor.c (the visible process, V), guardian.c and
 * rescue.c (the guardian, G), engine.c and launch.c (the engine, E), and guardian_journal.c. The tracer sees engine.h
 * only.
 *
 * The processes communicate in two ways. The board is memory that all of them map: E writes facts there, and V reads
 * them when it is poked. So no fact gets lost, however long V is stopped and the socket is full. The socket
 * (SOCK_SEQPACKET) between V and E carries V's requests and E's pokes; G has E's end too, and takes E's place when E
 * is dead. Its end-of-file shows each side that the other has ended. The link between G and E carries descriptors for
 * the guard. */
#ifndef FT_ENGINE_SHARED_STATE_H
#define FT_ENGINE_SHARED_STATE_H

#include "engine/engine.h"
#include "engine/fds.h"
#include "engine/guardian_journal.h"
#include "engine/pump.h"

#include "arch/arch.h"

#include <signal.h>
#include <stdatomic.h>

struct shared_state {
	/* Written by E. */
	atomic_int target;       /* pid of the launched target */
	atomic_bool started;     /* attached, or the target has execed */
	atomic_bool stopped;     /* E has stopped V because the target is stopped */
	atomic_bool ended;       /* status is valid */
	atomic_int status;       /* the target's wait status */
	atomic_bool tracer_done; /* the engine_tracer has returned, so the tracer thread may end */
	atomic_bool traced;      /* run() has returned too: `result` is valid, nothing is attached any more */
	atomic_bool is_reading;  /* a thread of E may be reading a file that does not answer, so E may never end */
	atomic_int result;
	atomic_int pinned; /* a task whose CPU mask has to be restored, or 0 */
	int pinned_cpu;
	cpu_set_t pinned_mask;
	atomic_int borrowed; /* a task that makes a system call for E, or 0; then its own registers and mask follow */
	struct arch_regs borrowed_regs;
	uint64_t borrowed_mask;
	siginfo_t taken; /* the stop that E's wait has returned, until it is in the task's seat; si_pid 0: none */
	atomic_uint seat_high, note_high; /* seats and notes from here on have never been used */
	struct guard_loan loans[GUARD_LOANS];
	struct guard_seat guard_slots[GUARD_SEATS];
	struct guard_note notes[GUARD_NOTES];

	_Atomic uint64_t lost_messages; /* count: the queue of messages was full; V's thread reports and clears it */

	/* Written by V, before it forks. */
	bool is_orphaned; /* V's process group is */

	/* Written by G. */
	atomic_bool engine_died;
};

/* The signal state that functrace was started with, which a launched target gets. */
struct signal_state {
	sigset_t mask;
	struct sigaction actions[_NSIG];
};

/* The data that E and G start with. */
struct job {
	const struct settings *settings;
	engine_tracer *tracer;
	struct shared_state *shared;
	pid_t visible; /* V */
	const struct signal_state *signals;
	const struct pump *pump;
};

struct engine {
	const struct settings *settings;
	struct shared_state *shared;
	int socket;         /* to V */
	int link;           /* to G */
	int terminal;       /* the terminal that messages go to, for questions about it; or -1 */
	pid_t visible;      /* V */
	int visible_handle; /* a pidfd of V, or -1 if the kernel has none */
	struct launch launch;
	engine_tracer *tracer;
	pid_t tracer_tid; /* the tracer thread; 0: not started */
	struct guard guard;

	atomic_uint requests; /* enum engine_request bits that the tracer has not taken yet */
	atomic_bool tick_wanted;
	_Atomic uint64_t let_go_at; /* --duration: CLOCK_MONOTONIC in ns; 0: never */
	atomic_int wake_child;      /* pid of the wake-up child that has not been reaped yet, or 0 */
	int wake_fd;                /* eventfd that wakes the main thread */
	int let_go;                 /* eventfd, readable from the first REQUEST_LET_GO on */
};

/* ---- launch.c ---- */

/* Forks the target (settings->argv), with the signal state that it would have had without functrace. The target waits
 * at its gate. Returns 0 or -errno. */
int launch_fork(struct launch *launch, const struct settings *settings, const struct signal_state *signals,
		const int *close_fds, size_t close_count);

/* ---- engine.c ---- */

/* Runs E to its end; returns its exit status. socket: to V; link: to G. */
int engine_main(const struct job *job, int socket, int link);
/* Waits for the end of the target, which is the caller's child. V stops and continues with it meanwhile. */
void engine_keep_target(struct engine *engine);
/* Gives E or G a name in lists of processes, a process group of its own, and protection from the OOM killer, so that
 * it is not ended by accident. */
void engine_hide(const struct shared_state *shared, const char *name);

/* ---- guardian.c ---- */

/* Runs G, which forks E, to its end; returns its exit status. socket: to V. */
int guardian_main(const struct job *job, int socket);

#endif
