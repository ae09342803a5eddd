/* Takes the records of the kernel's probes, in the order of the ring. */
#ifndef FT_TRACER_KERNEL_EVENTS_H
#define FT_TRACER_KERNEL_EVENTS_H

#include "ptrace/tracee.h"

/* Opens the kernel's probes if they are wanted. Returns false if they are required and cannot be had; the reason was
 * reported then. */
bool kernel_events_open(struct tracer *t);
/* Closes them, and counts the last lost records. */
void kernel_events_close(struct tracer *t);
/* Acts on all records that were begun before this call. To be called before a stop is acted on, so that the events of
 * both sources are in one order. Returns the number of bytes that they had in the ring. */
size_t kernel_events_take(struct tracer *t);
/* Returns true if the signal at which the task has stopped is a consequence of the probes, and is not to be delivered:
 * the BPF program has sent it, because the ring is more than half full, or the kernel has forgotten the task's call,
 * which is then repaired. */
bool kernel_events_own_signal(struct task *task, int sig);

#endif
