/* A look at the heap of a process that goes on: its tasks stand for a moment in which its memory is copied, once or,
 * where one of them is in the midst of malloc, some times. The copy is read when they run on. */
#ifndef FT_TRACER_LOOK_H
#define FT_TRACER_LOOK_H

#include "tracer/process.h"

struct ending;

struct look_wish {
	/* Asked before each copy: what the tasks report between two of them is acted on. */
	bool (*is_wanted)(const struct process *p);
	/* All stand: whether they are to run on for a moment before the copy is made, which is asked some times. NULL:
	 * never. */
	bool (*is_early)(struct process *p);
	/* No thread's registers are needed. A thread that sleeps in a call which would end with EINTR (eintr_calls) is
	 * left alone then: it changes nothing of the heap, and, all functions being planted, it comes to a hit before
	 * it does:
	 *
	 *	A: asleep | all others stand, the copy is begun | A: wakes, malloc(): its hit is acted on later
	 */
	bool spares_sleepers;
	bool is_for_blocks; /* and not for what is lost of them: less is copied */
	uint64_t limit;     /* of a copy, in bytes; 0 none. Where it would be larger nobody is stopped */
};

struct look {
	struct ending *ending; /* the newest copy, read; NULL: none was made. ending_free() frees it */
	const char *reason;    /* why its heap is not known, a static text; NULL: it is */
	uint64_t stood_ns;     /* how long they stood for it; 0: they did not */
	bool goes_on;          /* false: no task is left to trace */
};

/* The caller has a reference of the process. Where there is a copy, no event has come since it was made, and what the
 * ledger says is of that moment:
 *
 *	A: free(p), a hit | all stand, the copy | A's hit is acted on when the caller is done with the copy
 *
 * Tasks without a hit run on meanwhile. */
struct look look_through(struct process *p, const struct look_wish *wish);

#endif
