/* Inside the process structure: what supervisor.c (V), engine.c and launch.c (E) and guard.c share.
 * The tracer sees engine.h only.
 *
 * V and E talk in two ways. The board is memory that both map: E writes facts there, V reads them
 * when it is poked; so that no news can get lost, however long V is stopped and the socket full.
 * The socket (SOCK_SEQPACKET) carries V's requests, E's pokes and descriptors for the guard, and
 * its end-of-file tells each that the other is gone. */
#ifndef FT_TRACER_PROCESS_H
#define FT_TRACER_PROCESS_H

#include "tracer/engine.h"

#include <signal.h>
#include <stdatomic.h>

#define GUARD_NOTES  (1u << 20) /* breakpoints in place at one time, in all processes */
#define GUARD_SPACES 65536
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

/* A process that has the breakpoints of a space, but whose memory V has to open itself. */
struct guard_loan {
	_Atomic pid_t pid; /* 0: not in use; written last */
	uint32_t space;
};

struct board {
	/* Written by E. */
	atomic_int target;   /* pid of the launched target */
	atomic_bool started; /* attached, or the target has execed */
	atomic_bool stopped; /* E has stopped V because the target is stopped */
	atomic_bool ended;   /* status is valid */
	atomic_int status;   /* the target's wait status */
	atomic_bool traced;  /* tracer_run() has returned `result`, nothing is attached any more */
	atomic_int result;
	atomic_int pinned;   /* a task whose CPU mask is to be put back, 0 none */
	int pinned_cpu;
	cpu_set_t pinned_mask;
	atomic_uint note_high; /* notes from here on have never been used */
	struct guard_loan loans[GUARD_LOANS];
	struct guard_note notes[GUARD_NOTES];
};

enum message_type {
	MESSAGE_LET_GO = 1,
	MESSAGE_TOGGLE,
	MESSAGE_POKE,
	MESSAGE_ADD_SPACE,
	MESSAGE_REMOVE_SPACE
};

struct message {
	uint32_t type, space;
};

/* The signal state that functrace was started with, which a launched target gets. */
struct signal_state {
	sigset_t mask;
	struct sigaction actions[_NSIG];
};

/* E's side of the guard. */
struct guard {
	uint32_t free_note; /* head of the free notes */
	uint32_t *spaces;   /* [GUARD_SPACES]: head of each space's notes */
	bool *used;         /* [GUARD_SPACES] */
	uint32_t space_high;
	uint32_t loan_high; /* loans from here on have never been used */
};

struct engine {
	const struct settings *settings;
	struct board *board;
	int socket;
	pid_t visible;      /* V */
	int visible_handle; /* a pidfd of V, or -1 where the kernel has none */
	struct launch launch;
	struct guard guard;

	atomic_uint requests; /* enum engine_request, not yet taken */
	atomic_bool tick_wanted;
	atomic_bool tracer_done;
	_Atomic uint64_t let_go_at; /* --duration: CLOCK_MONOTONIC, 0 never */
	atomic_int waker; /* the wake-up child that has not been reaped yet, or 0 */
	int bell;         /* eventfd by which the tracer thread reaches the main thread */
};

/* ---- launch.c ---- */

/* Forks the target (settings->argv), with `signals` as it would have had them, to wait at its gate.
 * 0 or -errno. */
int launch_fork(struct launch *launch, const struct settings *settings,
		const struct signal_state *signals, const int *close_fds, size_t close_count);

/* ---- engine.c ---- */

/* The whole life of E; returns its exit status. */
int engine_main(const struct settings *settings, struct board *board, int socket, pid_t visible,
		int visible_socket, const struct signal_state *signals);

/* ---- guard.c ---- */

int guard_init(struct engine *engine);
void guard_free(struct engine *engine);

/* V's side: the descriptors by space, -1 for none. */
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
