/* Records of a trace that are written later, in their order: those of calls made since a baseline or scan of the
 * process was begun, whose records come first, so that a release finds its block in the trace; and those from the
 * first call on whose names are still being looked up. */
#ifndef FT_RECORD_DEFERRED_H
#define FT_RECORD_DEFERRED_H

#include "trace/event.h"

struct deferred;
struct named_address;

struct deferred *deferred_new(void);
/* From now on the records that are kept come after a mark, which a scan or baseline stands for; one mark at a time. */
void deferred_mark(struct deferred *deferred);
void deferred_unmark(struct deferred *deferred);
bool deferred_is_marked(const struct deferred *deferred);
/* Whether a record comes before the mark; without one, whether there is any. */
bool deferred_has_older(const struct deferred *deferred);
/* Keeps a copy of the record, after those before it, or right before the mark, with the names of a call's frames (NULL:
 * none are wanted; what they point to is not copied). False: it is not kept, for there are too many, or it is of a type
 * that only begins a trace. */
bool deferred_keep(struct deferred *deferred, const struct record *record, struct named_address *const *names,
		   bool before_mark);
/* The first record, which stays the queue's until deferred_drop(). NULL: there is none. */
const struct record *deferred_first(const struct deferred *deferred, struct named_address *const **names);
/* Forgets the first one. */
void deferred_drop(struct deferred *deferred);
void deferred_free(struct deferred *deferred);

#endif
