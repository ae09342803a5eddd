/* What is live of a kind: the ids, and what is known of each. In which order events change that is ledger.c's. */
#ifndef FT_RECORD_LIVE_SET_H
#define FT_RECORD_LIVE_SET_H

#include "record/released_blocks.h"

/* Those of the kind of the event's function. */
static inline struct live_set *live_of(const struct trace *trace, const struct event *e)
{
	return &trace->ledger.live[e->function->resource];
}

void live_free(struct live_set *live);
/* What a fork's child has from its parent, into an empty set: all of it is older. Of some kinds it has nothing. */
void live_fork(const struct live_set *from, struct live_set *to);

/* What the event has allocated is live from now on; its event is the one that was written last. An id that was live is
 * counted in `reused`. */
void live_add(struct trace *trace, const struct event *e);
/* It was there before the trace began. Nothing if it is known. */
void live_add_existing(struct live_set *live, uint64_t id);
/* The same, from a baseline. False: it is known, or was released since the baseline has begun. */
bool live_add_baseline(struct live_set *live, uint64_t id, uint64_t size);
#define RELEASE_FINAL UINT64_MAX

/* An id was released while a baseline is pending; `how`: live->copies, or RELEASE_FINAL: no copy that has the id brings
 * it back, for its allocation is in the trace, or it never was the program's. The first release counts. */
void live_note_release(struct live_set *live, uint64_t id, uint64_t how);
/* Whether it was released since the newest copy was made, and had been allocated before the trace. Once. */
bool live_has_released_since(struct live_set *live, uint64_t id);
/* It is not live any more: what it was. False: it was not. */
bool live_remove(struct live_set *live, uint64_t id, struct released_block *block);

/* By which function the live id was made is not known any more. */
void live_forget_maker(struct live_set *live, uint64_t id);

/* References that are counted (RESOURCE_REFCOUNT): an allocation of a live id adds one, a release takes one, and the
 * last one ends it. One from before the fork is not in this trace, so the first allocation here is its first. */
static inline bool live_is_counted(const struct live_set *live)
{
	return live->kind->flags & RESOURCE_REFCOUNT;
}
/* False: the id is not live, or its references are not counted. */
bool live_add_reference(struct live_set *live, uint64_t id);
/* False: it was the last one. */
bool live_take_reference(struct live_set *live, uint64_t id);

/* A live range, in whole pages. */
struct live_range {
	uint64_t start, end;
};

/* The live ranges that have any byte from `start` to below `end`, by their addresses; the caller frees them. NULL of
 * none. */
struct live_range *live_ranges(const struct live_set *live, uint64_t start, uint64_t end, size_t *count);
/* Where what the event gives up of a range ends. */
uint64_t live_range_end(const struct live_set *live, const struct event *e);

#endif
