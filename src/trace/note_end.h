/* Notes that say how a process ended. */
#ifndef FT_TRACE_NOTE_END_H
#define FT_TRACE_NOTE_END_H

#include <stdbool.h>
#include <stdint.h>

struct process_end {
	uint32_t pid;
	int number;      /* the status, or the signal */
	bool is_signal;  /* it was killed */
	const char *how; /* "exited with status 1", "killed by signal 9 (Killed)"; points into the note */
};

/* "process 1 has exited with status 0", "process 1 was killed by signal 9 (Killed)". False if the note says anything
 * else. */
bool note_end_parse(const char *text, struct process_end *end);

#endif
