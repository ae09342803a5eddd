/* Holds scan and lost records back, for stages that pass on calls at the end of the trace, because scans have to come
 * after these calls. */
#ifndef FT_ANALYSIS_LEAKS_DEFERRED_SCANS_H
#define FT_ANALYSIS_LEAKS_DEFERRED_SCANS_H

#include "analysis/stage.h"

/* Must be zero at first. */
struct deferred_scans {
	struct record *records; /* the records, with copies of the reasons */
	size_t count, capacity;
};

/* If the record is a scan or a lost block, stores a copy and returns true; else returns false. */
bool deferred_scans_keep(struct deferred_scans *scans, const struct record *record);
/* Passes on the stored records. Return value as stage_put(). */
int deferred_scans_put(const struct deferred_scans *scans, struct stage *next);
/* Does the same with those for which is_wanted() returns true. */
int deferred_scans_put_if(const struct deferred_scans *scans, struct stage *next,
			  bool (*is_wanted)(const void *context, const struct record *record), const void *context);
void deferred_scans_free(struct deferred_scans *scans);

#endif
