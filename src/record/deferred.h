/* Records of a trace that are written later: those of calls made since a census of the process was begun, whose records
 * come first. A release then finds its block in the trace. */
#ifndef FT_RECORD_DEFERRED_H
#define FT_RECORD_DEFERRED_H

#include "trace/event.h"

struct deferred;

struct deferred *deferred_new(void);
/* Keeps a copy of the record, after those before it. False: it is not kept, for there are too many, or it is of a type
 * by which later ones are understood: all are to be written now. */
bool deferred_keep(struct deferred *deferred, const struct record *record);
/* Calls back for each record in order, and frees all. */
void deferred_end(struct deferred *deferred, void (*put)(void *context, const struct record *record), void *context);

#endif
