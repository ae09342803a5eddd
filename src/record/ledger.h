/* The live resources, and the order in which events may be written: see ledger.c. */
#ifndef FT_RECORD_LEDGER_H
#define FT_RECORD_LEDGER_H

#include "record/trace.h"

/* Begins the ledger of a trace, with nothing live; ledger_free() frees it. */
void ledger_init(struct trace *trace);
void ledger_free(struct trace *trace);
/* A fork's child has the parent's blocks, too. `to` has just been made. */
void ledger_fork(const struct trace *from, struct trace *to);

/* At an allocation's return. */
void ledger_allocated(struct trace *trace, const struct event *e);
/* At the entry of a release that cannot fail. Of ranges it gives up what there is of `extent` bytes from the id on, or,
 * where that is 0, the whole one; what is left at either end is written as allocated by this call. */
void ledger_released(struct trace *trace, const struct event *e);
/* The same of each live id from the event's to the last, which may be none. */
void ledger_released_between(struct trace *trace, const struct event *e, uint64_t last);
/* The id was live before the trace began. It is not in the trace, and its release is none of an unknown one. */
void ledger_existing(struct trace *trace, uint32_t resource, uint64_t id);
/* The blocks of a kind that were live before the trace are to be found out: what is released is kept from now on. */
void ledger_begin_baseline(struct trace *trace, uint32_t resource);
/* Whether one of a kind has begun, and not ended. */
bool ledger_awaits_baseline(const struct trace *trace);
/* The copy of the heap has been made that the baseline goes by; it may be made several times. */
void ledger_baseline_copied(struct trace *trace);
/* Takes that room for the live ids of the kind (hash_move()). */
void ledger_take_room(struct trace *trace, uint32_t resource, struct hash *room);
/* The id was live when the copy was made, though no call here had allocated it, or was about to. False: the ledger
 * knows it, or its release. What is entered is in the trace: the caller writes it. Where the trace's records wait
 * (put.h), that is also what was released since the copy. */
bool ledger_baseline(struct trace *trace, uint32_t resource, uint64_t id, uint64_t size);
/* The copy may have the id, but the program has not: it is not entered. Nothing while no baseline is pending. */
void ledger_baseline_without(struct trace *trace, uint32_t resource, uint64_t id);
/* is_complete: all blocks that the process had were in it. */
void ledger_end_baseline(struct trace *trace, uint32_t resource, bool is_complete);
/* Whether what was live before the trace is known, or will be when a pending baseline has ended. */
bool ledger_has_baseline(const struct trace *trace, uint32_t resource);
/* A call that neither allocates nor releases. */
void ledger_call(struct trace *trace, const struct event *e);

/* The live ids of a kind from one to another, in their order; NULL: none. The caller frees the array. */
uint64_t *ledger_ids_between(const struct trace *trace, uint32_t resource, uint64_t from, uint64_t last, size_t *count);
/* At the entry of a release that can fail. `owner`: what the caller finds it again by. The event's frames (the heap's)
 * become the reservation's. No program gives the same id up twice at a time: an older reservation of it is closed,
 * unless references of it are counted; it has succeeded if a publisher is in flight, which has given the id out anew.
 */
void ledger_reserve(struct trace *trace, struct reservation *reservation, const struct event *e, void *owner);
/* The release has succeeded, and is written with the time of what proves it. Does nothing if it is not open. */
void ledger_commit(struct trace *trace, struct reservation *reservation, uint64_t time_ns);
/* The release has failed, and is not written. Does nothing if it is not open. */
void ledger_withdraw(struct trace *trace, struct reservation *reservation);
/* The same, and it is known that the call has failed. */
void ledger_failed(struct trace *trace, struct reservation *reservation);
/* The open reservation of an id; NULL none. */
struct reservation *ledger_reserved(const struct trace *trace, uint32_t resource, uint64_t id);

/* A call whose id may be out before it returns is entered. */
void ledger_publisher_began(struct trace *trace, uint32_t resource);
/* Such a call is over: releases that waited for it are written. */
void ledger_publisher_done(struct trace *trace, uint32_t resource);

/* The function is going: what is held and names it is written. */
void ledger_forget_function(struct trace *trace, const struct traced *function);

/* The live ones of a kind now, in blocks and in units of its size (bytes); 0 before ledger_init(). */
struct live_total ledger_live(const struct trace *trace, uint32_t resource);
/* A copy of the heap has been made, in which a scan is going to find out what is lost while events come. */
void ledger_scan_copied(struct trace *trace);
/* That is over. */
void ledger_end_scan(struct trace *trace);
/* Calls back for each id of a kind that was live when the copy was made; without one, for each live id. */
void ledger_each_copied(const struct trace *trace, uint32_t resource,
			void (*callback)(void *context, uint64_t id, uint64_t size), void *context);
/* Whether the id is live, and was when the copy was made. */
bool ledger_knew(const struct trace *trace, uint32_t resource, uint64_t id);
/* A scan of a kind begins; it is known what is lost, or is not. Then what it finds lost. */
void ledger_scan(struct trace *trace, uint32_t resource, bool is_known);
void ledger_lost(struct trace *trace, uint32_t resource, uint64_t id, enum lost_kind kind);
/* What the last scan has found, if the trace has had no event since, or is parting. */
struct lost_total ledger_lost_total(const struct trace *trace, uint32_t resource);
/* What was odd with the releases of a kind; 0 before ledger_init(). */
struct kind_counts ledger_counts(const struct trace *trace, uint32_t resource);
/* Whether is_it() is true of any live id of a kind; before a fork counts, too. */
bool ledger_has_any(const struct trace *trace, uint32_t resource, bool (*is_it)(const void *context, uint64_t id),
		    const void *context);
/* Whether the id is live as far as the trace knows; before a fork counts, too. */
bool ledger_knows(const struct trace *trace, uint32_t resource, uint64_t id);
/* The same; of ranges, whether the id is an address within a live one. */
bool ledger_covers(const struct trace *trace, uint32_t resource, uint64_t id);
/* Whether the release gives up anything that is live. */
bool ledger_holds(const struct trace *trace, const struct event *e);
/* Whether it leaves a part of a range. */
bool ledger_leaves_rest(const struct trace *trace, const struct event *e);
/* The size of a live id; 0: it is not live, or has none. */
uint64_t ledger_size(const struct trace *trace, uint32_t resource, uint64_t id);
/* The number of the event that made an id live; 0: it is not, or that is not known. */
uint64_t ledger_made_by(const struct trace *trace, uint32_t resource, uint64_t id);
/* The live id was returned by an outer function too, of which its event says nothing: it may be released by the family
 * of either. */
void ledger_made_by_several(struct trace *trace, uint32_t resource, uint64_t id);
/* Keeps a number with an id of the kind, which need not be live; a fork's child has it too. */
void ledger_keep(struct trace *trace, uint32_t resource, uint64_t id, uint64_t number);
/* What was kept with an id. False: nothing was. */
bool ledger_kept(const struct trace *trace, uint32_t resource, uint64_t id, uint64_t *to);
/* Whether the last that the trace has of the id is a release. Many releases later that is forgotten. */
bool ledger_has_released(const struct trace *trace, uint32_t resource, uint64_t id);

#endif
