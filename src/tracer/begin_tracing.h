/* Begins the tracing of processes that already run: on attaching, and at the end of a pause. */
#ifndef FT_TRACER_BEGIN_TRACING_H
#define FT_TRACER_BEGIN_TRACING_H

#include "tracer/baseline.h"

struct begun;

/* Starts every process while it runs, one after the other, first those that the user has named. Stops of the others are
 * acted on meanwhile. Returns 0, or the first -errno, with the process that failed in *failed; the others go on. *begun
 * gets what begun_say() tells of them; begun_free() frees it. */
int begin_all(struct tracer *t, pid_t *failed, struct begun **begun);
/* Prints what the baselines have found, and their cost. */
void begun_say(struct begun *begun);
void begun_free(struct begun *begun);

#endif
