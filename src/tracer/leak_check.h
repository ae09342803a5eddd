/* --scan beside tracing: what a process has lost; without it, what its allocator says of itself. */
#ifndef FT_TRACER_LEAK_CHECK_H
#define FT_TRACER_LEAK_CHECK_H

#include "tracer/process.h"

/* The process executes another program, which gives up all of its memory at once: nothing of it is said to be lost. */
void lost_at_exec(struct process *p);

/* All are about to be let go of, or paused: their threads stand for a moment, once or, where one is in the midst of
 * malloc, some times, and the traces get the same. What the tasks report meanwhile is acted on. False: none is left. */
bool lost_at_detach(struct tracer *t);
/* The same while tracing goes on, and whether or not it is wanted at their ends. */
bool lost_now(struct tracer *t);
/* Whether its trace is to get that. */
bool lost_is_wanted(const struct process *p);
/* Without --scan: whether it is to get the allocator's figures: memory is traced, and they have a place there. */
bool lost_figures_are_wanted(const struct process *p);
/* The most bytes that a copy may have for these figures alone. */
uint64_t lost_figures_limit(const struct process *p);
/* Writes them, as lost_put(), or enters into the run why there are none. */
void lost_put_figures(struct trace *trace, struct ending *ending, const char *reason);
/* The ending's copy has been read, or could not be, for a reason. Whether what is lost can be found out by classifying
 * it; of an allocator that is not understood the blocks are those that the trace knows. */
bool lost_may_be_known(const struct trace *trace, struct ending *ending, const char *reason);
/* Writes what is lost of an ending that is classified, or why that is not known: the reason, and the
 * ending may be NULL. */
void lost_put(struct trace *trace, struct ending *ending, const char *reason);

#endif
