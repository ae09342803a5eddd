/* Sends the intervals of a watch as rows to the live view, which is another process. */
#ifndef FT_FLEET_VIEW_ROWS_PIPE_H
#define FT_FLEET_VIEW_ROWS_PIPE_H

#include "watch/interval.h"

struct rows_pipe;

/* fd: the writing end of the view's pipe, which stays the caller's; its end becomes nonblocking. */
struct rows_pipe *rows_pipe_new(int fd);
/* Sends the rows of an interval. Waits at most a second for a view that does not read. The rest of the rows is then
 * sent with the next interval; if even that is not possible, the view does not get that interval. The view's figures
 * are always those of a whole interval. */
void rows_pipe_send(struct rows_pipe *pipe, const struct watch_interval *interval);
/* NULL is permitted. */
void rows_pipe_free(struct rows_pipe *pipe);

#endif
