/* Registers + stack bytes -> return addresses.
 *
 * Works on a plain snapshot; the tracee itself is not needed, except for stack bytes that the
 * snapshot does not hold and for code of objects that have no file: both come through read(). */
#ifndef FT_UNWIND_UNWIND_H
#define FT_UNWIND_UNWIND_H

#include "arch/arch.h"

/* All unwinders, and the objects that they share, belong to one thread. */
struct unwinder;      /* one address space */
struct unwind_object; /* the rows of one ELF file, shared by all address spaces that map it */

/* What a stop yields for unwinding. */
struct stack_snapshot {
	const struct arch *arch;
	struct arch_regs regs;
	uint64_t address;           /* of the first byte of `bytes`: at or below sp */
	const unsigned char *bytes; /* size 0 if nothing could be read */
	size_t size;
	/* Reads more of the tracee (stack beyond the snapshot, vdso, JIT). Bytes read (may be
	 * fewer), or -errno. NULL: there is no more. */
	ssize_t (*read)(void *context, uint64_t address, void *data, size_t size);
	void *context;
	bool inside; /* the pc is known to be no function's entry */
};

enum unwind_method { UNWIND_ROWS, UNWIND_LIBUNWIND };

/* Whether the method reads the tables that programs of the processor have (libunwind none of .ARM.exidx). */
bool unwinder_has(const struct arch *arch, enum unwind_method method);
/* An unwinder for the address space of process `pid` (whose /proc/PID files it may open). By rows, where it has not the
 * method. */
struct unwinder *unwinder_new(pid_t pid, const struct arch *arch, enum unwind_method method);
void unwinder_free(struct unwinder *unwinder);

/* Says that [start, end) maps an ELF file whose own addresses (p_vaddr, CFI) plus `bias` are the mapped ones, or
 * that it has gone. `path` is one that can be opened now (/proc/PID/map_files/..., /proc/PID/root/...), or NULL for
 * memory without a file ([vdso]): then the ELF image is read through the snapshot's read(). Rows are made when an
 * address is first met, and shared by all address spaces that map the same file (device, inode, size, mtime). */
void unwinder_add(struct unwinder *unwinder, uint64_t start, uint64_t end, uint64_t bias, const char *path,
		  const char *build_id);
void unwinder_remove(struct unwinder *unwinder, uint64_t start, uint64_t end);

/* Reads the call frame information of the objects' files now, of some hundred MiB of files at most: else the first walk
 * through each of them does so, for which the process waits. */
void unwinder_prepare(struct unwinder *unwinder);

/* A fork's address space begins with its parent's objects. */
struct unwinder *unwinder_clone(const struct unwinder *unwinder, pid_t pid);

struct unwind_frame {
	uint64_t pc;  /* frame 0: the pc of the snapshot; then return addresses as they are (no -1) */
	uint64_t cfa; /* sp in the caller right after the return */
	bool signal;  /* this frame's pc was interrupted by a signal handler below it, not called
			 from */
};

/* Walks up to `max` frames, frame 0 being the snapshot's own pc (not looked up with -1). Stops early when
 * `until_cfa` is not 0 and a frame's cfa is at or beyond it. Returns the number of frames; *cut says that the walk
 * did not reach the outermost frame (no rule, unreadable stack, corrupt: cfa not growing), as opposed to reaching
 * the start of the thread, `max` or until_cfa. Where the code of the snapshot's own pc has no rule (a C library
 * built without CFI), it is taken to be a function's entry, unless the snapshot says otherwise: frame 1 is its
 * caller, if that one has a rule. An address to which nothing can return is no frame: the walk is cut before it.
 * Bounded in time for any input. */
size_t unwind_stack(struct unwinder *unwinder, const struct stack_snapshot *snapshot, struct unwind_frame *frames,
		    size_t max, uint64_t until_cfa, bool *cut);

/* The registers that functions preserve, as the caller of a snapshot's first `frames` functions has them: *count of at
 * most `max`. False: the stack does not go so far, or is not walked by rows. */
bool unwind_registers(struct unwinder *unwinder, const struct stack_snapshot *snapshot, size_t frames, uint64_t *values,
		      size_t max, size_t *count);

/* Where the function begins that the call frame information says a mapped address is in; of the snapshot only read() is
 * used. False: no information says so. */
bool unwinder_function(struct unwinder *unwinder, const struct stack_snapshot *snapshot, uint64_t address,
		       uint64_t *start);

/* How many walks were libunwind's, where the tables have a rule that rows cannot hold. */
uint64_t unwinder_fallbacks(const struct unwinder *unwinder);

#endif
