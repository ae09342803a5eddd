/* A copy of a live process's writable memory and of its threads' registers, made while all of them stand.
 *
 * The place for the copy is made before that, while the process runs, so that its pages are there; and pages of the
 * process are brought that are swapped out. That makes the pause several times shorter. */
#ifndef FT_SCAN_CAPTURE_SNAPSHOT_H
#define FT_SCAN_CAPTURE_SNAPSHOT_H

#include "heap/image.h"
#include "scan/capture/thread_registers.h"

struct snapshot;

#define SNAPSHOT_MAPPING_MAX (64ull << 30) /* wider ones are not looked through */

/* How the threads are to stand before the copy is made. */
struct snapshot_care {
	/* Words of 4 bytes that are 0 when no thread is in the midst of changing the heap. */
	const uint64_t *locks;
	size_t lock_count;
	bool marks_locks; /* they can be marked as waited for: quiesce_outside_locks() */
	/* Without locks: threads in the C library, where malloc is, run on until they are out of it. `object`: in this
	 * shared object as well, which has the allocator; NULL none. */
	bool leaves_c;
	const char *object;
	/* The program that the locks are of, as snapshot_program() has it: in another one other things are there. */
	uint64_t program;
};

/* What the newest copy has cost, and what it has. */
struct snapshot_figures {
	uint64_t pause_ns;   /* from the first stop to the last thread's going on */
	uint64_t bytes;      /* that were copied */
	uint64_t left_out;   /* bytes of mappings that are too wide to be looked through */
	uint64_t unreadable; /* bytes that could not be read, and are zero in the copy */
	/* Bytes of shared memory that may hold something and were not copied: shared_pages.h. */
	uint64_t shared_left_out;
	size_t threads;
	size_t moving;   /* threads that could not be stopped: deep in the kernel */
	size_t inside;   /* threads that did not come to where they were to stand */
	size_t asleep;   /* threads in a system call that malloc does not make */
	bool is_stopped; /* a signal had stopped the process before */
};

/* Whether a pointer may be in memory that was not copied. */
static inline bool snapshot_is_partial(const struct snapshot_figures *figures)
{
	return figures->left_out || figures->unreadable || figures->shared_left_out;
}

/* For a process, of which nothing is read yet. snapshot_free() frees it. */
struct snapshot *snapshot_new(pid_t pid);
/* A copy of more bytes than that is not made, and ends with -EFBIG; 0 (at first): any is. */
void snapshot_limit(struct snapshot *snapshot, uint64_t bytes);
/* From now on for the blocks of the heap alone, not for what leads to them: shared memory, where no allocator that is
 * known has blocks, is not copied. */
void snapshot_blocks_only(struct snapshot *snapshot);
/* Reads what can be read while the process runs. 0, or 1 after a message: it may not be read, there is no memory for a
 * copy; -ESRCH, and nothing is said: it has ended. To be called before each pause that is worth it. */
int snapshot_warm(struct snapshot *snapshot);
/* Stops the process, copies, lets it go on. care: NULL: the threads stand wherever they are. As snapshot_warm(). The
 * copy before this one is gone in any case. */
int snapshot_take(struct snapshot *snapshot, const struct snapshot_care *care);
/* The same of a process that is traced, by one of its threads. 0, or -errno; nothing is said. */
int snapshot_warm_ending(struct snapshot *snapshot, pid_t tid, const struct arch *arch);
/* Copies the memory of a process none of whose threads will run again, by one of them, which has its memory still. The
 * registers of all are given, and are the snapshot's then. 0, or -errno; nothing is said. */
int snapshot_take_ending(struct snapshot *snapshot, pid_t tid, const struct arch *arch, struct scan_threads *threads);
/* The newest copy, until the next one. */
const struct heap_image *snapshot_image(const struct snapshot *snapshot);
const struct snapshot_figures *snapshot_figures(const struct snapshot *snapshot);
/* Of the newest copy: a number that is another one when the process has executed a program, be it the same. */
uint64_t snapshot_program(const struct snapshot *snapshot);
void snapshot_free(struct snapshot *snapshot);

#endif
