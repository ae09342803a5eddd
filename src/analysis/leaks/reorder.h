/* Restores the order of the calls of a compressed trace. */
#ifndef FT_ANALYSIS_LEAKS_REORDER_H
#define FT_ANALYSIS_LEAKS_REORDER_H

#include "analysis/stage.h"

/* Makes the stage. It has to be the first stage of a process (after split.h), because later stages rely on the order: a
 * release comes after its allocation. If the header says that the trace is compressed, calls are held back until the
 * end and passed on in the order of their indexes. A call with shares_next gets the stack of the next call without
 * shares_next. Scans are passed on after the calls, other records at once, except objects that overlap earlier ones:
 * these are declared right before the calls that go through them. Objects are declared again if a call needs one that
 * was replaced. The calls of other traces are passed on at once, up to the first one with shares_next. Memory is
 * proportional to the number of distinct stacks; the calls are stored in a temporary file. */
struct stage *reorder_new(struct stage *next);

#endif
