/* Recognises notes that say how a process ended, that the trace ends, or that it lacks calls. */
#ifndef FT_TRACE_NOTE_END_H
#define FT_TRACE_NOTE_END_H

#include "trace/event.h"

struct process_end {
	uint32_t pid;
	int number;     /* the exit status, or the signal */
	bool is_signal; /* a signal killed the process; `number` is the signal */
	/* text like "exited with status 1" or "killed by signal 9 (Killed)"; points into the note */
	const char *how;
};

/* Parses "process 1 has exited with status 0" or "process 1 was killed by signal 9 (Killed)". Returns false if the note
 * says anything else. */
bool note_end_parse(const char *text, struct process_end *end);

/* The format string of the note with the number of calls that are missing in a trace because its reader was too slow;
 * PRIu64 or SCNu64 is to be appended. */
#define NOTE_UNREAD "calls that came while nothing read the trace, and are not in it: %"
/* Parses the number of calls in such a note. Returns false for any other note. */
bool note_unread_calls_parse(const char *text, uint64_t *calls);

/* The last note of a trace that ends for a reason for which there is no other note. */
#define NOTE_TRACE_ENDS "the trace ends here"

/* Returns true if this note ends the trace of process `pid`: if it is NOTE_TRACE_ENDS, or says that the process has
 * exited, was killed, has called execve or is detached, or that tracing is paused. If has_pid is false, the note may be
 * about any process. */
bool note_ends_trace(const char *text, bool has_pid, uint32_t pid);

/* The state of the check whether a trace contains a note that ends it. The struct must be zeroed before the first
 * record. */
struct trace_end {
	/* functrace wrote the trace in a format with notes; other traces need no end note */
	bool is_expected;
	bool has_end, has_pid;
	uint32_t pid;
};

/* Updates *end from a record. Must be called for each record of the trace. */
void trace_end_put(struct trace_end *end, const struct record *record);

static inline bool trace_end_is_missing(const struct trace_end *end)
{
	return end->is_expected && !end->has_end;
}

/* Text for a message, after "the trace has no end ": the possible reasons, and what this means for the live
 * resources. */
#define TRACE_END_MISSING                                                                                              \
	"(full disk, functrace killed, or still being written): resources live at the last event are reported as live"

#endif
