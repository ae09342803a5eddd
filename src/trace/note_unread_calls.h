/* The note that says how many calls a trace lacks because its reader did not read. */
#ifndef FT_TRACE_NOTE_UNREAD_CALLS_H
#define FT_TRACE_NOTE_UNREAD_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* The note's format string, to be completed by the macro for its number (PRIu64, SCNu64). */
#define NOTE_UNREAD "calls that came while nothing read the trace, and are not in it: %"

/* Parses the number of calls. Returns false if the note says anything else. */
bool note_unread_calls_parse(const char *text, uint64_t *calls);

#endif
