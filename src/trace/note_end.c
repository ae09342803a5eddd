#include "config.h"
#include "trace/note_end.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool note_end_parse(const char *text, struct process_end *end)
{
	int exited = 0, killed = 0, how = 0;

	*end = (struct process_end){0};
	if (sscanf(text, "process %" SCNu32 " has %nexited with status %d%n", &end->pid, &how, &end->number, &exited) !=
		    2 ||
	    !exited || text[exited]) {
		if (sscanf(text, "process %" SCNu32 " was %nkilled by signal %d%n", &end->pid, &how, &end->number,
			   &killed) != 2 ||
		    !killed || (text[killed] && text[killed] != ' '))
			return false;
		end->is_signal = true;
	}
	end->how = text + how;
	return true;
}
