/* Which thread makes the calls that are left. */
#ifndef FT_ANALYSIS_THREAD_NAMES_H
#define FT_ANALYSIS_THREAD_NAMES_H

#include "analysis/stage.h"

/* Behind a stage that lets only some calls through: names a thread before the next call that is let through, and
 * only when it is another one than the last call's. */
struct stage *threads_new(struct stage *next);

#endif
