/* Puts the calls of a compressed text back into the order in which they were made. */
#ifndef FT_ANALYSIS_LEAKS_REORDER_H
#define FT_ANALYSIS_LEAKS_REORDER_H

#include "analysis/stage.h"

/* Makes the stage. It has to be the first one, because later stages rely on the order: releases come after their
 * allocations. If the header says that the trace is compressed, calls are held back, and passed on in the order of
 * their numbers; a call that shares the stack of a later one gets that stack. Scans go on after the calls, other
 * records at once; objects are declared again if a call needs one that was replaced. The calls of other traces stream
 * through, up to the first one that shares a later stack. Memory is proportional to the distinct stacks; the calls are
 * in a temporary file. */
struct stage *reorder_new(struct stage *next);

#endif
