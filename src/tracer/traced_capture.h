/* Captures the heap of a process that continues afterwards. Stops its tasks for a moment and copies its memory
 * meanwhile; repeats this a few times if a thread was inside malloc. A background thread copies the memory, and reads
 * the copy when the tasks run again. The tracer acts on stops of other processes all the time. */
#ifndef FT_TRACER_TRACED_CAPTURE_H
#define FT_TRACER_TRACED_CAPTURE_H

#include "tracer/process.h"

struct heap_capture;

struct capture_request {
	/* Returns true if a copy is still wanted. Called before each copy, because stops that are acted on between two
	 * copies may change the answer. */
	bool (*is_wanted)(const struct process *p);
	/* Called when everything is ready for the copy, right before the tasks are stopped. From then on, their stops
	 * are queued until the copy was made. Returns false if no copy is to be made. May be NULL. */
	bool (*begin)(struct process *p);
	/* Called a few times when all tasks are stopped. Returns true if the tasks are to run on for a moment before
	 * the copy is made. NULL: never. */
	bool (*is_early)(struct process *p);
	/* Called when a copy was made. From then on stops are acted on, while the copy is read. May be called several
	 * times. */
	void (*copied)(struct process *p);
	/* Called when the newest copy was read, before it is classified. No other copy follows. May be NULL. */
	void (*was_read)(struct process *p);
	/* Set if no thread's registers are needed. Then a thread is not stopped if it sleeps in a call that a stop
	 * would end with EINTR (syscalls.eintr). If such a thread wakes, it does not change the heap during the copy:
	 * it stops at the breakpoint of the allocator's function first.
	 *
	 *	A: asleep | all others stopped, the copy begins | A: wakes, malloc(): its hit is acted on later */
	bool spares_sleepers;
	/* set if only the blocks are wanted, not their leak classes: less is copied, and nothing is classified */
	bool is_for_blocks;
	/* largest size of a copy in bytes; 0: no limit. If the copy would be larger, no task is stopped */
	uint64_t limit;
	unsigned copies_max; /* number of copies until one is consistent; 0: a normal number */
};

struct traced_capture {
	/* The newest copy; NULL: no copy was wanted, or no task is left. If `reason` is NULL, the copy was read, and
	 * its blocks were classified unless the request has is_for_blocks. The caller frees it with
	 * heap_capture_free(). */
	struct heap_capture *heap_capture;
	const char *reason;  /* why the heap is unknown, as a constant text; NULL: it is known */
	uint64_t stopped_ns; /* the longest time for which a task of this process could not run; 0: none was stopped */
	/* the longest time for which a task of another process has waited for the tracer meanwhile */
	uint64_t longest_ns;
	/* The longest time from the end of a pause until the tasks had done the work that the pause had delayed; 0: no
	 * work was delayed; NEVER_SILENT (service.h): unknown. */
	uint64_t caught_up_ns;
	unsigned pauses;    /* number of pauses */
	uint64_t paused_ns; /* total time of the pauses */
	bool goes_on;       /* false: no task is left to trace */
};

/* Captures the heap of a process, to which the caller has a reference. */
struct traced_capture capture_consistent(struct process *p, const struct capture_request *request);

#define CAUGHT_UP_SIZE 96
/* Writes to `text` a sentence about the time `ns` (caught_up_ns), which is printed after the sentence about the pause.
 * Writes an empty string if the time is short. Returns `text`. */
const char *capture_caught_up(uint64_t ns, char text[CAUGHT_UP_SIZE]);

#endif
