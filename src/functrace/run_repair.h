/* functrace --repair: removes breakpoints that a killed tracer has left in processes. */
#ifndef FT_FUNCTRACE_RUN_REPAIR_H
#define FT_FUNCTRACE_RUN_REPAIR_H

#include "engine/settings.h"

/* Repairs the processes that the settings name, and with --children their descendants. Returns the exit status. */
int repair_run(const struct settings *settings);

#endif
