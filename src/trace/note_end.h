/* Recognises the notes that say how a process ended, or that a trace ends. */
#ifndef FT_TRACE_NOTE_END_H
#define FT_TRACE_NOTE_END_H

#include "trace/event.h"

struct process_end {
	uint32_t pid;
	int number;      /* the exit status or the signal */
	bool is_signal;  /* a signal killed it */
	const char *how; /* "exited with status 1", "killed by signal 9 (Killed)"; points into the note */
};

/* Parses "process 1 has exited with status 0" or "process 1 was killed by signal 9 (Killed)". Returns false if the note
 * says anything else. */
bool note_end_parse(const char *text, struct process_end *end);

/* The last note of a trace that ends for a reason without a note of its own. */
#define NOTE_TRACE_ENDS "the trace ends here"

/* Returns whether functrace ends the trace of that process with this note: the process has ended, executes another
 * program, is let go of, or tracing is paused. If has_pid is false, the note may be about any process. */
bool note_ends_trace(const char *text, bool has_pid, uint32_t pid);

/* Tells whether the trace of a process has its end. Must be zero before the first record. */
struct trace_end {
	bool is_expected; /* functrace wrote the trace in a format with notes; other traces may lack an end */
	bool has_end, has_pid;
	uint32_t pid;
};

/* Takes the next record of the trace. */
void trace_end_put(struct trace_end *end, const struct record *record);

static inline bool trace_end_is_missing(const struct trace_end *end)
{
	return end->is_expected && !end->has_end;
}

/* Why the end may be missing, and what follows from that; comes after "the trace has no end ". */
#define TRACE_END_MISSING "(full disk, functrace killed, or still being written): what is alive is as of its last event"

#endif
