/* The steps that walks by libraries have in common. */
#ifndef FT_UNWIND_STEPS_H
#define FT_UNWIND_STEPS_H

#include "unwind/unwinder.h"

/* A walk by a library's rules, frame by frame. */
struct steps {
	struct unwinder *unwinder;
	struct walk_request *request;
	struct unwind_frame *frame; /* the one that has been come to */
	const struct row *row;      /* of its pc; NULL unknown */
	struct walk_progress progress;
	bool exact;
	enum walk_end end; /* how it ended, once a function has returned false */
};

void steps_begin(struct steps *steps, struct unwinder *unwinder, struct walk_request *request);
/* Whether the frame has a caller at all. */
bool steps_may_go_on(struct steps *steps);
/* The caller that the library has found; pc 0: none. False: the walk is over. */
bool steps_to_caller(struct steps *steps, uint64_t pc, uint64_t sp);
/* The library has no rule for the frame. */
enum walk_end steps_without_rule(struct steps *steps);

#endif
