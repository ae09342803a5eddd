/* Removes thread records that are not needed after calls were filtered. */
#ifndef FT_ANALYSIS_UNUSED_THREADS_H
#define FT_ANALYSIS_UNUSED_THREADS_H

#include "analysis/stage.h"

/* Makes a stage to be used after calls were filtered. It passes on a thread record only right before a call, and only
 * if this is the first call, or if the previous call was made by a thread with another tid or another name. */
struct stage *thread_names_new(struct stage *next);

#endif
