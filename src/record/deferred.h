/* A queue of records that are written to the trace later, in order. Records are queued for two reasons. While a
 * baseline or scan is made, calls are queued, because the records of the baseline or scan have to precede them.
 * Otherwise the release of a block could precede the record of the block in the baseline. And if the names of a call's
 * frames are still being looked up, that call and all records after it are queued. */
#ifndef FT_RECORD_DEFERRED_H
#define FT_RECORD_DEFERRED_H

#include "trace/event.h"

struct deferred;
struct named_address;

struct deferred *deferred_new(void);
/* Sets the queue's only mark to the end of the queue. Records of the baseline or scan will be inserted there. */
void deferred_mark(struct deferred *deferred);
void deferred_unmark(struct deferred *deferred);
bool deferred_is_marked(const struct deferred *deferred);
/* Returns true if there is a record before the mark. Without a mark, returns true if the queue is not empty. */
bool deferred_has_older(const struct deferred *deferred);
/* Inserts a copy of the record at the end of the queue or, with before_mark, right before the mark. names: the named
 * addresses of a call's frames, or NULL; only the pointers are copied. Returns false if the record is not queued,
 * because the queue is full or records of this type cannot be queued (those at the beginning of a trace). */
bool deferred_keep(struct deferred *deferred, const struct record *record, struct named_address *const *names,
		   bool before_mark);
/* Returns the first record, and sets *names to the named addresses of its frames, or NULL. The queue owns both; they
 * are valid until deferred_drop(). Returns NULL if the queue is empty. */
const struct record *deferred_first(const struct deferred *deferred, struct named_address *const **names);
/* Removes the first record. */
void deferred_drop(struct deferred *deferred);
void deferred_free(struct deferred *deferred);

#endif
