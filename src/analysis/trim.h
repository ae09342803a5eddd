/* Cuts stacks (-b). This comes after everything that selects calls by their frames, which would otherwise not find the
 * frames that are cut off, and before everything that compares stacks or writes them. */
#ifndef FT_ANALYSIS_TRIM_H
#define FT_ANALYSIS_TRIM_H

#include "analysis/stage.h"

/* Makes a stage that cuts stacks to `depth` frames. If a stack has `depth` frames or more, its end is set to
 * STACK_WHOLE, so that stacks with the same frames after trimming are equal. */
struct stage *trim_new(struct stage *next, uint32_t depth);

#endif
