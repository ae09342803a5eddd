/* The guard: a journal of breakpoints and of traced tasks, in memory that the engine (E) shares with the guardian
 * (G). */
#ifndef FT_ENGINE_GUARDIAN_JOURNAL_H
#define FT_ENGINE_GUARDIAN_JOURNAL_H

#include "arch/arch.h"
#include "base/util.h"

#include <stdatomic.h>
#include <sys/types.h>

struct shared_state;
struct engine;

#define GUARD_NOTES   (1u << 20) /* maximum number of breakpoints in place at the same time, in all processes */
#define GUARD_SPACES  65536
#define JOURNAL_TASKS 65536 /* maximum number of traced tasks */
#define GUARD_REST    16384 /* fewer freed notes are not reused while never-used notes are left: see note_free() */
#define GUARD_LOANS   1024
#define GUARD_NONE    UINT32_MAX

/* One inserted breakpoint. `next` and `previous` link the notes of one address space, or the free notes; only the
 * engine uses the links. */
struct guard_note {
	uint64_t address;
	uint32_t space, next, previous;
	unsigned char original[ARCH_BREAKPOINT_MAX], breakpoint[ARCH_BREAKPOINT_MAX];
	_Atomic unsigned char size; /* 0: not in use; written last, when the other fields are valid */
};

/* One task that the engine traces, and the latest stop that it has collected from the task. */
struct journal_task {
	atomic_int tid; /* 0: free */
	int status;
	uint64_t pc, sp; /* the task's pc and sp at that stop; pc 0: the engine has not read them yet */
	uint32_t next;   /* next free entry; only the engine uses it */
};

/* A process that has the breakpoints of a space, but whose memory the guardian has to open itself. */
struct guard_loan {
	_Atomic pid_t pid; /* 0: not in use; written last */
	uint32_t space;
};

/* The engine's private data about the journal. */
struct guard {
	uint32_t first_free, last_free, free_count; /* the list of free notes */
	uint32_t free_journal_task;                 /* head of the free entries */
	uint32_t *spaces;                           /* [GUARD_SPACES]: first note of each space */
	bool *used;                                 /* [GUARD_SPACES]: the space is in use */
	uint32_t space_high;
	uint32_t loan_high; /* loans from here on have never been used */
};

/* Allocates the engine's data about the journal, without spaces or tasks. guard_free() frees it. */
void guard_init(struct engine *engine);
void guard_free(struct engine *engine);

/* Returns the status of waitpid() for the si_code and si_status of waitid(). */
int guard_status(int code, int status);

/* The guardian's data: the memory descriptor of each space, or -1. */
struct guard_spaces {
	int *fds;
	size_t count;
};

/* Sets the descriptor of a space (-1: the space has ended). Takes ownership of `fd`: guard_spaces_free() or the next
 * call for the space closes it. */
void guard_spaces_set(struct guard_spaces *spaces, uint32_t space, int fd);
void guard_spaces_free(struct guard_spaces *spaces);

#endif
