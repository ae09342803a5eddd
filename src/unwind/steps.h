/* The steps of a stack walk by the rules of a library (libunwind or libdw). */
#ifndef FT_UNWIND_STEPS_H
#define FT_UNWIND_STEPS_H

#include "unwind/unwinder.h"

/* A walk by a library's rules, frame by frame. */
struct steps {
	struct unwinder *unwinder;
	struct walk_request *request;
	struct unwind_frame *frame; /* the current frame */
	const struct row *row;      /* the row for the frame's pc; NULL if it cannot be read */
	struct walk_progress progress;
	bool exact;
	enum walk_end end; /* how the walk ended; valid after a function has returned false */
};

void steps_begin(struct steps *steps, struct unwinder *unwinder, struct walk_request *request);
/* Returns false, and sets `end`, if the frame cannot have a caller. */
bool steps_may_go_on(struct steps *steps);
/* Goes on to the caller that the library has found. pc: the return address, 0 if the library has found none. Returns
 * false, and sets `end`, if the walk is over. */
bool steps_to_caller(struct steps *steps, uint64_t pc, uint64_t sp);
/* Returns how a walk ends because the library has no rule for the frame: WALK_COMPLETE where a thread starts, else
 * WALK_CUT. */
enum walk_end steps_without_rule(struct steps *steps);

#endif
