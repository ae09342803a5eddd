/* The text of a process, and functrace's changes to it: the data of src/breakpoints, and writing text. */
#ifndef FT_BREAKPOINTS_PROCESS_TEXT_H
#define FT_BREAKPOINTS_PROCESS_TEXT_H

#include "ptrace/tracee.h"

struct breakpoint;
struct breakpoint_calls;
struct path;
struct probe;

/* A slot: an out-of-line copy in the tail of a text mapping. */
struct slot {
	uint64_t address;
	unsigned users; /* number of tasks that were sent into the slot and not yet seen elsewhere */
	bool written;
	bool used_lately;
	const struct object *object; /* the object whose tail contains the slot */
	struct breakpoint *owner;    /* NULL: free */
	struct insn insn; /* the instruction that was copied; tasks may be in the slot after the owner is freed */
	struct insn_copy copy;
	unsigned char saved[ARCH_SLOT_SIZE]; /* the bytes that the copy has overwritten */
};

struct breakpoint {
	uint64_t address; /* address of its first byte */
	uint64_t state;   /* the processor's mode for its code: arch->code_state.bits */
	struct insn insn; /* the program's instruction at this address, decoded */
	unsigned char original[ARCH_BREAKPOINT_MAX], trap[ARCH_BREAKPOINT_MAX];
	unsigned char size;
	bool inserted;
	bool prepared;   /* to be written by breakpoints_plant() */
	bool is_made;    /* in memory that belongs to no object: code generated at run time */
	bool unusable;   /* cannot be inserted; not tried again */
	bool is_covered; /* another program's breakpoint is there: only the kernel can probe this function */
	/* the kernel probes this function, so no breakpoint is inserted: src/calls/probes/kernel_probes.c */
	bool in_kernel;
	struct slot *slot;
	long journal_index;     /* index in the guardian's journal; -1: not in it */
	struct path *path;      /* data of tail_jump.c, or NULL */
	unsigned follow_misses; /* how often in succession the jump under it has led to no other breakpoint */
	/* The breakpoint's purpose, set by src/calls. */
	bool is_return;                 /* the breakpoint is at the return site of a call */
	struct probe *probe;            /* the first probe of the traced function that starts here, or NULL */
	struct breakpoint_calls *calls; /* data of src/calls, or NULL */
};

/* Returns the breakpoint's code address, in the form of return addresses and symbols. */
static inline uint64_t breakpoint_code(const struct breakpoint *b)
{
	return b->address | b->state;
}

/* The slots in the tail of one text mapping. */
struct tail {
	uint64_t start, end, next; /* slots from `next` on were never used */
	size_t hand;               /* number of the slot that is examined first when a used slot is to be reused */
	struct object *object;
};

struct text {
	struct hash breakpoints;       /* address -> struct breakpoint */
	size_t inserted;               /* number of inserted breakpoints */
	bool probes_known, had_probes; /* breakpoints.c: has_had_probes() */
	bool planting;         /* breakpoint_insert() only prepares breakpoints; breakpoints_plant() writes them */
	unsigned forgotten;    /* number of breakpoints that have been freed */
	struct hash slots;     /* address -> struct slot */
	size_t syscall_copies; /* number of times that a slot got a copy of a system call instruction */
	struct tail *tails;
	size_t tail_count, tail_capacity, tail_turn;
	bool writes_refused; /* /proc/PID/mem refuses writes to text: ptrace writes it, with a task stopped */
	bool has_leftovers;  /* an earlier tracer that was killed has left breakpoints: tracer/leftovers.c */
	uint64_t slow_steps;
	/* NULL if no other process borrows the tables. Otherwise called before breakpoints or slots are removed, or the
	 * objects change; not before an insertion, because fork_text_compare() inserts what a child's text lacks. */
	void (*before_change)(struct process *p);
};

/* A hit at a function's entry that functrace has undone, by setting the pc back, for example because a signal's handler
 * runs first. If the same call hits again (same stack pointer, same arguments), the second hit is not a second call. */
struct undone {
	const struct breakpoint *breakpoint; /* NULL: free */
	uint64_t sp, args[CALL_ARGS];
};
#define UNDONE_MAX 4 /* a task may have several undone hits, because signals nest */

/* The data of src/breakpoints about a task. */
struct task_hits {
	struct slot *slot; /* the slot that the task was last sent to, or NULL */
	struct undone undone[UNDONE_MAX];
	unsigned next;
	bool any_undone;
};

/* Allocates the data of src/breakpoints about a process, without breakpoints; text_free() frees it. */
struct text *text_new(void);
/* Writes text through /proc/PID/mem. If the kernel refuses that, uses PTRACE_POKETEXT on a stopped task, and stops one
 * if necessary. Returns 0 or -errno. */
int text_write(struct process *p, uint64_t address, const void *data, size_t size);
/* Must be called before breakpoints or slots are removed, or the objects change: informs the processes that borrow the
 * tables. */
static inline void text_about_to_change(struct process *p)
{
	if (p->text->before_change)
		p->text->before_change(p);
}

#endif
