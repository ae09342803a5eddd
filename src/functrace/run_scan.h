/* functrace --scan: scans the heaps of processes from outside and prints the results. */
#ifndef FT_FUNCTRACE_RUN_SCAN_H
#define FT_FUNCTRACE_RUN_SCAN_H

#include "engine/settings.h"

/* Scans as settings->scan says, until all scans are done, the processes have ended, or Ctrl-C. Returns the exit
 * status. */
int scan_run(const struct settings *settings);

#endif
