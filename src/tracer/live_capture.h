/* A look at the heap of a process that goes on: its tasks are stopped for a moment in which its memory is copied, once
 * or, where a thread was inside malloc, some times. Another thread copies the memory, and reads the copy when the tasks
 * run on; what the tasks of other processes report is acted on all the time. */
#ifndef FT_TRACER_LIVE_CAPTURE_H
#define FT_TRACER_LIVE_CAPTURE_H

#include "tracer/process.h"

struct heap_capture;

struct capture_request {
	/* Asked before each copy: what the tasks report between two of them is acted on. */
	bool (*is_wanted)(const struct process *p);
	/* Called when all is ready for the copy, right before the tasks are stopped; from then on what they report
	 * waits for the copy. False: no copy is made. NULL: nothing is to be done. */
	bool (*begin)(struct process *p);
	/* All are stopped: whether they are to run on for a moment before the copy is made, which is asked some times.
	 * NULL: never. */
	bool (*is_early)(struct process *p);
	/* A copy has been made, and what the tasks report is acted on from now on, while it is read. It may be made
	 * several times. */
	void (*copied)(struct process *p);
	/* The newest copy has been read, and is not classified yet: no other will be made. NULL: nothing is to be
	 * done. */
	void (*was_read)(struct process *p);
	/* No thread's registers are needed. A thread that sleeps in a call which would end with EINTR (syscalls.eintr)
	 * is left alone then: it changes nothing of the heap, and, all functions being planted, it comes to a hit
	 * before it does:
	 *
	 *	A: asleep | all others stand, the copy is begun | A: wakes, malloc(): its hit is acted on later
	 */
	bool spares_sleepers;
	bool is_for_blocks; /* and not for what is lost of them: less is copied, and nothing is classified */
	uint64_t limit;     /* of a copy, in bytes; 0 none. Where it would be larger nobody is stopped */
};

struct live_capture {
	/* The newest copy, read and classified; NULL: none was made. heap_capture_free() frees it. */
	struct heap_capture *ending;
	const char *reason;  /* why its heap is not known, a static text; NULL: it is */
	uint64_t stood_ns;   /* the longest time for which one of its tasks was kept from running; 0: none was */
	uint64_t longest_ns; /* for which a task of another process waited meanwhile, at most */
	/* From the end of a pause until what had waited was done; 0: nothing had; or NEVER_SILENT (service.h). */
	uint64_t caught_up_ns;
	unsigned pauses;    /* how many there were */
	uint64_t paused_ns; /* all of them together */
	bool goes_on;       /* false: no task is left to trace */
};

/* The caller has a reference of the process. */
struct live_capture capture_consistent(struct process *p, const struct capture_request *wish);

#define CAUGHT_UP_SIZE 96
/* The sentence about that, to be added to the one about the pause; empty where it is short. */
const char *capture_caught_up(uint64_t ns, char text[CAUGHT_UP_SIZE]);

#endif
