/* Returns of calls that the kernel's probes have forgotten. */
#ifndef FT_CALLS_FORGOTTEN_RETURNS_H
#define FT_CALLS_FORGOTTEN_RETURNS_H

#include "calls/calls.h"

/* If the task has stopped for the SIGILL of a forgotten return, makes the call return to its caller, and records it.
 * Returns false if the signal has another cause. */
bool forgotten_return_repair(struct task *task);

#endif
