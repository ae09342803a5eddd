/* Unwinds stacks: computes return addresses from registers and stack bytes.
 *
 * Works on a plain snapshot. The tracee itself is needed only for stack bytes outside of the snapshot and for code of
 * objects without a file; read() gets both. */
#ifndef FT_UNWIND_UNWIND_H
#define FT_UNWIND_UNWIND_H

#include "arch/arch.h"

/* All unwinders, and the objects that they share, belong to one thread. */
struct unwinder;      /* one address space */
struct unwind_object; /* the rows of one ELF file, shared by all address spaces that map it */

/* The data of a stopped thread that unwinding needs. */
struct stack_snapshot {
	const struct arch *arch;
	struct arch_regs regs;
	uint64_t address;           /* of the first byte of `bytes`, at or below sp */
	const unsigned char *bytes; /* size is 0 if nothing could be read */
	size_t size;
	/* Reads more of the tracee (stack beyond the snapshot, vdso, JIT). Returns the number of bytes, which may be
	 * fewer, or -errno. NULL: no more can be read. */
	ssize_t (*read)(void *context, uint64_t address, void *data, size_t size);
	void *context;
	bool inside; /* the pc is known not to be a function's entry */
};

enum unwind_method { UNWIND_ROWS, UNWIND_LIBUNWIND };

/* True if the method reads the tables of the processor's programs (libunwind does not read .ARM.exidx). */
bool unwinder_has(const struct arch *arch, enum unwind_method method);
/* Makes an unwinder for the address space of process `pid`, whose /proc/PID files it may open. It uses rows if it
 * does not support the method. unwinder_free() frees it. */
struct unwinder *unwinder_new(pid_t pid, const struct arch *arch, enum unwind_method method);
void unwinder_free(struct unwinder *unwinder);

/* Notes that [start, end) maps an ELF file whose addresses (p_vaddr, CFI) plus `bias` are the mapped ones, or that it
 * was unmapped. `path` can be opened now (/proc/PID/map_files/..., /proc/PID/root/...), or is NULL for memory without
 * a file ([vdso]): then the ELF image is read through the snapshot's read(). Rows are made when an address is first
 * used, and shared by all address spaces that map the same file (device, inode, size, mtime). */
void unwinder_add(struct unwinder *unwinder, uint64_t start, uint64_t end, uint64_t bias, const char *path,
		  const char *build_id);
void unwinder_remove(struct unwinder *unwinder, uint64_t start, uint64_t end);

/* Reads the call frame information of the objects' files now, up to some hundred MiB of files. Otherwise the first
 * walk through each file reads it, while the process waits. */
void unwinder_prepare(struct unwinder *unwinder);

/* Makes the unwinder of a fork's child, with the parent's objects. */
struct unwinder *unwinder_clone(const struct unwinder *unwinder, pid_t pid);

struct unwind_frame {
	uint64_t pc;  /* frame 0: the snapshot's pc; then return addresses, not reduced by 1 */
	uint64_t cfa; /* sp in the caller right after the return */
	bool signal;  /* a signal handler in the frame below interrupted this pc; it is no return address */
};

/* Walks up to `max` frames; frame 0 is the snapshot's own pc, which is not reduced by 1 for look-ups.
 *
 * Stops early if `until_cfa` is not 0 and a frame's cfa reaches it. Returns the number of frames. *cut: the walk did
 * not reach the outermost frame (no rule, unreadable stack, or corrupt: cfa not growing), nor `max` or until_cfa.
 *
 * If the code of the snapshot's pc has no rule (a C library built without CFI), it counts as a function's entry,
 * unless the snapshot says otherwise: frame 1 is its caller, if that has a rule. An address to which nothing can
 * return is no frame: the walk is cut before it. The time is bounded for any input. */
size_t unwind_stack(struct unwinder *unwinder, const struct stack_snapshot *snapshot, struct unwind_frame *frames,
		    size_t max, uint64_t until_cfa, bool *cut);

/* Gets the registers that functions preserve, with their values in the caller of the snapshot's first `frames`
 * functions: *count of at most `max`. Returns false if the stack is shorter, or is not walked by rows. */
bool unwind_registers(struct unwinder *unwinder, const struct stack_snapshot *snapshot, size_t frames, uint64_t *values,
		      size_t max, size_t *count);

/* Gets the start of the function that contains a mapped address, by call frame information. Uses only read() of the
 * snapshot. Returns false if no information describes the address. */
bool unwinder_function(struct unwinder *unwinder, const struct stack_snapshot *snapshot, uint64_t address,
		       uint64_t *start);

/* Returns how many walks were left to libunwind, because the tables have a rule that rows cannot hold. */
uint64_t unwinder_fallbacks(const struct unwinder *unwinder);

#endif
