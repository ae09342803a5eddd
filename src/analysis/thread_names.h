/* Names the threads of the calls that a selection has let through. */
#ifndef FT_ANALYSIS_THREAD_NAMES_H
#define FT_ANALYSIS_THREAD_NAMES_H

#include "analysis/stage.h"

/* Makes a stage for use after one that lets only some calls through. It passes on a thread's record only before a call,
 * and only if the call before that was another thread's. */
struct stage *thread_names_new(struct stage *next);

#endif
