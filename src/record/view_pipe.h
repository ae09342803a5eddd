/* Pipes for --live. Each trace has its own pipe. The reading end is sent to the live view over a socket
 * (settings.output_fd). No function here blocks: if the socket is full, because the view is stopped, the reading end is
 * kept and sent later (view_pipe_pass()). */
#ifndef FT_RECORD_VIEW_PIPE_H
#define FT_RECORD_VIEW_PIPE_H

#include "record/trace.h"

/* Creates the pipe of a trace and sets the trace's path. Returns the writing end, which is nonblocking, or a negative
 * errno. */
int view_pipe_open(struct trace *trace);
/* Sends the live view the reading end, if that was not done yet, and the number of processes whose traces the view will
 * not get. To be called about once a second. */
void view_pipe_pass(struct trace *trace);
/* Returns true if functrace may wait at the end of a trace until the live view has read all of it: the live view has
 * the reading end, and no other trace is being written. */
bool view_pipe_may_wait(struct trace *trace);
/* Closes the reading end of a trace that has ended. If it was not sent to the live view, counts the process as
 * unseen. */
void view_pipe_end(struct trace *trace);

#endif
