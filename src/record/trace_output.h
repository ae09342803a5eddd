/* Turns events, and what belongs to them, into records, and writes these into the trace's file. */
#ifndef FT_RECORD_TRACE_OUTPUT_H
#define FT_RECORD_TRACE_OUTPUT_H

#include "record/trace.h"

/* Sets the time from which a trace counts. */
void output_start(struct trace *trace);
/* Opens the trace's file and writes all that precedes the first event. Returns 0 or -errno, which has been reported. */
int output_begin(struct trace *trace);
/* Writes what waits, and closes the trace's file if it has one. has_other_tasks: tasks are still traced, and must not
 * wait long for this. */
void output_end(struct trace *trace, bool has_other_tasks);

/* Writes that the object is mapped. Does nothing if the trace has no file yet, because the file will begin with all
 * objects. */
void output_object(struct trace *trace, const struct object *object);
/* Returns the id of the context of that name; 0 if there are 32 others already, which is reported once. Writes a new
 * context; if the trace has no file yet, the file will begin with it. */
uint32_t output_context(struct trace *trace, const char *name);
/* Writes a note of any length, in one line, at this place of the trace. A format with less room cuts the note and marks
 * it. */
void output_note(struct trace *trace, const char *fmt, ...) FT_PRINTF(2, 3);
/* Opens the file of a fork's child, at its first event, because most children never have one. Does nothing for other
 * traces. */
void output_begin_late(struct trace *trace);
/* Writes that what follows is done by this thread. Does nothing if `thread` is NULL (unknown). */
void output_thread(struct trace *trace, struct thread *thread);
/* Writes a call. Begins the trace of a fork's child, if it has not begun. */
void output_call(struct trace *trace, const struct event *e, enum call_kind kind);
/* Writes the allocator's figures. */
void output_heap(struct trace *trace, const struct record_heap *heap);
/* Writes that the process was scanned, and why this shows nothing about the resource; "" if it does. After it,
 * output_lost() writes each live id of the resource that is lost. */
void output_scan(struct trace *trace, uint32_t resource, const char *reason);
void output_lost(struct trace *trace, uint32_t resource, uint64_t id, enum lost_kind kind);
/* Writes live blocks of the resource that are older than the trace. */
void output_baseline(struct trace *trace, uint32_t resource, const struct baseline_block *blocks, uint32_t count);
/* Forgets a thread that has ended, because another one may get its id. */
void output_forget_thread(struct trace *trace, pid_t tid);

/* Writes out what the traces have buffered, as far as it is ready. */
void output_flush_all(struct run *run);

#endif
