/* Unwinds stacks: computes return addresses from registers and stack bytes.
 *
 * The input is a snapshot, which is plain data. Two things are read from the target itself, by the snapshot's read():
 * stack bytes outside of the snapshot, and the code of objects without a file. */
#ifndef FT_UNWIND_UNWIND_H
#define FT_UNWIND_UNWIND_H

#include "arch/arch.h"

/* All unwinders, and the objects that they share, must be used by one thread only. */
struct unwinder;      /* unwinds the stacks of one address space */
struct unwind_object; /* the rows of one ELF file, shared by all address spaces that map the file */

/* The data of a stopped thread that unwinding needs. */
struct stack_snapshot {
	const struct arch *arch;
	struct arch_regs regs;
	uint64_t address;           /* address of the first byte of `bytes`, at or below sp */
	const unsigned char *bytes; /* copy of stack bytes; `size` is 0 if nothing could be read */
	size_t size;
	/* Reads more of the target's memory (stack beyond the snapshot, vdso, JIT). Returns the number of bytes read,
	 * which may be less than `size`, or -errno. NULL: no more can be read. */
	ssize_t (*read)(void *context, uint64_t address, void *data, size_t size);
	void *context;
	bool inside;     /* true if the pc is known not to be a function's entry */
	bool is_caller;  /* true if the pc is a return address */
	bool is_partial; /* true if only pc, sp and the frame pointer are known */
};

enum unwind_method { UNWIND_ROWS, UNWIND_LIBUNWIND };

/* Returns true if the method can read the unwinding tables of the processor's programs (libunwind does not read
 * .ARM.exidx). */
bool unwinder_has(const struct arch *arch, enum unwind_method method);
/* Makes an unwinder for the address space of process `pid`, whose /proc/PID files it may open. If the method cannot
 * read the processor's tables, the unwinder uses UNWIND_ROWS. unwinder_free() frees it. */
struct unwinder *unwinder_new(pid_t pid, const struct arch *arch, enum unwind_method method);
void unwinder_free(struct unwinder *unwinder);

/* unwinder_add() records that [start, end) maps an ELF file; `bias` is the difference between mapped addresses and
 * those in the file (p_vaddr, CFI). `path` can be opened now (/proc/PID/map_files/..., /proc/PID/root/...), or is
 * NULL for memory without a file ([vdso]): then the ELF image is read by the snapshot's read(). Rows are made when
 * an address is first used, and shared by all address spaces that map the same file (device, inode, size, mtime).
 * unwinder_remove() records that the range was unmapped. */
void unwinder_add(struct unwinder *unwinder, uint64_t start, uint64_t end, uint64_t bias, const char *path,
		  const char *build_id);
void unwinder_remove(struct unwinder *unwinder, uint64_t start, uint64_t end);

/* Reads the call frame information of the objects' files now, up to some hundred MiB of files. Otherwise the first
 * walk through each file reads it while the process is stopped. */
void unwinder_prepare(struct unwinder *unwinder);

/* Makes the unwinder of a fork's child, with the objects of the parent's unwinder. */
struct unwinder *unwinder_clone(const struct unwinder *unwinder, pid_t pid);

struct unwind_frame {
	uint64_t pc;  /* frame 0: the snapshot's pc; other frames: the return address, not reduced by 1 */
	uint64_t cfa; /* the caller's sp right after the return to the caller */
	bool signal;  /* true if a signal interrupted the code at this pc; the frame before is the signal frame */
};

/* Walks up to `max` frames. Frame 0 is the snapshot's pc, for which the rule is looked up without subtracting 1.
 *
 * Stops early if `until_cfa` is not 0 and a frame's cfa reaches it. Returns the number of frames. *cut: true if the
 * walk ended before the outermost frame, `max` or until_cfa, because a frame has no rule, or the stack cannot be
 * read or is corrupt (the cfa does not grow).
 *
 * If the code at the snapshot's pc has no rule (a C library built without CFI), the pc is assumed to be a function's
 * entry, unless the snapshot says otherwise: frame 1 is then its caller, if the caller has a rule. If no call returns
 * to an address, the address is no frame, and the walk is cut before it. The time is bounded for any input. */
size_t unwind_stack(struct unwinder *unwinder, const struct stack_snapshot *snapshot, struct unwind_frame *frames,
		    size_t max, uint64_t until_cfa, bool *cut);

/* Walks the snapshot's first `frames` frames. Writes the values that preserved registers have in the caller of the last
 * of these frames to `values`, which has room for `max`. *count: the number written. Returns false if the stack has
 * fewer frames, or if rows cannot describe them. */
bool unwind_registers(struct unwinder *unwinder, const struct stack_snapshot *snapshot, size_t frames, uint64_t *values,
		      size_t max, size_t *count);

/* Sets *start to the start of the function that contains a mapped address, by call frame information. Uses only the
 * snapshot's read(). Returns false if the information does not describe the address. */
bool unwinder_function(struct unwinder *unwinder, const struct stack_snapshot *snapshot, uint64_t address,
		       uint64_t *start);

/* The rule for a frame, if it needs only sp and the frame pointer: the return address is in the word below the CFA. */
struct simple_row {
	enum {
		SIMPLE_NONE,    /* the rule needs more */
		SIMPLE_FROM_SP, /* CFA = sp + cfa_offset */
		SIMPLE_FROM_FP, /* CFA = the frame pointer + cfa_offset */
		SIMPLE_LAST,    /* the frame is the outermost one */
	} kind;
	int32_t cfa_offset;
	int16_t fp_offset; /* the caller's frame pointer is saved at CFA + fp_offset; 0: it is unchanged */
};

/* Returns the rule by which the latest walk has found, or would have found, the caller of a frame. exact: the pc is no
 * return address. The snapshot of that walk must still be valid. */
struct simple_row unwinder_simple_row(struct unwinder *unwinder, uint64_t pc, bool exact);

/* Returns the number of walks that a library has done because a table has a rule that rows cannot contain. */
uint64_t unwinder_fallbacks(const struct unwinder *unwinder);

#endif
