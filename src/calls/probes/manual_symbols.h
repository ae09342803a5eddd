/* Probes functions whose addresses the user gives by --symbol-address. */
#ifndef FT_CALLS_PROBES_MANUAL_SYMBOLS_H
#define FT_CALLS_PROBES_MANUAL_SYMBOLS_H

#include "ptrace/tracee.h"

/* Probes the functions that --symbol-address names, in the main program of the process. In the first program of
 * the run, warns of those that cannot be probed. */
void probe_manual_symbols(struct process *p);
/* Returns true if the process runs the first program of this run. Addresses that the user gave without an object refer
 * to that program. */
bool manual_symbols_mean(const struct process *p);

#endif
