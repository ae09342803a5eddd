/* The note with the number of calls that are missing in a trace because its reader was too slow. */
#ifndef FT_TRACE_NOTE_UNREAD_CALLS_H
#define FT_TRACE_NOTE_UNREAD_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* The note's format string; PRIu64 or SCNu64 is to be appended. */
#define NOTE_UNREAD "calls that came while nothing read the trace, and are not in it: %"

/* Parses the number of calls in a note with the format NOTE_UNREAD. Returns false for any other note. */
bool note_unread_calls_parse(const char *text, uint64_t *calls);

#endif
