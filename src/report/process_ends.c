#include "config.h"
#include "report/process_ends.h"

#include "base/buf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void process_ends_add(struct process_ends *ends, char *text, bool wants_killed)
{
	if ((strstr(text, "killed by signal") != NULL) != wants_killed) {
		free(text);
		return;
	}
	ARRAY_GROW(ends->items, ends->capacity, ends->count);
	ends->items[ends->count++] = text;
}

static void process_ends_gather(struct process_ends *ends, const struct profile *profile, bool wants_killed)
{
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *account = profile->processes[p].account;

		if (profile->processes[p].is_old)
			continue;
		if (account->end && !account->ended_well)
			process_ends_add(ends,
					 profile->process_count > 1 && account->has_pid
						 ? xasprintf("process %" PRIu32 " (%s) %s", account->pid,
							     path_name(account->name), account->end)
						 : xstrdup(account->end),
					 wants_killed);
		for (size_t i = 0; i < account->end_count; i++)
			process_ends_add(ends, xstrdup(account->ends[i]), wants_killed);
		ends->left_out += wants_killed ? account->ends_left_out : 0;
	}
}

void process_ends_collect(struct process_ends *ends, const struct profile *profile)
{
	*ends = (struct process_ends){0};
	process_ends_gather(ends, profile, true);
	process_ends_gather(ends, profile, false);
}

/* Largest number of processes that are named. */
enum { MISSING_NAMED = 5 };

char *process_ends_missing(const struct profile *profile)
{
	struct buf text = {0};
	size_t count = 0;

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct account *account = profile->processes[i].account;

		if (!trace_end_is_missing(&account->trace_end) || count++ >= MISSING_NAMED)
			continue;
		/* Say which trace is meant, because the other trace may be of the same process. */
		buf_printf(&text, "%s%" PRIu32 " (%s%s)", count > 1 ? ", " : "", account->pid, path_name(account->name),
			   profile->processes[i].is_old ? ", the older trace" : "");
	}
	if (!count)
		return NULL;
	if (count > MISSING_NAMED)
		buf_printf(&text, " and %zu more", count - MISSING_NAMED);
	char *const missing =
		profile->process_count == 1 ? xstrdup("the trace has no end " TRACE_END_MISSING)
		: count == 1 ? xasprintf("the trace of process %s has no end " TRACE_END_MISSING, buf_str(&text))
			     : xasprintf("the traces of processes %s have no end " TRACE_END_MISSING, buf_str(&text));

	buf_free(&text);
	return missing;
}

void process_ends_free(struct process_ends *ends)
{
	for (size_t i = 0; i < ends->count; i++)
		free(ends->items[i]);
	free(ends->items);
}
