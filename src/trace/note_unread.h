/* The note that says how many calls are not in a trace because its reader did not read. */
#ifndef FT_TRACE_NOTE_UNREAD_H
#define FT_TRACE_NOTE_UNREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Its text, a format with that number (PRIu64). */
#define NOTE_UNREAD "calls that came while nothing read the trace, and are not in it: %"

/* False if the note says anything else. */
bool note_unread_parse(const char *text, uint64_t *calls);

#endif
