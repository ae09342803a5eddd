/* Holds back scans and the blocks that they have found lost, for stages that pass on calls at the end: the scans come
 * after those calls. */
#ifndef FT_ANALYSIS_LEAKS_DEFERRED_SCANS_H
#define FT_ANALYSIS_LEAKS_DEFERRED_SCANS_H

#include "analysis/stage.h"

/* Zero at first. */
struct deferred_scans {
	struct record *records; /* has copies of the reasons */
	size_t count, capacity;
};

/* Keeps a record if it is a scan or a lost block. Returns true if so. */
bool deferred_scans_keep(struct deferred_scans *scans, const struct record *record);
/* Passes on what was kept. Returns as stage_put(). */
int deferred_scans_put(const struct deferred_scans *scans, struct stage *next);
/* The same with the records that are wanted. */
int deferred_scans_put_if(const struct deferred_scans *scans, struct stage *next,
			  bool (*is_wanted)(const void *context, const struct record *record), const void *context);
void deferred_scans_free(struct deferred_scans *scans);

#endif
