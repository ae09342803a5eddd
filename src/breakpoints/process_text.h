/* The text of a process, and what functrace changes in it: the data of this floor, and writing. */
#ifndef FT_BREAKPOINTS_PROCESS_TEXT_H
#define FT_BREAKPOINTS_PROCESS_TEXT_H

#include "ptrace/tracee.h"

struct breakpoint;
struct breakpoint_calls;
struct path;
struct probe;

/* An out-of-line copy in the tail of some text mapping. */
struct slot {
	uint64_t address;
	unsigned users; /* tasks sent into it and not yet seen elsewhere */
	bool written;
	bool used_lately;
	const struct object *object; /* in whose unused bytes it lies */
	struct breakpoint *owner;    /* NULL: free */
	struct insn insn;            /* what it is a copy of; tasks may be in it when the owner has gone */
	struct insn_copy copy;
	unsigned char saved[ARCH_SLOT_SIZE]; /* what was there before */
};

struct breakpoint {
	uint64_t address; /* where its bytes lie */
	uint64_t state;   /* in which its code runs: arch->code_state */
	struct insn insn; /* what stands there in truth */
	unsigned char original[ARCH_BREAKPOINT_MAX], trap[ARCH_BREAKPOINT_MAX];
	unsigned char size;
	bool inserted;
	bool prepared; /* to be planted with the others */
	bool is_made;  /* in memory that is no object's: code made at run time */
	bool unusable; /* could not be written; not tried again */
	struct slot *slot;
	long journal_index;   /* of the guard's journal; -1 none */
	struct path *path;    /* jump_follow.c */
	unsigned led_nowhere; /* times that following its jump was in vain, in a row */
	/* What it is there for, as calls/ says. */
	bool is_return;                 /* calls return to it */
	struct probe *probe;            /* it is the entry of a traced function: the first of its probes; or NULL */
	struct breakpoint_calls *calls; /* what else that floor knows; NULL: nothing */
};

/* Its code address, as return addresses and symbols have it. */
static inline uint64_t breakpoint_code(const struct breakpoint *b)
{
	return b->address | b->state;
}

/* A stretch of slots in the tail of one text mapping. */
struct tail {
	uint64_t start, end, next; /* never used from `next` on */
	size_t hand;               /* the slot that is looked at first when one is to be taken */
	struct object *object;
};

struct text {
	struct hash breakpoints; /* address -> struct breakpoint */
	size_t inserted;         /* how many of them are in */
	bool planting;           /* they are only prepared for now */
	unsigned forgotten;      /* how many breakpoints have been freed */
	struct hash slots;       /* address -> struct slot */
	size_t syscall_copies;   /* how many of them ever held a system call's instruction */
	struct tail *tails;
	size_t tail_count, tail_capacity, tail_turn;
	bool writes_refused; /* it is written by ptrace, with a task stopped */
	bool has_leftovers;  /* a tracer that is gone has left breakpoints in it: tracer/leftovers.c */
	uint64_t slow_steps;
	/* Called before anything changes that borrowers of the process's tables go by, where there are any; else
	 * NULL. */
	void (*before_change)(struct process *p);
};

/* A hit at an entry that a signal interrupted: the pc went back to the entry before the handler ran. When the same
 * call hits it again (same place on the stack, same arguments), it is not a second one. */
struct undone {
	const struct breakpoint *breakpoint; /* NULL: free */
	uint64_t sp, args[CALL_ARGS];
};
#define UNDONE_MAX 4 /* signals nest */

/* What this floor knows of a task. */
struct task_hits {
	struct slot *slot; /* where it was last sent */
	struct undone undone[UNDONE_MAX];
	unsigned next;
	bool any_undone;
};

/* A process's part of this floor, without breakpoints; text_free() frees it. */
struct text *text_new(void);
/* Writes text, through /proc/PID/mem; where a kernel refuses that, through POKETEXT of a stopped task, which may have
 * to be stopped for it. 0 or -errno. */
int text_write(struct process *p, uint64_t address, const void *data, size_t size);
/* Something changes that borrowers of this process's tables go by. */
static inline void text_about_to_change(struct process *p)
{
	if (p->text->before_change)
		p->text->before_change(p);
}

#endif
