/* --symbol: functions whose addresses the user gives. */
#ifndef FT_CALLS_PROBES_MANUAL_SYMBOLS_H
#define FT_CALLS_PROBES_MANUAL_SYMBOLS_H

#include "ptrace/tracee.h"

/* Probes the functions that --symbol names, in the main program of the process. Warns of those that cannot be probed in
 * the first program. */
void probe_manual_symbols(struct process *p);
/* Returns whether the process runs the first program, which is the one that addresses without an object refer to. */
bool manual_symbols_mean(const struct process *p);

#endif
