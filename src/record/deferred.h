/* A queue of a trace's records that are written later, in their order. Records wait for two reasons. While a baseline
 * or scan is made, calls wait, because the records of the baseline or scan come first: a release must find its block in
 * the trace. And if the names of a call's frames are still being looked up, that call and all records after it wait. */
#ifndef FT_RECORD_DEFERRED_H
#define FT_RECORD_DEFERRED_H

#include "trace/event.h"

struct deferred;
struct named_address;

struct deferred *deferred_new(void);
/* Sets the mark at the queue's end: the place for the records of a baseline or scan. There is one mark at a time. */
void deferred_mark(struct deferred *deferred);
void deferred_unmark(struct deferred *deferred);
bool deferred_is_marked(const struct deferred *deferred);
/* Returns whether a record is before the mark or, without a mark, whether there is any record. */
bool deferred_has_older(const struct deferred *deferred);
/* Keeps a copy of the record at the queue's end or, with before_mark, right before the mark. `names` are those of a
 * call's frames, or NULL if none are wanted; what they point to is not copied. Returns false if the record is not kept,
 * because the queue is full or records like this cannot wait, for example those with which a trace begins. */
bool deferred_keep(struct deferred *deferred, const struct record *record, struct named_address *const *names,
		   bool before_mark);
/* Returns the first record, which the queue owns until deferred_drop(), and its names; NULL if the queue is empty. */
const struct record *deferred_first(const struct deferred *deferred, struct named_address *const **names);
/* Removes the first record. */
void deferred_drop(struct deferred *deferred);
void deferred_free(struct deferred *deferred);

#endif
