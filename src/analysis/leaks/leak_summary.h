/* The totals at the end of a list of leaks. */
#ifndef FT_ANALYSIS_LEAKS_LEAK_SUMMARY_H
#define FT_ANALYSIS_LEAKS_LEAK_SUMMARY_H

#include "analysis/stage.h"
#include "base/buf.h"

/* Hands on everything; at the end, for each resource that can leak, two comments: its name, and how
 * many blocks and bytes of it came through. And one that the trace has no
 * end, one of the releases that were not seen, if it is so. */
struct stage *summary_new(struct stage *next);
/* The stage before it that looks for leaks; are_all: none of them is left out between the two. */
void summary_set_leaks(struct stage *stage, const struct stage *leaks, bool are_all);
/* Behind the totals, a comment with each line that `lines` appends at the end. */
void summary_set_lines(struct stage *stage, void (*lines)(const void *context, struct buf *out), const void *context);

/* How many calls came through. */
uint64_t summary_count(const struct stage *stage);

#endif
