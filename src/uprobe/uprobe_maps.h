/* The keys and values of the BPF program's maps, which its reader uses, too: the rows by which the program walks
 * stacks, the calls in flight, losses, and the configuration. Both sides are compiled from this file. */
#ifndef FT_UPROBE_UPROBE_MAPS_H
#define FT_UPROBE_UPROBE_MAPS_H

#include "uprobe/uprobe_record.h"

/* A row: how the caller of a frame is found. */
enum uprobe_rule {
	UPROBE_FROM_SP,  /* CFA = sp + cfa_offset */
	UPROBE_FROM_BP,  /* CFA = bp + cfa_offset */
	UPROBE_LAST,     /* the outermost frame */
	UPROBE_SIGNAL,   /* a signal handler returns to here: the interrupted code's registers are on the stack */
	UPROBE_NOT_HERE, /* the program cannot compute the caller: it sends a copy */
};

/* Returns the key of the rows of a thread group, as the kernel numbers it, in which a site has this cookie. A vfork's
 * child executes another program under the same number, and a number is used again. */
static inline __u32 uprobe_space(__u32 tgid, __u64 cookie)
{
	return tgid ^ (__u32)(cookie >> UPROBE_SERIAL_SHIFT & (UPROBE_SERIALS - 1)) << 24;
}

#define UPROBE_ROWS 65536 /* entries of the table; a row is in one of two neighbouring entries */

struct uprobe_row {
	__u64 pc; /* 0: empty */
	__u32 space;
	__s32 cfa_offset;
	__s16 bp_offset; /* the caller's bp is saved at CFA + bp_offset; 0: bp is unchanged */
	__u8 rule;       /* enum uprobe_rule */
	__u8 unused[5];
};

static inline __u32 uprobe_row_hash(__u64 pc, __u32 space)
{
	const __u64 mixed = (pc ^ (__u64)space << 40) * 0x9e3779b97f4a7c15ull;

	return (__u32)(mixed >> 44) & (UPROBE_ROWS - 1);
}

/* A call in flight whose return is probed. */
struct uprobe_call {
	__u64 address; /* the site's cookie */
	__u64 return_sp, return_address, args[UPROBE_ARGS];
	__u32 is_entered; /* a record of the entry was sent or lost */
	/* number of calls in flight with the same return_sp: functions jump to each other (realloc to malloc) */
	__u32 jumps;
};

/* Sets what a record has of its call. */
static inline void uprobe_record_call(struct uprobe_record *record, const struct uprobe_call *call)
{
	record->serial = call->address >> UPROBE_SERIAL_SHIFT & (UPROBE_SERIALS - 1);
	record->address = call->address & UPROBE_ADDRESS;
	record->return_sp = call->return_sp;
	record->return_address = call->return_address;
	record->args[0] = call->args[0];
	record->args[1] = call->args[1];
	record->args[2] = call->args[2];
}

#define UPROBE_CALLS  8    /* calls in flight of one thread: they nest only in signal handlers and in each other */
#define UPROBE_WINDOW 1024 /* stack bytes that the program reads at once */

/* A place in a stack: a frame's registers. */
struct uprobe_place {
	__u64 pc, sp, bp;
};

/* A walk over the frames of a stack. */
struct uprobe_walk {
	struct uprobe_place at;
	__u64 window_at, window_size; /* the stack bytes in the thread's window */
	__u32 space, count;
	struct uprobe_place interrupted; /* by the last signal; all its registers are known */
	__u32 handler_frames;            /* number of frames before that place; 0: no signal */
	__u8 end;      /* enum uprobe_stack; UPROBE_NO_STACK: the caller of a frame cannot be computed */
	__u8 is_exact; /* the pc is where the thread is, and no return address */
	__u8 unused[2];
};

/* The program's own data of a thread. */
struct uprobe_thread {
	struct uprobe_call calls[UPROBE_CALLS]; /* return_sp 0: unused */
	__u32 used;                             /* number of them that are used */
	__u32 has_forgotten;                    /* it may have calls in the map `forgotten` */
	__u64 registers[UPROBE_REGISTERS];      /* those of this hit, for a struct uprobe_copy */
	__u64 interrupted[UPROBE_REGISTERS]; /* those of the code that the last signal of the stack has interrupted */
	struct uprobe_walk walk;
	struct uprobe_record record; /* the record that is made, with its frames */
	__u64 frames[UPROBE_FRAMES_MAX];
	unsigned char window[UPROBE_WINDOW + 8];
};

/* A key of the map `forgotten`: uprobe_take_returned(). */
struct uprobe_forgotten_key {
	__u64 return_sp;
	__u32 tid;
	__u32 jumps; /* of the call */
};

/* A key of the map `lost`, and its value: the records of a function's calls that had no room in the ring. */
struct uprobe_lost_key {
	__u64 address;
	__u32 tgid;
	__u32 unused;
};

struct uprobe_lost {
	__u64 records, bytes;
};

/* What the reader sets before it loads the program. */
struct uprobe_config {
	__u64 ring_size;     /* bytes */
	__u64 ns_ino;        /* the reader's pid namespace; 0: the first one */
	__u32 full_signal;   /* sent to a thread that makes a record when the ring is half full; 0: none */
	__u32 frames_wanted; /* at most UPROBE_FRAMES_MAX */
	__u32 entry_stacks;  /* 1: the record of an entry, of a call that returns, has a stack, too */
	__u32 tracer;        /* the process, as the kernel sees it, whose tracees are recorded; 0: all are */
	__u64 tracer_start;  /* its start time since boot, in UPROBE_TICK_NS */
	__u32 tracer_uid;    /* the real user of its tracees */
	__u32 unused;
};

#define UPROBE_TICK_NS 10000000 /* /proc/PID/stat has times in this unit */

/* Memory that the reader and the program share. */
struct uprobe_shared {
	__u64 outer_count;  /* number of threads in the map `outers` */
	__u64 lost;         /* number of lost records */
	__u64 unknown_lost; /* lost records that the map `lost` had no room to count */
	__u64 unmatched;    /* returns whose entry was not seen */
	__u64 copies;       /* records with a copy of the stack */
};

#endif
