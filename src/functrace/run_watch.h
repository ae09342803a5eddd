/* --watch: where its results go. */
#ifndef FT_FUNCTRACE_RUN_WATCH_H
#define FT_FUNCTRACE_RUN_WATCH_H

#include "engine/settings.h"

/* Sets the outputs of a watch. */
void watch_run_prepare(struct settings *settings);

#endif
