/* Events and what surrounds them become records of a trace, and these its file. */
#ifndef FT_RECORD_TRACE_OUTPUT_H
#define FT_RECORD_TRACE_OUTPUT_H

#include "record/trace.h"

/* Sets the time from which a trace counts. */
void output_start(struct trace *trace);
/* Opens its file and writes all that stands before the first event. 0 or -errno, which has been reported. */
int output_begin(struct trace *trace);
/* Closes the file, if it has one, when what waits has been written. is_attached: something is that should not wait for
 * long. */
void output_end(struct trace *trace, bool is_attached);

/* Writes that the object is mapped, or, in a trace without a file yet, nothing: its file begins with all objects. */
void output_object(struct trace *trace, const struct object *object);
/* The id of the context of that name. A new one is written, or, in a trace without a file yet, stands at the beginning
 * of that. 0: there are 32 already, which is said once. */
uint32_t output_context(struct trace *trace, const char *name);
/* Writes a remark of any length, in one line, where it happens. A format with less room cuts it, marked. */
void output_note(struct trace *trace, const char *fmt, ...) FT_PRINTF(2, 3);
/* The first event of a fork's child opens its file: most children never have one. Does nothing for others. */
void output_begin_late(struct trace *trace);
/* What follows is that thread's. NULL: it is not known. */
void output_thread(struct trace *trace, struct thread *thread);
/* Begins the trace of a fork's child, if it has not begun. */
void output_call(struct trace *trace, const struct event *e, enum call_kind kind);
/* Writes the allocator's figures. */
void output_heap(struct trace *trace, const struct record_heap *heap);
/* Writes that the process was scanned, and why nothing of the resource is known by that ("": it is); then a live id of
 * it that is lost. */
void output_scan(struct trace *trace, uint32_t resource, const char *reason);
void output_lost(struct trace *trace, uint32_t resource, uint64_t id, enum lost_kind kind);
/* Writes live blocks of the resource that are older than the trace. */
void output_baseline(struct trace *trace, uint32_t resource, const struct baseline_block *blocks, uint32_t count);
/* Forgets a thread that has ended, whose id may be given to another one. */
void output_forget_thread(struct trace *trace, pid_t tid);

/* Writes out what the traces have buffered. */
void output_flush_all(struct run *run);

#endif
