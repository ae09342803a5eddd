/* The steps that both libraries' walks share. */
#ifndef FT_UNWIND_STEPS_H
#define FT_UNWIND_STEPS_H

#include "unwind/unwinder.h"

/* A walk by a library's rules, frame by frame. */
struct steps {
	struct unwinder *unwinder;
	struct walk_request *request;
	struct unwind_frame *frame; /* the current frame */
	const struct row *row;      /* the row for its pc; NULL unknown */
	struct walk_progress progress;
	bool exact;
	enum walk_end end; /* how the walk ended, after a function has returned false */
};

void steps_begin(struct steps *steps, struct unwinder *unwinder, struct walk_request *request);
/* Returns false if the frame cannot have a caller. */
bool steps_may_go_on(struct steps *steps);
/* Steps to the caller that the library has found; pc 0: it found none. Returns false if the walk is over. */
bool steps_to_caller(struct steps *steps, uint64_t pc, uint64_t sp);
/* Ends the walk because the library has no rule for the frame. */
enum walk_end steps_without_rule(struct steps *steps);

#endif
