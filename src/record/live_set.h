/* The live ids of a kind, with what is known of each. ledger.c decides in which order events change them. */
#ifndef FT_RECORD_LIVE_SET_H
#define FT_RECORD_LIVE_SET_H

#include "record/released_blocks.h"

/* Returns the live set of the kind to which the event's function belongs. */
static inline struct live_set *live_of(const struct trace *trace, const struct event *e)
{
	return &trace->ledger.live[e->function->resource];
}

void live_free(struct live_set *live);
/* Copies the live set of a forking process to its child's, which must be empty. All copied ids are older than the
 * child's trace. Copies nothing of a kind that a child does not inherit. */
void live_fork(const struct live_set *from, struct live_set *to);

/* Makes the event's id live. The event must be the one that was written last. Counts an id that was live already as
 * `reused`. */
void live_add(struct trace *trace, const struct event *e);
/* Makes an id live that existed before the trace began. Does nothing if it is live already. */
void live_add_existing(struct live_set *live, uint64_t id);
/* Does the same for an id of a baseline. Returns false if it is live already, or was released since the baseline
 * began. */
bool live_add_baseline(struct live_set *live, uint64_t id, uint64_t size);
#define RELEASE_FINAL UINT64_MAX

/* Notes a release while a baseline is pending; only the first release of an id counts. `how` is live->copies, or
 * RELEASE_FINAL if no copy of the heap may bring the id back, because its allocation is in the trace or it was never
 * the program's. */
void live_note_release(struct live_set *live, uint64_t id, uint64_t how);
/* Returns whether the id was allocated before the trace and released since the newest copy was made. Returns true only
 * once. */
bool live_has_released_since(struct live_set *live, uint64_t id);
/* Removes the id and returns its last state. Returns false if it was not live. */
bool live_remove(struct live_set *live, uint64_t id, struct live_block *block);

/* Forgets which function allocated the live id. */
void live_forget_maker(struct live_set *live, uint64_t id);

/* Returns whether references are counted (RESOURCE_REFCOUNT): an allocation of a live id adds one, a release takes one,
 * and the last release ends the id. The trace of a fork's child does not contain older allocations, so the first
 * allocation there counts as the first reference. */
static inline bool live_is_counted(const struct live_set *live)
{
	return live->kind->flags & RESOURCE_REFCOUNT;
}
/* Adds a reference. Returns false if the id is not live, is from before the fork, or its references are not counted. */
bool live_add_reference(struct live_set *live, uint64_t id);
/* Takes a reference. Returns false if it was the last one, or references are not counted. */
bool live_take_reference(struct live_set *live, uint64_t id);

/* A live range, in whole pages. */
struct live_range {
	uint64_t start, end;
};

/* Returns the live ranges that contain any byte from `start` to `end` - 1, sorted by address; NULL if there are none.
 * The caller frees them. */
struct live_range *live_ranges(const struct live_set *live, uint64_t start, uint64_t end, size_t *count);
/* Returns the end of what the event releases of a range, rounded up to a page. */
uint64_t live_range_end(const struct live_set *live, const struct event *e);

#endif
