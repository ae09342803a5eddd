/* --scan beside tracing: what a process has lost; without it, what its allocator says of itself. */
#ifndef FT_TRACER_LEAK_CHECK_H
#define FT_TRACER_LEAK_CHECK_H

#include "tracer/process.h"

/* The process executes another program, which gives up all of its memory at once: nothing of it is said to be lost. */
void leak_check_at_exec(struct process *p);

/* All are about to be let go of, or paused: their threads stand for a moment, once or, where one is in the midst of
 * malloc, some times, and the traces get the same. What the tasks report meanwhile is acted on. False: none is left. */
bool leak_check_at_detach(struct tracer *t);
/* The same while tracing goes on, and whether or not it is wanted at their ends. */
bool leak_check_now(struct tracer *t);
/* Whether its trace is to get that. */
bool leak_check_is_wanted(const struct process *p);
/* Without --scan: whether it is to get the allocator's figures: memory is traced, and they have a place there. */
bool leak_check_figures_are_wanted(const struct process *p);
/* The most bytes that a copy may have for these figures alone. */
uint64_t leak_check_figures_limit(const struct process *p);
/* Writes them, as leak_check_write(), or enters into the run why there are none. */
void leak_check_write_figures(struct trace *trace, struct heap_capture *ending, const char *reason);
/* The ending's copy has been read, or could not be, for a reason. Whether what is lost can be found out by classifying
 * it; of an allocator that is not understood the blocks are those that the trace knows. */
bool leak_check_may_be_known(const struct trace *trace, struct heap_capture *ending, const char *reason);
/* Writes what is lost of an ending that is classified, or why that is not known: the reason, and the
 * ending may be NULL. */
void leak_check_write(struct trace *trace, struct heap_capture *ending, const char *reason);

#endif
