/* --min-count with -l: shows allocations only if their stack has made many. */
#ifndef FT_ANALYSIS_LEAKS_MIN_COUNT_H
#define FT_ANALYSIS_LEAKS_MIN_COUNT_H

#include "analysis/stage.h"

/* Makes the stage. It holds back all calls to the end, and then passes on, in their order, those whose stack has
 * `least` calls or more. Calls without frames are one group, as with -c. Scans go on after the calls, other records at
 * once. If something else is mapped at a stack's addresses by then, the stack's objects are declared again. Memory is
 * proportional to the calls, which are only what is alive. */
struct stage *min_count_new(struct stage *next, uint64_t least);

#endif
