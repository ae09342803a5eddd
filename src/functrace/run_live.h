/* functrace --live, and --watch on a terminal: the tracer writes its traces or results to pipes, and functrace-postproc
 * shows them. */
#ifndef FT_FUNCTRACE_RUN_LIVE_H
#define FT_FUNCTRACE_RUN_LIVE_H

#include "engine/settings.h"

/* Calls `trace` with the settings in a child process, and shows the traces until the view ends (live/live_view.h).
 * Returns the exit status. */
int live_run_view(struct settings *settings, int (*trace)(const struct settings *settings));

#endif
