/* The guard: a journal of breakpoints, and of the tasks that are traced, in memory that E shares with G. */
#ifndef FT_ENGINE_GUARD_H
#define FT_ENGINE_GUARD_H

#include "arch/arch.h"
#include "base/util.h"

#include <stdatomic.h>
#include <sys/types.h>

struct board;
struct engine;

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
	unsigned char original[ARCH_BREAKPOINT_MAX], breakpoint[ARCH_BREAKPOINT_MAX];
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

/* E's side of the guard. */
struct guard {
	uint32_t first_free, last_free, free_count; /* notes */
	uint32_t free_seat;                         /* head of the free seats */
	uint32_t *spaces;                           /* [GUARD_SPACES]: head of each space's notes */
	bool *used;                                 /* [GUARD_SPACES] */
	uint32_t space_high;
	uint32_t loan_high; /* loans from here on have never been used */
};

/* Allocates E's side of the guard, with no space and no seat; guard_free() frees it. */
void guard_init(struct engine *engine);
void guard_free(struct engine *engine);

/* The status of waitpid() for the si_code and si_status of waitid(). */
int guard_status(int code, int status);

/* G's side: the descriptors by space, -1 for none. */
struct guard_spaces {
	int *fds;
	size_t count;
};

/* Takes `fd` (-1: the space is gone) for a space: it is closed with the space, or by guard_spaces_free(). */
void guard_spaces_set(struct guard_spaces *spaces, uint32_t space, int fd);
void guard_spaces_free(struct guard_spaces *spaces);

/* Writes back the original bytes of every note whose breakpoint still stands. Returns how many were
 * put back; *failed (never NULL) gets how many could not be. */
size_t guard_repair(struct board *board, const struct guard_spaces *spaces, size_t *failed);

#endif
