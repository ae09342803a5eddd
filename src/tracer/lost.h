/* --scan beside tracing: what a process has lost, at its end. */
#ifndef FT_TRACER_LOST_H
#define FT_TRACER_LOST_H

#include "tracer/process.h"

/* A task stands at its end. When it is the last of its process (is_last), whose memory goes next, the trace gets what
 * is lost of its live blocks. Nothing without --scan. */
void lost_at_end(struct task *task, bool is_last);
/* The process executes another program, which gives up all of its memory at once: nothing of it is said to be lost. */
void lost_at_exec(struct process *p);

#endif
