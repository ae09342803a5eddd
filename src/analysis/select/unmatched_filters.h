/* Reports filters that match nothing, because the empty output would look like a trace without leaks. */
#ifndef FT_ANALYSIS_SELECT_UNMATCHED_FILTERS_H
#define FT_ANALYSIS_SELECT_UNMATCHED_FILTERS_H

#include "analysis/select/select.h"
#include "base/buf.h"

/* Makes the stage, which passes on all records. It has to be placed before leaks are selected, so that it gets all
 * calls. options: the options of select_new(); the data to which they point must outlive the stage. */
struct stage *unmatched_filters_new(struct stage *next, const struct select_options *options);

/* Tells the stage in advance about an object that the trace declares too late, like select_learn(). */
void unmatched_filters_learn(struct stage *stage, const struct record_object *object);

/* Must be called at the end: appends a line to `out` for each filter that has matched nothing. selected: number of
 * calls that were selected. may_be_late: objects may be declared after calls that go through them, and
 * unmatched_filters_learn() was not called for them. */
void unmatched_filters_report(struct stage *stage, uint64_t selected, bool may_be_late, struct buf *out);

#endif
