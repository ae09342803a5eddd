/* The live ids of a kind of resource, with data about each. ledger.c decides in which order events change the set. */
#ifndef FT_RECORD_LIVE_SET_H
#define FT_RECORD_LIVE_SET_H

#include "record/released_blocks.h"

/* Returns the live set of the kind to which the event's function belongs. */
static inline struct live_set *live_of(const struct trace *trace, const struct event *e)
{
	return &trace->ledger.live[e->function->resource];
}

void live_free(struct live_set *live);
/* Copies the live set of a forking process to the empty set of its child. The copied ids are marked as older than the
 * child's trace. Copies nothing if a child does not inherit resources of this kind. */
void live_fork(const struct live_set *from, struct live_set *to);

/* Adds the event's id to the live set. The event must be the last one that was written. If the id is live already,
 * replaces it, and counts it as `reused` unless a listing or a baseline has added it. */
void live_add(struct trace *trace, const struct event *e);
/* Adds to the live set an id that was allocated before the trace began. Does nothing if it is live already. */
void live_add_existing(struct live_set *live, uint64_t id);
/* Adds to the live set an id that a baseline has found. Returns false and does nothing if the id is live already, or
 * was released after the baseline began. */
bool live_add_baseline(struct live_set *live, uint64_t id, uint64_t size);
#define RELEASE_FINAL UINT64_MAX

/* Remembers a release while a baseline is pending. Only the first release of an id is remembered. how: live->copies,
 * the number of copies of the heap that were made before the release; or RELEASE_FINAL if the baseline must never add
 * the id, because the trace contains its allocation, or because the program never allocated it. */
void live_note_release(struct live_set *live, uint64_t id, uint64_t how);
/* Returns true if the id was allocated before the trace, and released after the newest copy of the heap was made.
 * Returns true only once for each id. */
bool live_has_released_since(struct live_set *live, uint64_t id);
/* Removes the id from the live set, and sets *block to its data. Returns false if it was not live. */
bool live_remove(struct live_set *live, uint64_t id, struct live_block *block);

/* Sets the allocating function of a live id to unknown. */
void live_forget_maker(struct live_set *live, uint64_t id);

/* Returns true if references are counted (RESOURCE_REFCOUNT): an allocation of a live id adds a reference, a release
 * removes one, and the id is live until its last reference is removed. The trace of a fork's child does not contain
 * older allocations, so the first allocation in the child is the first reference. */
static inline bool live_is_counted(const struct live_set *live)
{
	return live->kind->flags & RESOURCE_REFCOUNT;
}
/* Adds a reference to a live id, and returns true. Does nothing and returns false if references are not counted. If the
 * id is not live or is older than the trace, returns false, too, and forgets references beyond the first one, so that
 * live_add() begins with one reference. */
bool live_add_reference(struct live_set *live, uint64_t id);
/* Removes a reference. Returns false and does nothing if it is the last one, or if references are not counted. */
bool live_take_reference(struct live_set *live, uint64_t id);

/* A live range; `start` and `end` are multiples of the page size. */
struct live_range {
	uint64_t start, end;
};

/* Returns the live ranges that contain any byte from `start` to `end` - 1, sorted by address; NULL if there are none.
 * The caller frees them. */
struct live_range *live_ranges(const struct live_set *live, uint64_t start, uint64_t end, size_t *count);
/* Returns the end address of the range that the event releases, rounded up to a page. */
uint64_t live_range_end(const struct live_set *live, const struct event *e);

#endif
