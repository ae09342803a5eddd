/* What the BPF program (hot_calls.bpf.c) and its reader share: the records in the ring, and the bits of a site's
 * cookie. Both sides are compiled from this file, so it contains only types of fixed size. */
#ifndef FT_UPROBE_UPROBE_RECORD_H
#define FT_UPROBE_UPROBE_RECORD_H

#include <linux/types.h>

#define UPROBE_ARGS       3
#define UPROBE_FRAMES_MAX 72    /* maximum number of frames in a record */
#define UPROBE_COPY_SIZE  32768 /* maximum number of stack bytes in a record */

/* A site's cookie: the function's address in the process, and bits that say what the program does at its calls. */
#define UPROBE_ADDRESS ((1ull << 48) - 1)
#define UPROBE_BIT(n)  (1ull << (48 + (n)))
#define UPROBE_ENTER   UPROBE_BIT(0) /* a record at each entry */
#define UPROBE_RETURN  UPROBE_BIT(1) /* a record at each return */
#define UPROBE_STACK                                                                                                   \
	UPROBE_BIT(2) /* the record has a stack: that of the return or, without UPROBE_RETURN, of the entry */
#define UPROBE_POINTEE      UPROBE_BIT(3) /* the record of the return has the word to which the first argument points */
#define UPROBE_HAS_SIZE     UPROBE_BIT(4) /* lost calls are counted with the bytes that they allocate */
#define UPROBE_TIMES        UPROBE_BIT(5) /* the size is the product of an argument and the next one */
#define UPROBE_SIZE_SHIFT   (48 + 6)      /* two bits: number of the argument that is the size */
#define UPROBE_SERIAL_SHIFT (48 + 8)      /* seven bits: a number of the process, other than that of its last program */
#define UPROBE_SERIALS      128
#define UPROBE_AT_RETURN    UPROBE_BIT(15) /* set by uprobe_link() for the probe of the return */

enum uprobe_kind {
	UPROBE_ENTERED,  /* a call has begun */
	UPROBE_RETURNED, /* a call has returned */
};

/* In a pc of a row, of a frame and of a copy: the thread is at this pc, or a signal has interrupted it there. Other
 * pcs are return addresses. No user address has this bit. */
#define UPROBE_EXACT (1ull << 63)

enum uprobe_stack {
	UPROBE_NO_STACK,
	UPROBE_WHOLE, /* the frames end with the outermost one */
	UPROBE_CUT,   /* the walk has ended at the wanted number of frames */
	UPROBE_COPY,  /* the stack goes on from the registers and the bytes in the struct uprobe_copy */
};

#define UPROBE_WAS_ENTERED 1 /* a record of this call's entry precedes this record */
#define UPROBE_IS_NESTED   2 /* another call of the thread may be in flight: a copy begins at the entry itself */

struct uprobe_record {
	__u8 kind;  /* enum uprobe_kind */
	__u8 stack; /* enum uprobe_stack */
	__u8 flags;
	__u8 serial; /* of the cookie */
	__u32 frame_count;
	__u32 tid, tgid; /* as the reader's pid namespace sees them */
	__u32 space;     /* the key of the process's rows: uprobe_space() */
	__u64 address;   /* the function */
	__u64 time_ns;   /* CLOCK_MONOTONIC */
	__u64 return_sp, return_address;
	__u64 args[UPROBE_ARGS];
	__u64 result, pointee;
	/* return addresses: the first is return_address. With UPROBE_EXACT: where a signal has interrupted the code */
	__u64 frames[];
};

/* The registers of a copy: pc, sp and the frame pointer, then others that functions preserve, which are known only if
 * the record has no frames. arch/ names them: struct arch_uprobe. */
enum { UPROBE_PC, UPROBE_SP, UPROBE_BP, UPROBE_REGISTERS = 8 };

/* The stack from a frame on. */
struct uprobe_copy {
	__u64 registers[UPROBE_REGISTERS];
	__u64 trampoline; /* the address by which the kernel replaces return addresses; 0: none so far */
	__u64 size;
	__u8 bytes[UPROBE_COPY_SIZE]; /* from sp on */
};

/* Returns the copy of a record whose stack is UPROBE_COPY. It follows a full array of frames. */
static inline const struct uprobe_copy *uprobe_record_copy(const struct uprobe_record *record)
{
	return (const struct uprobe_copy *)(const void *)(record->frames + UPROBE_FRAMES_MAX);
}

#endif
