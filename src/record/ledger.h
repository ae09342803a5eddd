/* The live resources of a trace, and the order in which events may be written. ledger.c explains the order. */
#ifndef FT_RECORD_LEDGER_H
#define FT_RECORD_LEDGER_H

#include "record/trace.h"

/* Initialises the ledger of a trace, without live resources. ledger_free() frees it. */
void ledger_init(struct trace *trace);
void ledger_free(struct trace *trace);
/* Copies the live resources of a forking process to the empty ledger of its child. */
void ledger_fork(const struct trace *from, struct trace *to);

/* Records an allocation. To be called when the call returns. */
void ledger_allocated(struct trace *trace, const struct event *e);
/* Records a release that cannot fail. To be called at the entry of the call. For ranges, releases all live ranges in
 * the `extent` bytes from the id on or, if `extent` is 0, the whole range. A part that remains at either end is written
 * as an allocation by this call. */
void ledger_released(struct trace *trace, const struct event *e);
/* Does the same as ledger_released() for each live id from the event's id to `last`. */
void ledger_released_between(struct trace *trace, const struct event *e, uint64_t last);
/* Adds to the live set an id that was allocated before the trace began. Nothing is written to the trace; the later
 * release of the id is not counted as the release of an unknown id. */
void ledger_existing(struct trace *trace, uint32_t resource, uint64_t id);
/* Begins a baseline of a kind. A baseline finds the blocks that were live before the trace. The ledger remembers
 * releases until the baseline ends. */
void ledger_begin_baseline(struct trace *trace, uint32_t resource);
/* Returns true if a baseline of any kind has begun and not ended. */
bool ledger_awaits_baseline(const struct trace *trace);
/* Counts a copy of the heap, so that releases before the copy can be distinguished from releases after it. To be called
 * after each copy for a baseline. */
void ledger_baseline_copied(struct trace *trace);
/* Moves the live ids of the kind to the hash table `room` if that table is larger (hash_move()). */
void ledger_take_room(struct trace *trace, uint32_t resource, struct hash *room);
/* Adds to the live set an id that is in the copy of the heap, if no call of this trace has allocated it or is
 * allocating it. Returns true if the caller has to write the id into the trace. This is so if the id was added, or if
 * it was released after the copy was made and the record of the release is still deferred (put_records.h). Returns
 * false if the id is live already, or was released earlier. */
bool ledger_baseline(struct trace *trace, uint32_t resource, uint64_t id, uint64_t size);
/* Excludes an id from the baseline. To be called if the copy of the heap may show a block at this id that the program
 * has not allocated. Does nothing if no baseline is pending. */
void ledger_baseline_without(struct trace *trace, uint32_t resource, uint64_t id);
/* Ends the baseline of a kind. is_complete: the baseline contains all blocks that the process had. */
void ledger_end_baseline(struct trace *trace, uint32_t resource, bool is_complete);
/* Returns true if a complete baseline of the kind has ended, or one is pending: the blocks from before the trace are
 * then known or will be. */
bool ledger_has_baseline(const struct trace *trace, uint32_t resource);
/* Writes a call that neither allocates nor releases. */
void ledger_call(struct trace *trace, const struct event *e);

/* Returns the live ids of a kind from `from` to `last`, in ascending order; NULL if there are none. The caller frees
 * them. */
uint64_t *ledger_ids_between(const struct trace *trace, uint32_t resource, uint64_t from, uint64_t last, size_t *count);
/* Reserves a release that can fail. To be called at the entry of the call. owner: the call, stored in
 * reservation->owner. The reservation takes ownership of e->frames, which must be allocated by malloc. If references
 * are not counted, closes an older reservation of the same id, because two calls do not release one id at the same
 * time. The older release is committed if a publisher in flight may have allocated the id again, else withdrawn. */
void ledger_reserve(struct trace *trace, struct reservation *reservation, const struct event *e, void *owner);
/* Closes the reservation and writes its release, which is proved to have succeeded. time_ns: the time of that proof.
 * While publishers are in flight, the release of an unknown id may be held first (ledger.c). Does nothing if the
 * reservation is not open. */
void ledger_commit(struct trace *trace, struct reservation *reservation, uint64_t time_ns);
/* Closes the reservation without writing the release. Does nothing if it is not open. */
void ledger_withdraw(struct trace *trace, struct reservation *reservation);
/* Does the same as ledger_withdraw() for a release that has failed. Counts the release as failed_again if the id was
 * released before, and the function can fail only for ids that are not live (fails_unknown). */
void ledger_failed(struct trace *trace, struct reservation *reservation);
/* Returns the open reservation of an id, or NULL. */
struct reservation *ledger_reserved(const struct trace *trace, uint32_t resource, uint64_t id);

/* Notes that a publisher is in flight: a call whose id other threads may see before the call returns. To be called at
 * the entry of the call. */
void ledger_publisher_began(struct trace *trace, uint32_t resource);
/* Notes that a publisher's call has ended, and writes the held releases that need not wait any longer. */
void ledger_publisher_done(struct trace *trace, uint32_t resource);

/* Writes the held releases that refer to the function. To be called before the function is freed. */
void ledger_forget_function(struct trace *trace, const struct traced *function);

/* Returns the numbers of live resources of a kind, and the sums of their sizes: newer and older ones separately.
 * Returns zeros before ledger_init(). */
struct live_total ledger_live(const struct trace *trace, uint32_t resource);
/* To be called when the heap was copied for a scan. From now on the ledger remembers which blocks are allocated and
 * released, because the scan examines the copy while the program runs. */
void ledger_scan_copied(struct trace *trace);
/* To be called when the scan has ended. The ledger then no longer remembers which blocks are allocated and released. */
void ledger_end_scan(struct trace *trace);
/* Calls callback() for each id of a kind that was live when the heap was copied. Without a copy, calls it for each live
 * id. */
void ledger_each_copied(const struct trace *trace, uint32_t resource,
			void (*callback)(void *context, uint64_t id, uint64_t size), void *context);
/* Returns true if the id is live and was live when the heap was copied. */
bool ledger_knew(const struct trace *trace, uint32_t resource, uint64_t id);
/* Begins the result of a new scan of a kind. is_known: the scan has a result for the kind; ledger_lost() then has to be
 * called for each lost id. */
void ledger_scan(struct trace *trace, uint32_t resource, bool is_known);
/* Adds a lost id to the result of the scan. Possibly lost ids are ignored. */
void ledger_lost(struct trace *trace, uint32_t resource, uint64_t id, enum lost_kind kind);
/* Returns the result of the last scan; returns zeros if an event came after the scan, because the result may have
 * changed. If trace->is_parting is set, returns the result in any case, because only the ends of calls in flight come
 * after the last scan. */
struct lost_total ledger_lost_total(const struct trace *trace, uint32_t resource);
/* Returns the counters of unusual calls of a kind; 0 before ledger_init(). */
struct kind_counts ledger_counts(const struct trace *trace, uint32_t resource);
/* Returns true if is_it() returns true for any live id of a kind. Ids from before a fork are included. */
bool ledger_has_any(const struct trace *trace, uint32_t resource, bool (*is_it)(const void *context, uint64_t id),
		    const void *context);
/* Returns true if the id is in the live set. Ids from before a fork are included. */
bool ledger_knows(const struct trace *trace, uint32_t resource, uint64_t id);
/* Returns true if the id is in the live set or, for ranges, if it is an address inside a live range. */
bool ledger_covers(const struct trace *trace, uint32_t resource, uint64_t id);
/* Returns true if the release is of a live id or, for ranges, of a part of a live range. */
bool ledger_holds(const struct trace *trace, const struct event *e);
/* Returns true if the release leaves a part of a live range live. Returns false for kinds that are not ranges. */
bool ledger_leaves_rest(const struct trace *trace, const struct event *e);
/* Returns the size of a live id; 0 if the id is not live or has no size. */
uint64_t ledger_size(const struct trace *trace, uint32_t resource, uint64_t id);
/* Returns the number of the event that allocated a live id; 0 if the id is not live or the number is unknown. */
uint64_t ledger_made_by(const struct trace *trace, uint32_t resource, uint64_t id);
/* To be called when an outer function returns an id that an inner call has allocated, if the allocation was written as
 * the inner call's event. Forgets the allocating function, because functions of the inner or of the outer function's
 * family may release the id. */
void ledger_made_by_several(struct trace *trace, uint32_t resource, uint64_t id);
/* Stores a number with an id of the kind. The id need not be live. A fork's child inherits the number. */
void ledger_keep(struct trace *trace, uint32_t resource, uint64_t id, uint64_t number);
/* Sets *to to the number that was stored with an id. Returns false if there is none. */
bool ledger_kept(const struct trace *trace, uint32_t resource, uint64_t id, uint64_t *to);
/* Returns true if the id is not live and was released. Old releases are forgotten, so this may return false for
 * them. */
bool ledger_has_released(const struct trace *trace, uint32_t resource, uint64_t id);

#endif
