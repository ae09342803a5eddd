/* The first stage: removes records that are not wanted, before other stages compute anything from them. */
#ifndef FT_ANALYSIS_SELECT_PREPARE_H
#define FT_ANALYSIS_SELECT_PREPARE_H

#include "analysis/stage.h"
#include "base/buf.h"

struct prepare_options {
	uint32_t pid; /* keep only the records of this process; 0: those of all processes */
	bool trim;    /* -b: cut stacks to `depth` frames */
	uint32_t depth;
	bool remove_args;
	bool resolve;           /* mark names as resolved in the header */
	bool choose_resources;  /* -R: keep only the chosen resources */
	uint64_t resource_mask; /* bit N - 1 is set if resource N is chosen */
	/* types of further chosen resources, separated by commas; owned by the caller; NULL: none */
	const char *resource_types;
};

/* Makes the stage. It also trims stacks, and changes the header accordingly. If a stack has `depth` frames or more, its
 * end is set to STACK_WHOLE, so that stacks with the same frames after trimming are equal. If only one of several
 * resources remains, it gets the id 1. The filter "compress" is removed from the header, because calls have to be
 * grouped again. */
struct stage *prepare_new(struct stage *next, const struct prepare_options *options);

/* Must be called at the end. If -R has matched no resource of the trace, appends a line that lists the trace's
 * resources to `out`. */
void prepare_report(const struct stage *stage, struct buf *out);

#endif
