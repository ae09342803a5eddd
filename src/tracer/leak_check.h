/* The leak check of traced processes (--scan); without --scan, the allocator's figures. */
#ifndef FT_TRACER_LEAK_CHECK_H
#define FT_TRACER_LEAK_CHECK_H

#include "tracer/process.h"

/* Notes that the process executes another program, which frees all of its memory at once: no leaks are reported. */
void leak_check_at_exec(struct process *p);

/* Checks all processes before functrace lets go of them, or pauses: their threads are stopped for a moment, once, or a
 * few times if one is inside malloc, and the traces get the same as at exit. Stops are acted on meanwhile. Returns
 * false if no process is left. */
bool leak_check_at_detach(struct tracer *t);
/* Does the same while tracing goes on, no matter whether there is a leak check at exit. */
bool leak_check_now(struct tracer *t);
/* Returns whether the process's trace gets a leak check. */
bool leak_check_is_wanted(const struct process *p);
/* Returns whether the trace gets the allocator's figures, without --scan: memory is traced, and the format has them. */
bool leak_check_figures_are_wanted(const struct process *p);
/* Returns the most bytes of a copy that is made for these figures alone. */
uint64_t leak_check_figures_limit(const struct process *p);
/* Writes the figures, like leak_check_write(), or notes in the run why there are none. */
void leak_check_write_figures(struct trace *trace, struct heap_capture *capture, const char *reason);
/* Returns whether the capture, which was read or has failed for `reason`, can be classified. For an unknown allocator,
 * enters the blocks that the trace knows. */
bool leak_check_may_be_known(const struct trace *trace, struct heap_capture *capture, const char *reason);
/* Writes what is lost by a classified capture, or the reason why that is unknown. The reason and the capture may be
 * NULL. */
void leak_check_write(struct trace *trace, struct heap_capture *capture, const char *reason);

#endif
