/* --live: each trace goes through a pipe of its own, whose reading end the view gets over the socket that is its only
 * output (settings.output_fd). Nothing here waits: while the view is stopped, and its socket full, the end is kept and
 * offered again (view_pipe_pass()). */
#ifndef FT_RECORD_VIEW_PIPE_H
#define FT_RECORD_VIEW_PIPE_H

#include "record/trace.h"

/* The end that the trace is written to, which does not block, or a negative errno. Sets the trace's path. */
int view_pipe_open(struct trace *trace);
/* Offers the reading end if the view does not have it yet, and tells of processes that it will not see. To be called
 * now and then. */
void view_pipe_pass(struct trace *trace);
/* The trace is to end. Whether its reader can be waited for: it has the reading end, and no other trace is written. */
bool view_pipe_may_wait(struct trace *trace);
/* The trace has ended. What the view could not be given by now it only counts. */
void view_pipe_end(struct trace *trace);

#endif
