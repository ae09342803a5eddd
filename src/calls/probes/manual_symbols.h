/* --symbol: functions that the user says where to find. */
#ifndef FT_CALLS_PROBES_MANUAL_SYMBOLS_H
#define FT_CALLS_PROBES_MANUAL_SYMBOLS_H

#include "ptrace/tracee.h"

/* Probes the functions that --symbol names, in the main program. In the first program it reports those that cannot be
 * probed. */
void probe_manual_symbols(struct process *p);
/* Whether the process runs the first program, which addresses in "the program" are about. */
bool manual_symbols_mean(const struct process *p);

#endif
