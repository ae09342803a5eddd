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

#include "arch/arch.h"

#include <signal.h>
#include <stdatomic.h>

#define GUARD_NOTES  (1u << 20) /* breakpoints in place at one time, in all processes */
#define GUARD_SPACES 65536
#define GUARD_SEATS  65536 /* tasks */
#define GUARD_REST   16384 /* so many notes are cleared before one is used again */
#define GUARD_LOANS  1024
#define GUARD_NONE   UINT32_MAX

/* One breakpoint in place. `next` and `previous` chain the notes of a space, or the free ones; only
 * E uses them. */
struct guard_note {
	uint64_t address;
	uint32_t space, next, previous;
	unsigned char original[4], breakpoint[4];
	_Atomic unsigned char size; /* 0: not in use; written last when a note is made */
};

/* One task that E traces, and the stop that E has taken from it last. */
struct guard_seat {
	atomic_int tid; /* 0: free */
	int status;
	uint64_t pc, sp; /* as they were at that stop; pc 0: E has not looked yet */
	uint32_t next;   /* E's */
};

/* A process that has the breakpoints of a space, but whose memory G has to open itself. */
struct guard_loan {
	_Atomic pid_t pid; /* 0: not in use; written last */
	uint32_t space;
};

struct board {
	/* Written by E. */
	atomic_int target;       /* pid of the launched target */
	atomic_bool started;     /* attached, or the target has execed */
	atomic_bool stopped;     /* E has stopped V because the target is stopped */
	atomic_bool ended;       /* status is valid */
	atomic_int status;       /* the target's wait status */
	atomic_bool tracer_done; /* the engine_tracer has returned: the tracer thread may end */
	atomic_bool traced;      /* and so has run(): `result` is valid, nothing is attached any more */
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

	/* Written by V, before there is anybody else. */
	bool is_orphaned; /* its process group */

	/* Written by G. */
	atomic_bool engine_died;
};

enum message_type {
	MESSAGE_LET_GO = 1,
	MESSAGE_TOGGLE,
	MESSAGE_POKE,
	MESSAGE_ADD_SPACE,
	MESSAGE_REMOVE_SPACE,
	MESSAGE_TRACER, /* `space` is the tid of the tracer thread; G pokes when it has seen to it */
};

struct message {
	uint32_t type, space;
};

/* The signal state that functrace was started with, which a launched target gets. */
struct signal_state {
	sigset_t mask;
	struct sigaction actions[_NSIG];
};

/* What E and G are begun with. */
struct job {
	const struct settings *settings;
	engine_tracer *tracer;
	struct board *board;
	pid_t visible; /* V */
	const struct signal_state *signals;
};

/* E's side of the guard. */
struct guard {
	uint32_t first_free, last_free, free_count; /* notes */
	uint32_t free_seat;                         /* head of the free seats */
	uint32_t *spaces;                           /* [GUARD_SPACES]: head of each space's notes */
	bool *used;                                 /* [GUARD_SPACES] */
	uint32_t space_high;
	uint32_t loan_high; /* loans from here on have never been used */
};

struct engine {
	const struct settings *settings;
	struct board *board;
	int socket;         /* to V */
	int link;           /* to G */
	pid_t visible;      /* V */
	int visible_handle; /* a pidfd of V, or -1 where the kernel has none */
	struct launch launch;
	engine_tracer *tracer;
	struct guard guard;

	atomic_uint requests; /* enum engine_request, not yet taken */
	atomic_bool tick_wanted;
	_Atomic uint64_t let_go_at; /* --duration: CLOCK_MONOTONIC, 0 never */
	atomic_int waker;           /* the wake-up child that has not been reaped yet, or 0 */
	int bell;                   /* eventfd by which the tracer thread reaches the main thread */
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
/* What E and G are called in lists of processes, where they go, and what they withstand: nobody is to end
 * them by accident. */
void engine_hide(const struct board *board, const char *name);

/* ---- guardian.c ---- */

/* The whole life of G, which forks E; returns its exit status. socket: to V. */
int guardian_main(const struct job *job, int socket);

/* ---- rescue.c ---- */

/* What was traced when E was killed. */
struct rescue {
	const struct board *board;
	pid_t tracer; /* E's tracer thread, held in its end; 0: it was not */
	struct rescued_task *tasks;
	struct rescued_process *processes;
	size_t task_count, task_capacity, process_count, process_capacity;
	bool target_ended; /* the launched target was reaped by rescue_end(), with: */
	int target_status;
};

/* Before the tracer thread goes, and after the text is whole: lists who is traced, and sends SIGSTOP to each
 * task that must not go on where it is. With tracer 0 only lists. */
void rescue_begin(struct rescue *r, const struct board *board, pid_t tracer);
/* After it has been let go: sets those tasks right. */
void rescue_end(struct rescue *r);
/* Reports who lives, and frees. */
void rescue_report(struct rescue *r);

/* ---- guard.c ---- */

int guard_init(struct engine *engine);
void guard_free(struct engine *engine);

/* What waitpid() says for the si_code and si_status of waitid(). */
int guard_status(int code, int status);

/* G's side: the descriptors by space, -1 for none. */
struct guard_spaces {
	int *fds;
	size_t count;
};

/* Takes `fd` (-1: the space is gone) for a space. */
void guard_spaces_set(struct guard_spaces *spaces, uint32_t space, int fd);
void guard_spaces_free(struct guard_spaces *spaces);

/* Writes back the original bytes of every note whose breakpoint still stands. Returns how many were
 * put back; *failed (never NULL) gets how many could not be. */
size_t guard_repair(struct board *board, const struct guard_spaces *spaces, size_t *failed);

/* ---- fds.c ---- */

int message_send(int socket, enum message_type type, uint32_t space, int fd);
/* 1: *message and *fd (-1 if none came), 0: the other side is gone, -EAGAIN: nothing there now. */
int message_receive(int socket, struct message *message, int *fd);

/* Closes every descriptor from 3 on that is not in keep: what functrace inherited belongs to the
 * target, and a pipe that functrace held open would not end for its reader. */
void fds_close_others(const int *keep, size_t count);
/* Makes descriptor `fd` /dev/null. */
void fds_null(int fd);
/* Makes it /dev/null if it is closed, lest something else become it. */
void fd_fill(int fd);
/* functrace may have been started with 0, 1 or 2 closed, and its target is to find them so: what
 * functrace opens before it has forked the target is moved above them. The new descriptor,
 * close-on-exec, or -1 and errno (`fd` is closed anyway). */
int fd_above_standard(int fd);
/* Raises the soft limit of open files to the hard one (never in the target). */
void fds_raise_limit(void);

/* A pidfd, or -1. */
int process_handle(pid_t pid);
/* kill() by a handle where there is one. */
int process_signal(int handle, pid_t pid, int sig);

#endif
