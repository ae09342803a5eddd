/* Scans and what they found lost, held back by stages that give out calls at the end: behind those calls. */
#ifndef FT_ANALYSIS_LEAKS_DEFERRED_SCANS_H
#define FT_ANALYSIS_LEAKS_DEFERRED_SCANS_H

#include "analysis/stage.h"

/* Zero at first. */
struct deferred_scans {
	struct record *records; /* reasons are its own */
	size_t count, capacity;
};

/* Whether the record is one of those; it is kept then. */
bool deferred_scans_keep(struct deferred_scans *late, const struct record *record);
/* Hands on what was kept. Errors as of stage_put(). */
int deferred_scans_put(const struct deferred_scans *late, struct stage *next);
/* ... and is wanted. */
int deferred_scans_put_if(const struct deferred_scans *late, struct stage *next,
			  bool (*is_wanted)(const void *context, const struct record *record), const void *context);
void deferred_scans_free(struct deferred_scans *late);

#endif
