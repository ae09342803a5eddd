/* Converts events, and data about the process, to records, and writes these into the trace's file. */
#ifndef FT_RECORD_TRACE_OUTPUT_H
#define FT_RECORD_TRACE_OUTPUT_H

#include "record/trace.h"

/* Gets the calls of a trace, as output_call() would write them. end() is called when the process has ended, or is about
 * to: before the process is freed, or its breakpoints are removed for an execve or a detach. how: the reason, such as
 * "process 12 has exited with status 0"; NULL: functrace leaves the process. */
struct call_sink {
	void (*take)(struct call_sink *sink, const struct event *e, enum call_kind kind);
	void (*end)(struct call_sink *sink, const char *how);
};

/* Calls end() of the trace's sink, if it has one, which is then no longer the trace's. */
void output_end_sink(struct trace *trace, const char *how);
/* Sets the beginning of the trace's times to now. */
void output_start(struct trace *trace);
/* Opens the trace's file and writes the records that precede the first event. Returns 0, or -errno after a message. */
int output_begin(struct trace *trace);
/* Writes queued records, and closes the trace's file if it has one. has_other_tasks: functrace still traces other
 * tasks, which must not stay stopped for long, so the function waits less. */
void output_end(struct trace *trace, bool has_other_tasks);

/* Writes the record of a mapped object. Does nothing if the trace has no file yet, because output_begin() writes all
 * objects. */
void output_object(struct trace *trace, const struct object *object);
/* Returns the id of the context with that name. A new context is written to the trace, by output_begin() if the trace
 * has no file yet. Returns 0 if there are 32 others already, which is reported once. */
uint32_t output_context(struct trace *trace, const char *name);
/* Writes a note. Newlines in it become blanks. If the note is too long for the format, the writer cuts and marks it. */
void output_note(struct trace *trace, const char *fmt, ...) FT_PRINTF(2, 3);
/* To be called before the first event of a trace. Opens the trace's file if the process is a fork's child; does nothing
 * for other traces. A child's file is opened so late because most children never have an event. */
void output_begin_late(struct trace *trace);
/* Writes a thread record: the following calls are made by this thread. Does nothing if `thread` is NULL (unknown) or is
 * the thread of the latest record. */
void output_thread(struct trace *trace, struct thread *thread);
/* Writes a call. Begins the trace of a fork's child if it has not begun. */
void output_call(struct trace *trace, const struct event *e, enum call_kind kind);
/* Writes the figures of the heap. */
void output_heap(struct trace *trace, const struct record_heap *heap);
/* Writes that the process was scanned. reason: why the scan has no result for the kind; "" if it has one. Then
 * output_lost() is to be called for each lost live id of the kind. */
void output_scan(struct trace *trace, uint32_t resource, const char *reason);
void output_lost(struct trace *trace, uint32_t resource, uint64_t id, enum lost_kind kind);
/* Writes live blocks of the resource that are older than the trace. */
void output_baseline(struct trace *trace, uint32_t resource, const struct baseline_block *blocks, uint32_t count);
/* To be called when a thread has ended. Another thread may get its tid, so output_thread() then writes a thread record
 * before the next call with this tid. */
void output_forget_thread(struct trace *trace, pid_t tid);

/* Flushes all traces: writes queued records that are ready, and the writers' buffers. To be called about once a
 * second. */
void output_flush_all(struct run *run);

#endif
