/* Notes that say how a process ended, and where a trace ends. */
#ifndef FT_TRACE_NOTE_END_H
#define FT_TRACE_NOTE_END_H

#include "trace/event.h"

struct process_end {
	uint32_t pid;
	int number;      /* the status, or the signal */
	bool is_signal;  /* it was killed */
	const char *how; /* "exited with status 1", "killed by signal 9 (Killed)"; points into the note */
};

/* "process 1 has exited with status 0", "process 1 was killed by signal 9 (Killed)". False if the note says anything
 * else. */
bool note_end_parse(const char *text, struct process_end *end);

/* The last note of a trace whose process did not end in a way that has a note of its own. */
#define NOTE_TRACE_ENDS "the trace ends here"

/* Whether functrace ends the trace of that process with this note: the process has ended, executes another program, is
 * let go of, or tracing is paused. has_pid false: of any process. */
bool note_ends_trace(const char *text, bool has_pid, uint32_t pid);

/* Whether the trace of a process has its end. Zeroed before the first record. */
struct trace_end {
	bool is_expected; /* functrace wrote it, in a format with notes; the ends of others are unknown */
	bool has_end, has_pid;
	uint32_t pid;
};

void trace_end_put(struct trace_end *end, const struct record *record);

static inline bool trace_end_is_missing(const struct trace_end *end)
{
	return end->is_expected && !end->has_end;
}

/* Why it may be missing, and what follows: behind "the trace has no end ". */
#define TRACE_END_MISSING "(full disk, functrace killed, or still being written): what is alive is as of its last event"

#endif
