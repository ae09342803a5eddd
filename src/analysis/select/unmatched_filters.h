/* Whether what was asked for exists in the trace: a choice that matches nothing would look like a trace without
 * faults. */
#ifndef FT_ANALYSIS_SELECT_UNMATCHED_FILTERS_H
#define FT_ANALYSIS_SELECT_UNMATCHED_FILTERS_H

#include "analysis/select/select.h"
#include "base/buf.h"

/* Watches all calls of the trace, before leaks are looked for among them, and hands everything on. `options` are
 * those of the selection; what they point at outlives the stage. */
struct stage *unmatched_filters_new(struct stage *next, const struct select_options *options);

/* Takes note of an object in which --call-address may choose addresses, as select_learn() does. */
void unmatched_filters_learn(struct stage *stage, const struct record_object *object);

/* After the end: appends a sentence about each choice that matched nothing to `out`, a line each. `selected` is how
 * many calls the selection let through; `may_be_late`: objects may be declared behind the calls that go through them,
 * and were not looked for before. */
void unmatched_filters_report(const struct stage *stage, uint64_t selected, bool may_be_late, struct buf *out);

#endif
