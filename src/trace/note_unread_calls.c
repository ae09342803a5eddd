#include "config.h"
#include "trace/note_unread_calls.h"

#include <inttypes.h>
#include <stdio.h>

bool note_unread_calls_parse(const char *text, uint64_t *calls)
{
	int end = 0;

	return sscanf(text, NOTE_UNREAD SCNu64 "%n", calls, &end) == 1 && end && !text[end];
}
