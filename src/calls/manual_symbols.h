/* --symbol: functions that the user says where to find. */
#ifndef FT_CALLS_MANUAL_SYMBOLS_H
#define FT_CALLS_MANUAL_SYMBOLS_H

#include "ptrace/tracee.h"

/* What --symbol names, in the main program. Of the first program that has one, what cannot be is reported. */
void probe_manual_symbols(struct process *p);

#endif
