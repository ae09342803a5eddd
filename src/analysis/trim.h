/* Cuts stacks (-b). This stage comes after all stages that select calls by their frames, because these stages also need
 * the frames that are cut off. It comes before all stages that compare or write stacks. */
#ifndef FT_ANALYSIS_TRIM_H
#define FT_ANALYSIS_TRIM_H

#include "analysis/stage.h"

/* Makes a stage that cuts stacks to `depth` frames. If a stack has `depth` frames or more, its end is set to
 * STACK_WHOLE, so that stacks with the same frames after trimming are equal. */
struct stage *trim_new(struct stage *next, uint32_t depth);

#endif
