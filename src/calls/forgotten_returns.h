/* Returns of calls that the kernel's probes have forgotten. */
#ifndef FT_CALLS_FORGOTTEN_RETURNS_H
#define FT_CALLS_FORGOTTEN_RETURNS_H

#include "calls/calls.h"

/* If the task has stopped for a signal that the kernel has raised in its trampoline, makes the call return to its
 * caller, and records it. code: the signal's si_code; SI_KERNEL: the kernel has forgotten the call. Returns false if
 * the signal has another cause. */
bool forgotten_return_repair(struct task *task, int code);

#endif
