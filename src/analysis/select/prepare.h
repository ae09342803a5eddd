/* The first stage: takes out the records that are not wanted, before anything is computed. */
#ifndef FT_ANALYSIS_SELECT_PREPARE_H
#define FT_ANALYSIS_SELECT_PREPARE_H

#include "analysis/stage.h"
#include "base/buf.h"

struct prepare_options {
	uint32_t pid; /* only this process's records; 0 all */
	bool trim;    /* -b: stacks of at most `depth` frames */
	uint32_t depth;
	bool remove_args;
	bool resolve;               /* said in the header */
	bool choose_resources;      /* -R: only these */
	uint64_t resource_mask;     /* bit N - 1 for resource N */
	const char *resource_types; /* or their types, separated by commas; NULL: the mask; the caller's */
};

/* Trims stacks and changes the header accordingly.  A stack of `depth` frames or more loses its cut
 * mark, so that stacks which are equal after trimming are equal.  If one resource remains of
 * several it gets the number 1. "compress" is taken out of the header: it has to be applied anew.
 */
struct stage *prepare_new(struct stage *next, const struct prepare_options *options);

/* After the end: if -R chose no resource of the trace, appends a line to `out` that says which there are. */
void prepare_report(const struct stage *stage, struct buf *out);

#endif
