/* Appends the totals to a list of leaks. */
#ifndef FT_ANALYSIS_LEAKS_LEAK_SUMMARY_H
#define FT_ANALYSIS_LEAKS_LEAK_SUMMARY_H

#include "analysis/stage.h"
#include "base/buf.h"

/* Makes the stage. It passes on all records. At the end it adds two comments for each resource that can leak: its name,
 * and the numbers of blocks and bytes that were passed on. Then it adds a comment if the end note of the trace is
 * missing, and one if releases are missing in the trace. */
struct stage *summary_new(struct stage *next);
/* Sets the earlier stage that finds leaks. are_all: no stage between that stage and this one removes leaks. */
void summary_set_leaks(struct stage *stage, const struct stage *leaks, bool are_all);
/* Sets the stage that leaves out small groups. The blocks of these groups are reported after the totals. */
void summary_set_min_count(struct stage *stage, const struct stage *min_count);
/* Sets a function that is called at the end. Each line that it appends is added as a comment after the totals. */
void summary_set_lines(struct stage *stage, void (*lines)(const void *context, struct buf *out), const void *context);

/* Returns the number of calls and of blocks from before the trace that were passed on. */
uint64_t summary_count(const struct stage *stage);

#endif
