/* Adds the totals at the end of a list of leaks. */
#ifndef FT_ANALYSIS_LEAKS_LEAK_SUMMARY_H
#define FT_ANALYSIS_LEAKS_LEAK_SUMMARY_H

#include "analysis/stage.h"
#include "base/buf.h"

/* Makes the stage. It passes on everything. At the end it adds two comments for each resource that can leak: its name,
 * and how many blocks and bytes of it came through; then a comment if the trace has no end, and one if releases were
 * not seen. */
struct stage *summary_new(struct stage *next);
/* Sets the stage before it that finds leaks. are_all: no leak is removed between the two stages. */
void summary_set_leaks(struct stage *stage, const struct stage *leaks, bool are_all);
/* At the end, after the totals, adds a comment for each line that `lines` appends. */
void summary_set_lines(struct stage *stage, void (*lines)(const void *context, struct buf *out), const void *context);

/* Returns how many calls and blocks from before the trace came through. */
uint64_t summary_count(const struct stage *stage);

#endif
