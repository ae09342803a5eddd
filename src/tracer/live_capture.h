/* Captures the heap of a process that goes on. Its tasks are stopped for a moment in which its memory is copied, once
 * or, if a thread was inside malloc, a few times. Another thread copies the memory, and reads the copy when the tasks
 * run on. Stops of other processes are acted on all the time. */
#ifndef FT_TRACER_LIVE_CAPTURE_H
#define FT_TRACER_LIVE_CAPTURE_H

#include "tracer/process.h"

struct heap_capture;

struct capture_request {
	/* Returns whether a copy is still wanted. Called before each copy, because stops are acted on between two of
	 * them. */
	bool (*is_wanted)(const struct process *p);
	/* Called when all is ready for the copy, right before the tasks are stopped; from then on their stops wait for
	 * the copy. Returns false if no copy is to be made. May be NULL. */
	bool (*begin)(struct process *p);
	/* Called, a few times, when all are stopped: returns whether they are to run on for a moment before the copy is
	 * made. NULL: never. */
	bool (*is_early)(struct process *p);
	/* Called when a copy was made: stops are acted on from now on, while it is read. May be called several
	 * times. */
	void (*copied)(struct process *p);
	/* Called when the newest copy was read, and is not classified yet: there will be no other one. May be NULL. */
	void (*was_read)(struct process *p);
	/* No thread's registers are needed. So a thread that sleeps in a call which would end with EINTR
	 * (syscalls.eintr) is left alone: it changes nothing of the heap, and because all functions have
	 * breakpoints, it comes to a hit before it does:
	 *
	 *	A: asleep | all others stopped, the copy begins | A: wakes, malloc(): its hit is acted on later */
	bool spares_sleepers;
	bool is_for_blocks; /* and not for what is lost: less is copied, and nothing is classified */
	uint64_t limit;     /* of a copy, in bytes; 0: none. For a larger copy no task is stopped */
};

struct live_capture {
	/* The newest copy, read and classified; NULL: none was made. The caller frees it by heap_capture_free(). */
	struct heap_capture *heap_capture;
	const char *reason;  /* why its heap is unknown, as static text; NULL: it is known */
	uint64_t stopped_ns; /* the longest time for which one of its tasks could not run; 0: none was stopped */
	uint64_t longest_ns; /* the longest time for which a task of another process waited meanwhile */
	/* From the end of a pause until the work that had waited was done; 0: none had; or NEVER_SILENT (service.h). */
	uint64_t caught_up_ns;
	unsigned pauses;    /* number of pauses */
	uint64_t paused_ns; /* their sum */
	bool goes_on;       /* false: no task is left to trace */
};

/* Captures the heap of a process, to which the caller has a reference. */
struct live_capture capture_consistent(struct process *p, const struct capture_request *request);

#define CAUGHT_UP_SIZE 96
/* Writes a sentence about caught_up_ns, which follows that about the pause; it is empty if the time is short. Returns
 * `text`. */
const char *capture_caught_up(uint64_t ns, char text[CAUGHT_UP_SIZE]);

#endif
