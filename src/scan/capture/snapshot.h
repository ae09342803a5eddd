/* Copies a live process's writable memory and its threads' registers while all threads are stopped.
 *
 * Before that, while the process runs, the memory for the copy is allocated, and the process's pages that are swapped
 * out are brought into memory. This makes the pause several times shorter. */
#ifndef FT_SCAN_CAPTURE_SNAPSHOT_H
#define FT_SCAN_CAPTURE_SNAPSHOT_H

#include "heap/image.h"
#include "scan/capture/thread_registers.h"

struct snapshot;

#define SNAPSHOT_MAPPING_MAX (64ull << 30) /* larger mappings are not copied */

/* The allocator that threads must have left before the copy is made. */
struct snapshot_allocator {
	/* addresses of locks: words of 4 bytes that are 0 while no thread changes the heap */
	const uint64_t *locks;
	size_t lock_count;
	bool marks_locks; /* true if the locks can be marked as contended: leave_allocator_locks() */
	/* These two are used if there are no locks, or if the process has only one thread. leaves_c: true if threads in
	 * the C library, which contains malloc, run until they have left it. object: path of the shared object that
	 * contains the allocator, whose code threads also leave; or NULL. */
	bool leaves_c;
	const char *object;
	/* The program that has these locks, as snapshot_program() returned it. In another program their addresses
	 * have another meaning. */
	uint64_t program;
};

/* The figures of the last copy. */
struct snapshot_figures {
	uint64_t pause_ns;   /* time from the first stop until the last thread continues */
	uint64_t bytes;      /* bytes that were copied */
	uint64_t left_out;   /* bytes of mappings that were too large to be copied */
	uint64_t unreadable; /* bytes that could not be read; they are zero in the copy */
	/* bytes of shared memory that may have contents and were not copied: shared_pages.h */
	uint64_t shared_left_out;
	size_t threads;
	/* threads that could not be stopped, because they wait deep in the kernel; their registers are unknown */
	size_t moving;
	size_t sharers;  /* other processes in the same memory, which are not stopped; their registers are unknown */
	size_t inside;   /* threads that did not leave the code, or locks that stayed held: snapshot_allocator */
	size_t asleep;   /* threads in a system call that malloc does not make */
	bool is_stopped; /* true if a signal had stopped the process before */
};

/* Returns true if memory or registers that may contain pointers were not copied. */
static inline bool snapshot_is_partial(const struct snapshot_figures *figures)
{
	return figures->moving || figures->sharers || figures->left_out || figures->unreadable ||
	       figures->shared_left_out;
}

/* Makes a snapshot of a process, without reading anything yet. snapshot_free() frees it. */
struct snapshot *snapshot_new(pid_t pid);
/* Limits a copy to this many bytes; a larger one fails with -EFBIG. 0, the default, means no limit. */
void snapshot_limit(struct snapshot *snapshot, uint64_t bytes);
/* Leaves shared memory out of copies. The blocks are still found, because no known allocator has blocks in shared
 * memory, but not all roots are found. */
void snapshot_blocks_only(struct snapshot *snapshot);
/* Reads everything that can be read while the process runs, which makes the next pause shorter. Returns 0; 1 after a
 * message if the process may not be read, or there is no memory for a copy; -ESRCH, without a message, if the process
 * has ended. */
int snapshot_warm(struct snapshot *snapshot);
/* Returns true if snapshot_warm() has found another process that uses the same memory. */
bool snapshot_is_shared(const struct snapshot *snapshot);
/* Stops the process, copies its memory, and lets the process continue. If `allocator` is NULL, the threads may be
 * stopped in any code. Returns the same as snapshot_warm(). The previous copy is discarded, also on failure. */
int snapshot_take(struct snapshot *snapshot, const struct snapshot_allocator *allocator);
/* Does the same as snapshot_warm() for a process that is traced already; tid is one of its threads. Returns 0 or
 * -errno, without a message. */
int snapshot_warm_ending(struct snapshot *snapshot, pid_t tid, const struct arch *arch);
/* Copies the memory of a process that is traced already, and whose threads do not run meanwhile. tid: one of them,
 * which still has the memory. The snapshot takes over the registers of all threads from *threads. Returns 0 or -errno,
 * without a message. */
int snapshot_take_ending(struct snapshot *snapshot, pid_t tid, const struct arch *arch, struct scan_threads *threads);
/* Return the last copy, valid until the next one, and its figures. */
const struct heap_image *snapshot_image(const struct snapshot *snapshot);
const struct snapshot_figures *snapshot_figures(const struct snapshot *snapshot);
/* Returns a number for the program in the last copy. The number changes when the process executes a program, even the
 * same one. */
uint64_t snapshot_program(const struct snapshot *snapshot);
void snapshot_free(struct snapshot *snapshot);

/* Returns how long to wait before another copy: `shortest`, and 0 to 6 times `step`. The time differs from one `number`
 * to the next, so that the copies do not coincide with a periodic action of the process. */
static inline uint64_t snapshot_wait(uint64_t shortest, uint64_t step, unsigned number)
{
	return shortest + number * 7919 % 7 * step;
}

#endif
