/* --min-count with -l: allocations of a stack that has made many. */
#ifndef FT_ANALYSIS_LEAKS_MIN_COUNT_H
#define FT_ANALYSIS_LEAKS_MIN_COUNT_H

#include "analysis/stage.h"

/* Holds all calls back to the end, where those go on, in their order, whose stacks `least` of them have or more; those
 * without frames are one group, as with -c. What is not a call goes on at once; where something else is mapped by then
 * at the addresses of a stack, that is declared again. Memory is proportional to the calls, which are what is alive. */
struct stage *min_count_new(struct stage *next, uint64_t least);

#endif
