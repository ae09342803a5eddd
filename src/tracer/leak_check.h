/* The leak check of traced processes (--scan); without --scan, the figures of the allocator. */
#ifndef FT_TRACER_LEAK_CHECK_H
#define FT_TRACER_LEAK_CHECK_H

#include "tracer/process.h"

/* Writes that no block is lost, because the process calls execve, which frees all of its memory at once. */
void leak_check_at_exec(struct process *p);

/* Checks all processes for leaks before functrace detaches from them, or before tracing is paused; without --scan,
 * captures the allocator's figures. Stops the threads for a moment (a few times if one is inside malloc), and writes
 * the same records to the traces as at exit. Acts on stops meanwhile. Returns false if no process is left. */
bool leak_check_at_detach(struct tracer *t);
/* Does the same as leak_check_at_detach() while tracing continues, even if no leak check at exit is wanted. */
bool leak_check_now(struct tracer *t);
/* Returns true if the process's trace gets a leak check. */
bool leak_check_is_wanted(const struct process *p);
/* Returns true if the trace gets the allocator's figures: memory is traced, neither --scan nor --no-baseline was given,
 * and the trace's format has a place for the figures. */
bool leak_check_figures_are_wanted(const struct process *p);
/* Returns the largest size, in bytes, of a copy that is made for the allocator's figures alone. */
uint64_t leak_check_figures_limit(const struct process *p);
/* Writes the allocator's figures, without lost blocks. If there are no figures although the trace has events, counts
 * the trace in run->without_figures, and stores the reason of the first such trace in run->why_without. reason: why the
 * capture has failed; NULL: it has not. */
void leak_check_write_figures(struct trace *trace, struct heap_capture *capture, const char *reason);
/* Returns true if the capture, which was read or has failed for `reason`, can be classified. If so, also adds the
 * trace's live blocks to the capture. If the allocator is unknown, only these blocks are classified. */
bool leak_check_may_be_known(const struct trace *trace, struct heap_capture *capture, const char *reason);
/* Writes the lost blocks of a classified capture, and the allocator's figures if they are known. If `reason` is not
 * NULL, writes only that the lost blocks are unknown for this reason. `capture` may be NULL only if `reason` is not. */
void leak_check_write(struct trace *trace, struct heap_capture *capture, const char *reason);

#endif
