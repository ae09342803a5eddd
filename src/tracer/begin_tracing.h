/* Where the tracing of processes begins that run already: attaching, and the end of a pause. */
#ifndef FT_TRACER_BEGIN_TRACING_H
#define FT_TRACER_BEGIN_TRACING_H

#include "tracer/baseline.h"

struct begun;

/* Starts every process while it runs, one after the other, those first that were named; what the tasks of the others
 * report is acted on meanwhile. 0 or the first -errno, and *failed is the process that has failed; the others go on.
 * *begun: what there is to say of them, for begun_say(). */
int begin_all(struct tracer *t, pid_t *failed, struct begun **begun);
/* Says what the baselinees have cost and found. */
void begun_say(struct begun *begun);
void begun_free(struct begun *begun);

#endif
