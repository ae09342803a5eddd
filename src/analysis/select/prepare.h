/* Removes records that are not wanted, before later stages compute anything from them. */
#ifndef FT_ANALYSIS_SELECT_PREPARE_H
#define FT_ANALYSIS_SELECT_PREPARE_H

#include "analysis/stage.h"
#include "base/buf.h"

struct prepare_options {
	uint32_t pid; /* keep only the records of this process; 0: those of all processes */
	bool trim;    /* -b: the header says that stacks have at most `depth` frames; analysis/trim.h cuts them */
	uint32_t depth;
	bool remove_args;
	bool resolve;           /* mark names as resolved in the header */
	bool choose_resources;  /* -R: keep only the chosen resources */
	uint64_t resource_mask; /* bit N - 1 is set if resource N is chosen */
	/* types of further chosen resources, separated by commas; owned by the caller; NULL: none */
	const char *resource_types;
};

/* Makes the stage. If -R chooses only one resource, this resource gets the id 1. FILTER_COMPRESS is removed from the
 * header, because the output is grouped only with -c; the stage for -c (call_groups.h) adds it again. */
struct stage *prepare_new(struct stage *next, const struct prepare_options *options);

/* Must be called at the end. If -R has matched no resource of the trace, appends a line that lists the trace's
 * resources to `out`. */
void prepare_report(const struct stage *stage, struct buf *out);

#endif
