/* functrace --repair: takes out of processes the breakpoints that a killed tracer has left in them. */
#ifndef FT_REPAIR_RUN_H
#define FT_REPAIR_RUN_H

#include "engine/settings.h"

/* Repairs the processes that settings name, with --children those that descend from them, too. The status to end
 * with. */
int repair_run(const struct settings *settings);

#endif
