/* The live resources, and the order in which events may be written: see ledger.c. */
#ifndef FT_RECORD_LEDGER_H
#define FT_RECORD_LEDGER_H

#include "record/trace.h"

/* Begins the ledger of a trace, with nothing live; ledger_free() frees it. */
void ledger_init(struct trace *trace);
void ledger_free(struct trace *trace);
/* Copies the live resources of a forking process to the ledger of its child, which has just been made. */
void ledger_fork(const struct trace *from, struct trace *to);

/* Records an allocation. To be called when it returns. */
void ledger_allocated(struct trace *trace, const struct event *e);
/* Records a release that cannot fail. To be called at its entry. Of ranges it releases what is live in the `extent`
 * bytes from the id on or, if `extent` is 0, the whole range; a part that remains at either end is written as allocated
 * by this call. */
void ledger_released(struct trace *trace, const struct event *e);
/* Does the same for each live id from the event's id to `last`. There may be none. */
void ledger_released_between(struct trace *trace, const struct event *e, uint64_t last);
/* Makes an id live that existed before the trace began. The trace does not contain it, and its release does not count
 * as one of an unknown id. */
void ledger_existing(struct trace *trace, uint32_t resource, uint64_t id);
/* Begins a baseline of a kind, which finds the blocks that were live before the trace. Until its end the ledger
 * remembers releases. */
void ledger_begin_baseline(struct trace *trace, uint32_t resource);
/* Returns whether the baseline of any kind has begun and not ended. */
bool ledger_awaits_baseline(const struct trace *trace);
/* To be called after each copy of the heap that is made for the baseline. */
void ledger_baseline_copied(struct trace *trace);
/* Moves the live ids of the kind to `room`, if that is larger (hash_move()). */
void ledger_take_room(struct trace *trace, uint32_t resource, struct hash *room);
/* Enters an id that is in the copy, and that no call of this trace has allocated or is allocating. Returns true if the
 * caller has to write it into the trace: it is entered or, while the trace's records wait (put_records.h), it was
 * released after the copy was made. Returns false if the ledger has the id already, or has its release. */
bool ledger_baseline(struct trace *trace, uint32_t resource, uint64_t id, uint64_t size);
/* Keeps an id out of the baseline, because the copy may contain it but the program has not allocated it. Does nothing
 * if no baseline is pending. */
void ledger_baseline_without(struct trace *trace, uint32_t resource, uint64_t id);
/* Ends the baseline of a kind. is_complete: it contains all blocks that the process had. */
void ledger_end_baseline(struct trace *trace, uint32_t resource, bool is_complete);
/* Returns whether the blocks from before the trace are known, or will be when a pending baseline has ended. */
bool ledger_has_baseline(const struct trace *trace, uint32_t resource);
/* Records a call that neither allocates nor releases. */
void ledger_call(struct trace *trace, const struct event *e);

/* Returns the live ids of a kind from `from` to `last`, in ascending order; NULL if there are none. The caller frees
 * them. */
uint64_t *ledger_ids_between(const struct trace *trace, uint32_t resource, uint64_t from, uint64_t last, size_t *count);
/* Reserves a release that can fail. To be called at its entry. `owner` is the call, which users of ledger_reserved()
 * get back. The reservation takes over the event's frames, which are on the heap. No program releases one id twice at a
 * time, so an older reservation of the id is closed, unless references of the id are counted. The older release has
 * succeeded if a publisher is in flight, which may have allocated the id again; otherwise it is withdrawn. */
void ledger_reserve(struct trace *trace, struct reservation *reservation, const struct event *e, void *owner);
/* Writes the release with the time of the proof that it has succeeded. Does nothing if the reservation is not open. */
void ledger_commit(struct trace *trace, struct reservation *reservation, uint64_t time_ns);
/* Closes the reservation without writing the release. Does nothing if it is not open. */
void ledger_withdraw(struct trace *trace, struct reservation *reservation);
/* Does the same for a release that has certainly failed; counts it if the id was released before. */
void ledger_failed(struct trace *trace, struct reservation *reservation);
/* Returns the open reservation of an id, or NULL. */
struct reservation *ledger_reserved(const struct trace *trace, uint32_t resource, uint64_t id);

/* Notes that a call has been entered whose id may be visible before it returns. */
void ledger_publisher_began(struct trace *trace, uint32_t resource);
/* Notes that such a call has ended. Writes the releases that need not wait any longer. */
void ledger_publisher_done(struct trace *trace, uint32_t resource);

/* Writes the held releases that name the function. To be called before the function is freed. */
void ledger_forget_function(struct trace *trace, const struct traced *function);

/* Returns how much of a kind is live, in blocks and in units of its size (bytes); 0 before ledger_init(). */
struct live_total ledger_live(const struct trace *trace, uint32_t resource);
/* Notes that the heap was copied, and that a scan will look for lost blocks in the copy while events come. */
void ledger_scan_copied(struct trace *trace);
/* Notes that this scan has ended. */
void ledger_end_scan(struct trace *trace);
/* Calls back for each id of a kind that was live when the heap was copied or, without a copy, for each live id. */
void ledger_each_copied(const struct trace *trace, uint32_t resource,
			void (*callback)(void *context, uint64_t id, uint64_t size), void *context);
/* Returns whether the id is live and was live when the heap was copied. */
bool ledger_knew(const struct trace *trace, uint32_t resource, uint64_t id);
/* Resets the result of the scan of a kind. is_known: the scan knows which ids are lost; ledger_lost() then adds each of
 * them. */
void ledger_scan(struct trace *trace, uint32_t resource, bool is_known);
/* Adds a lost id to the result of the scan, except a possibly lost one. */
void ledger_lost(struct trace *trace, uint32_t resource, uint64_t id, enum lost_kind kind);
/* Returns the result of the last scan; 0 if the trace has had an event since and is not parting. */
struct lost_total ledger_lost_total(const struct trace *trace, uint32_t resource);
/* Returns the counts of unusual releases of a kind; 0 before ledger_init(). */
struct kind_counts ledger_counts(const struct trace *trace, uint32_t resource);
/* Returns whether is_it() is true of any live id of a kind. Ids from before a fork are live, too. */
bool ledger_has_any(const struct trace *trace, uint32_t resource, bool (*is_it)(const void *context, uint64_t id),
		    const void *context);
/* Returns whether the id is live as far as the ledger can tell. Ids from before a fork are live, too. */
bool ledger_knows(const struct trace *trace, uint32_t resource, uint64_t id);
/* Returns the same; for ranges, also whether the id is an address inside a live range. */
bool ledger_covers(const struct trace *trace, uint32_t resource, uint64_t id);
/* Returns whether the release releases anything that is live. */
bool ledger_holds(const struct trace *trace, const struct event *e);
/* Returns whether the release leaves a part of a range live. */
bool ledger_leaves_rest(const struct trace *trace, const struct event *e);
/* Returns the size of a live id; 0 if the id is not live or has no size. */
uint64_t ledger_size(const struct trace *trace, uint32_t resource, uint64_t id);
/* Returns the number of the event that allocated a live id; 0 if the id is not live or the number is unknown. */
uint64_t ledger_made_by(const struct trace *trace, uint32_t resource, uint64_t id);
/* Notes that an outer function has returned the live id, too, which the event of the id does not say. Functions of
 * either family may release it. */
void ledger_made_by_several(struct trace *trace, uint32_t resource, uint64_t id);
/* Stores a number with an id of the kind, which need not be live. A fork's child has the number, too. */
void ledger_keep(struct trace *trace, uint32_t resource, uint64_t id, uint64_t number);
/* Gets the number that was stored with an id. Returns false if there is none. */
bool ledger_kept(const struct trace *trace, uint32_t resource, uint64_t id, uint64_t *to);
/* Returns whether the id is not live and has been released. The ledger forgets a release after many others. */
bool ledger_has_released(const struct trace *trace, uint32_t resource, uint64_t id);

#endif
