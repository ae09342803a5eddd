/* The totals at the end of a list of leaks. */
#ifndef FT_ANALYSIS_SUMMARY_H
#define FT_ANALYSIS_SUMMARY_H

#include "analysis/stage.h"

/* Hands on everything; at the end, for each resource that can leak, two comments: its name, and how
 * many blocks and bytes of it came through. And one of the releases that were not seen, if there are any. */
struct stage *summary_new(struct stage *next);
/* The stage before it that looks for leaks. */
void summary_set_leaks(struct stage *stage, const struct stage *leaks);

/* How many calls came through. */
uint64_t summary_count(const struct stage *stage);

#endif
