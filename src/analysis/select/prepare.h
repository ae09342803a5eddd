/* The first stage: removes the records that are not wanted, before anything is computed. */
#ifndef FT_ANALYSIS_SELECT_PREPARE_H
#define FT_ANALYSIS_SELECT_PREPARE_H

#include "analysis/stage.h"
#include "base/buf.h"

struct prepare_options {
	uint32_t pid; /* only this process's records; 0 all */
	bool trim;    /* -b: stacks of at most `depth` frames */
	uint32_t depth;
	bool remove_args;
	bool resolve;               /* the header says that names are resolved */
	bool choose_resources;      /* -R: only the chosen ones */
	uint64_t resource_mask;     /* bit N - 1 for resource N */
	const char *resource_types; /* types that are chosen too, separated by commas; NULL: none; the caller's */
};

/* Makes the stage. It also trims stacks, and changes the header accordingly. A stack of `depth` frames or more loses
 * its mark for being cut off, so that stacks which are equal after trimming are equal. If one resource remains of
 * several, it gets the number 1. "compress" is removed from the header, because grouping has to be done again. */
struct stage *prepare_new(struct stage *next, const struct prepare_options *options);

/* After the end: if -R has matched no resource of the trace, appends a line to `out` that lists the resources. */
void prepare_report(const struct stage *stage, struct buf *out);

#endif
