/* functrace --live: the tracer writes into a pipe that functrace-postproc shows. */
#ifndef FT_FUNCTRACE_RUN_LIVE_H
#define FT_FUNCTRACE_RUN_LIVE_H

#include "engine/settings.h"

/* Traces what the settings say by `trace` in a process of its own, and shows it until the user ends the view or what is
 * attached to has ended. The status to end with. */
int live_run_view(struct settings *settings, int (*trace)(const struct settings *settings));

#endif
