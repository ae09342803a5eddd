/* functrace --repair: removes breakpoints from processes whose tracer was killed. */
#ifndef FT_FUNCTRACE_RUN_REPAIR_H
#define FT_FUNCTRACE_RUN_REPAIR_H

#include "engine/settings.h"

/* Repairs the processes in the settings and, with --children, their descendants. Returns the exit status. */
int repair_run(const struct settings *settings);

#endif
