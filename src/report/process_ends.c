#include "config.h"
#include "report/process_ends.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add(struct process_ends *ends, char *text, bool wants_killed)
{
	if ((strstr(text, "killed by signal") != NULL) != wants_killed) {
		free(text);
		return;
	}
	ARRAY_GROW(ends->items, ends->capacity, ends->count);
	ends->items[ends->count++] = text;
}

static void collect(struct process_ends *ends, const struct profile *profile, bool wants_killed)
{
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *account = profile->processes[p].account;

		if (profile->processes[p].is_old)
			continue;
		if (account->end && !account->ended_well)
			add(ends,
			    profile->process_count > 1 && account->has_pid
				    ? xasprintf("process %" PRIu32 " (%s) %s", account->pid, path_name(account->name),
						account->end)
				    : xstrdup(account->end),
			    wants_killed);
		for (size_t i = 0; i < account->end_count; i++)
			add(ends, xstrdup(account->ends[i]), wants_killed);
		ends->left_out += wants_killed ? account->ends_left_out : 0;
	}
}

void process_ends_collect(struct process_ends *ends, const struct profile *profile)
{
	*ends = (struct process_ends){0};
	collect(ends, profile, true);
	collect(ends, profile, false);
}

void process_ends_free(struct process_ends *ends)
{
	for (size_t i = 0; i < ends->count; i++)
		free(ends->items[i]);
	free(ends->items);
}
