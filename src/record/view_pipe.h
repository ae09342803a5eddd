/* Pipes for --live. Each trace has its own pipe. The view gets the reading end over a socket, functrace's only output
 * then (settings.output_fd). Nothing here waits: if the view is stopped and its socket is full, the end is kept and
 * offered again (view_pipe_pass()). */
#ifndef FT_RECORD_VIEW_PIPE_H
#define FT_RECORD_VIEW_PIPE_H

#include "record/trace.h"

/* Opens the pipe of a trace and sets the trace's path. Returns the writing end, which does not block, or a negative
 * errno. */
int view_pipe_open(struct trace *trace);
/* Offers the reading end to the view, if the view does not have it yet, and sends the number of processes that it will
 * not see. To be called now and then. */
void view_pipe_pass(struct trace *trace);
/* Returns whether a trace that is about to end can wait for its reader: the view has the reading end, and no other
 * trace is being written. */
bool view_pipe_may_wait(struct trace *trace);
/* Closes the reading end of a trace that has ended. If the view does not have it, the process counts as not seen. */
void view_pipe_end(struct trace *trace);

#endif
