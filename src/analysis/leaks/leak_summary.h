/* Appends the totals to a list of leaks. */
#ifndef FT_ANALYSIS_LEAKS_LEAK_SUMMARY_H
#define FT_ANALYSIS_LEAKS_LEAK_SUMMARY_H

#include "analysis/stage.h"
#include "base/buf.h"

/* The sources of the comments after the totals. */
struct summary_sources {
	const struct stage *leaks;     /* the earlier stage that finds leaks */
	bool are_all;                  /* no stage between that stage and this one removes leaks */
	const struct stage *min_count; /* the stage that leaves out small groups; NULL: none */
	/* called at the end; each line that it appends is added as a comment; NULL: none */
	void (*lines)(const void *context, struct buf *out);
	const void *lines_context;
};

/* Makes the stage. It passes on all records. At the end it adds two comments for each resource that can leak: its name,
 * and the numbers of blocks and bytes that were passed on. Then it adds a comment if the end note of the trace is
 * missing, and one if releases are missing in the trace. */
struct stage *summary_new(struct stage *next);
/* Returns the sources of the stage, which are zero at first. The caller sets them before the end of the trace. */
struct summary_sources *summary_sources(struct stage *stage);

/* Returns the number of calls and of blocks from before the trace that were passed on. */
uint64_t summary_count(const struct stage *stage);

#endif
