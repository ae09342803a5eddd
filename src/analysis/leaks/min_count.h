/* --min-count with -l: passes on allocations only if enough of them have the same function, kind of resource and
 * stack. */
#ifndef FT_ANALYSIS_LEAKS_MIN_COUNT_H
#define FT_ANALYSIS_LEAKS_MIN_COUNT_H

#include "analysis/stage.h"
#include "base/buf.h"

/* Makes the stage. It holds all calls back until the end. Then it passes on, in order, the calls of groups with at
 * least `least` calls. A group is a function, a kind of resource and a stack, as in a report. Thread records are passed
 * on between the calls, scans after them, other records at once. If other objects are mapped at a stack's addresses at
 * the end, the stack's objects are declared again. The stage needs memory for all calls that it gets, which are only
 * those of live blocks. */
struct stage *min_count_new(struct stage *next, uint64_t least);
/* Appends a line for each kind of resource whose calls were not all passed on. */
void min_count_not_shown(const struct stage *stage, struct buf *out);

#endif
