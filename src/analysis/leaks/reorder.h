/* Brings the calls of a compressed text back into the order in which they were made. */
#ifndef FT_ANALYSIS_LEAKS_REORDER_H
#define FT_ANALYSIS_LEAKS_REORDER_H

#include "analysis/stage.h"

/* A first stage: what follows relies on the order, releases after their allocations above all. If
 * the header says that the trace is compressed, its calls are held and given out by their numbers,
 * those that share the stack of a later one with that; everything else goes on at once, and objects
 * are declared again where a call needs one that was replaced.  Other traces stream through, up to
 * the first call that shares a later stack.  Memory is proportional to the distinct stacks; the
 * calls are in a temporary file. */
struct stage *reorder_new(struct stage *next);

#endif
