/* functrace --scan: looks at the heaps of processes from outside and prints what it has found. */
#ifndef FT_FUNCTRACE_RUN_SCAN_H
#define FT_FUNCTRACE_RUN_SCAN_H

#include "engine/settings.h"

/* Does what settings->scan says, until that is done, the processes have ended, or Ctrl-C. The status to end with. */
int scan_run(const struct settings *settings);

#endif
