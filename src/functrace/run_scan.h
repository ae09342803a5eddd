/* functrace --scan: scans the heaps of processes from outside and prints the results. */
#ifndef FT_FUNCTRACE_RUN_SCAN_H
#define FT_FUNCTRACE_RUN_SCAN_H

#include "engine/settings.h"

/* Scans according to settings->scan. Ends when all scans are done, when the processes have ended, or by Ctrl-C. Returns
 * the exit status. */
int scan_run(const struct settings *settings);

#endif
