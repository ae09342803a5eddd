/* functrace --live: the tracer writes its traces to pipes, and functrace-postproc shows them. */
#ifndef FT_FUNCTRACE_RUN_LIVE_H
#define FT_FUNCTRACE_RUN_LIVE_H

#include "engine/settings.h"

/* Calls `trace` with the settings in a child process, and shows the traces until the user ends the view or the traced
 * processes end. Returns the exit status. */
int live_run_view(struct settings *settings, int (*trace)(const struct settings *settings));

#endif
