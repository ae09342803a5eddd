#include "config.h"
#include "analysis/leaks/deferred_scans.h"

#include <stdlib.h>

bool deferred_scans_keep(struct deferred_scans *late, const struct record *record)
{
	if (record->type != RECORD_SCAN && record->type != RECORD_LOST)
		return false;
	ARRAY_GROW(late->records, late->capacity, late->count);
	struct record *kept = &late->records[late->count++];

	*kept = *record;
	if (record->type == RECORD_SCAN)
		kept->scan.reason = xstrdup(string_or_empty(record->scan.reason));
	return true;
}

static bool deferred_scans_is_any(const void *context, const struct record *record)
{
	(void)context;
	(void)record;
	return true;
}

int deferred_scans_put_if(const struct deferred_scans *late, struct stage *next,
			  bool (*is_wanted)(const void *context, const struct record *record), const void *context)
{
	int error = 0;

	for (size_t i = 0; i < late->count && !error; i++)
		if (is_wanted(context, &late->records[i]))
			error = stage_put(next, &late->records[i]);
	return error;
}

int deferred_scans_put(const struct deferred_scans *late, struct stage *next)
{
	return deferred_scans_put_if(late, next, deferred_scans_is_any, NULL);
}

void deferred_scans_free(struct deferred_scans *late)
{
	for (size_t i = 0; i < late->count; i++)
		if (late->records[i].type == RECORD_SCAN)
			free((char *)(uintptr_t)late->records[i].scan.reason);
	free(late->records);
	*late = (struct deferred_scans){0};
}
