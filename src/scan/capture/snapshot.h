/* Copies a live process's writable memory and its threads' registers while all of the threads are stopped.
 *
 * The memory for the copy is provided before that, while the process runs, and the process's pages that are swapped
 * out are brought in. That makes the pause several times shorter. */
#ifndef FT_SCAN_CAPTURE_SNAPSHOT_H
#define FT_SCAN_CAPTURE_SNAPSHOT_H

#include "heap/image.h"
#include "scan/capture/thread_registers.h"

struct snapshot;

#define SNAPSHOT_MAPPING_MAX (64ull << 30) /* wider mappings are left out */

/* Where the threads are brought before the copy is made. */
struct snapshot_care {
	/* Words of 4 bytes that are 0 when no thread is changing the heap. */
	const uint64_t *locks;
	size_t lock_count;
	bool marks_locks; /* they can be marked as contended: quiesce_outside_locks() */
	/* Without locks: threads in the C library, which has malloc, run until they are out of it. `object`: so do
	 * those in this shared object, which has the allocator; or NULL. */
	bool leaves_c;
	const char *object;
	/* The program that has these locks, from snapshot_program(). In another one their addresses mean something
	 * else. */
	uint64_t program;
};

/* The figures of the newest copy. */
struct snapshot_figures {
	uint64_t pause_ns;   /* from the first stop until the last thread goes on */
	uint64_t bytes;      /* bytes that were copied */
	uint64_t left_out;   /* bytes of mappings that are too wide */
	uint64_t unreadable; /* bytes that could not be read, and are zero in the copy */
	/* Bytes of shared memory that may have contents and were not copied: shared_pages.h. */
	uint64_t shared_left_out;
	size_t threads;
	size_t moving;   /* threads that could not be stopped: deep in the kernel */
	size_t inside;   /* threads that could not be brought where they were to be */
	size_t asleep;   /* threads in a system call that malloc does not make */
	bool is_stopped; /* a signal had stopped the process before */
};

/* Returns whether a pointer may be in memory that was not copied. */
static inline bool snapshot_is_partial(const struct snapshot_figures *figures)
{
	return figures->left_out || figures->unreadable || figures->shared_left_out;
}

/* Makes a snapshot of a process, without reading anything yet. snapshot_free() frees it. */
struct snapshot *snapshot_new(pid_t pid);
/* Limits a copy to this many bytes; a larger one fails with -EFBIG. 0 (at first): no limit. */
void snapshot_limit(struct snapshot *snapshot, uint64_t bytes);
/* Restricts copies to the blocks of the heap, without what leads to them: shared memory, in which no known allocator
 * has blocks, is not copied. */
void snapshot_blocks_only(struct snapshot *snapshot);
/* Reads what can be read while the process runs. Called before each pause, if that is worth it. Returns 0; 1 after a
 * message if the process may not be read, or there is no memory for a copy; -ESRCH, without a message, if it has
 * ended. */
int snapshot_warm(struct snapshot *snapshot);
/* Stops the process, copies, and lets it go on. care: NULL: the threads are stopped wherever they are. Returns the same
 * as snapshot_warm(). The previous copy is gone in any case. */
int snapshot_take(struct snapshot *snapshot, const struct snapshot_care *care);
/* Does the work of snapshot_warm() for a traced process, by one of its threads. Returns 0 or -errno, without a
 * message. */
int snapshot_warm_ending(struct snapshot *snapshot, pid_t tid, const struct arch *arch);
/* Copies the memory of a process none of whose threads will run again, by one of them that still has the memory. The
 * registers of all are passed in, and belong to the snapshot then. Returns 0 or -errno, without a message. */
int snapshot_take_ending(struct snapshot *snapshot, pid_t tid, const struct arch *arch, struct scan_threads *threads);
/* The newest copy, valid until the next one; and its figures. */
const struct heap_image *snapshot_image(const struct snapshot *snapshot);
const struct snapshot_figures *snapshot_figures(const struct snapshot *snapshot);
/* Returns a number for the program in the newest copy. It changes when the process executes a program, even the same
 * one. */
uint64_t snapshot_program(const struct snapshot *snapshot);
void snapshot_free(struct snapshot *snapshot);

#endif
