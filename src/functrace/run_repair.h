/* functrace --repair: takes out of processes the breakpoints that a killed tracer has left in them. */
#ifndef FT_FUNCTRACE_RUN_REPAIR_H
#define FT_FUNCTRACE_RUN_REPAIR_H

#include "engine/settings.h"

/* Repairs the processes that settings name, with --children those that descend from them, too. The status to end
 * with. */
int repair_run(const struct settings *settings);

#endif
