/* Reports filters that match nothing. Without a report, the output would look like that of a trace without leaks. */
#ifndef FT_ANALYSIS_SELECT_UNMATCHED_FILTERS_H
#define FT_ANALYSIS_SELECT_UNMATCHED_FILTERS_H

#include "analysis/select/select.h"
#include "base/buf.h"

/* Makes the stage. It reads all calls of the trace, before leaks are selected from them, and passes on everything.
 * `options` are those of the selection; what they point to outlives the stage. */
struct stage *unmatched_filters_new(struct stage *next, const struct select_options *options);

/* Notes an object in which --call-address may choose addresses, like select_learn(). */
void unmatched_filters_learn(struct stage *stage, const struct record_object *object);

/* After the end: appends a line to `out` for each filter that has matched nothing. selected: calls that the selection
 * has let through. may_be_late: objects may be declared after calls that go through them, and were not looked up
 * beforehand. */
void unmatched_filters_report(const struct stage *stage, uint64_t selected, bool may_be_late, struct buf *out);

#endif
