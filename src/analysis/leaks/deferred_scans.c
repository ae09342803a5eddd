#include "config.h"
#include "analysis/leaks/deferred_scans.h"

#include <stdlib.h>

bool deferred_scans_keep(struct deferred_scans *scans, const struct record *record)
{
	if (record->type != RECORD_SCAN && record->type != RECORD_LOST)
		return false;
	ARRAY_GROW(scans->records, scans->capacity, scans->count);
	struct record *kept = &scans->records[scans->count++];

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

int deferred_scans_put_if(const struct deferred_scans *scans, struct stage *next,
			  bool (*is_wanted)(const void *context, const struct record *record), const void *context)
{
	int error = 0;

	for (size_t i = 0; i < scans->count && !error; i++)
		if (is_wanted(context, &scans->records[i]))
			error = stage_put(next, &scans->records[i]);
	return error;
}

int deferred_scans_put(const struct deferred_scans *scans, struct stage *next)
{
	return deferred_scans_put_if(scans, next, deferred_scans_is_any, NULL);
}

void deferred_scans_free(struct deferred_scans *scans)
{
	for (size_t i = 0; i < scans->count; i++)
		if (scans->records[i].type == RECORD_SCAN)
			free((char *)(uintptr_t)scans->records[i].scan.reason);
	free(scans->records);
	*scans = (struct deferred_scans){0};
}
