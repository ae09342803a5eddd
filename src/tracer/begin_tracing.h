/* Begins the tracing of processes that already run: after attaching, and when paused tracing is resumed. */
#ifndef FT_TRACER_BEGIN_TRACING_H
#define FT_TRACER_BEGIN_TRACING_H

#include "tracer/baseline.h"

struct begun;

/* Starts the tracing of every process while it runs, one after the other, first those that the user has named. Acts on
 * stops of the other processes meanwhile. Returns 0, or the first -errno, with the process that failed in *failed; the
 * other processes are traced. *begun gets the data for begun_say(); begun_free() frees it. */
int begin_all(struct tracer *t, pid_t *failed, struct begun **begun);
/* Prints the results of the baselines, and their cost. */
void begun_say(struct begun *begun);
void begun_free(struct begun *begun);

#endif
