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

bool note_unread_calls_parse(const char *text, uint64_t *calls)
{
	int end = 0;

	return sscanf(text, NOTE_UNREAD SCNu64 "%n", calls, &end) == 1 && end && !text[end];
}

bool note_ends_trace(const char *text, bool has_pid, uint32_t pid)
{
	static const char *const words[] = {"executes another program", "is let go of"};
	struct process_end end;
	uint32_t number;
	int at = 0;

	if (!strcmp(text, NOTE_TRACE_ENDS) || !strcmp(text, "paused") || !strcmp(text, words[0]))
		return true;
	if (note_end_parse(text, &end))
		return !has_pid || end.pid == pid;
	if (sscanf(text, "process %" SCNu32 " %n", &number, &at) != 1 || !at || (has_pid && number != pid))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(text + at, words[i]))
			return true;
	return false;
}

void trace_end_put(struct trace_end *end, const struct record *record)
{
	static const char ours[] = "functrace ";

	if (record->type == RECORD_PROCESS) {
		const struct record_process *process = &record->process;

		/* The second dialect, version 2.0, has no place for notes. */
		end->is_expected = process->version_major < 2 && process->origin &&
				   !strncmp(process->origin, ours, sizeof(ours) - 1);
		end->has_pid = process->has_pid;
		end->pid = process->pid;
	} else if (record->type == RECORD_NOTE && record->note.text) {
		end->has_end |= note_ends_trace(record->note.text, end->has_pid, end->pid);
	}
}
