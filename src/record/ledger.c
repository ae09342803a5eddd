#include "config.h"
#include "record/ledger.h"
#include "record/resource_ids.h"
#include "record/live_set.h"
#include "record/trace_output.h"
#include "record/commit.h"
#include "record/run.h"
#include "trace/event.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the live resources of a trace, and decides in which order events are written.
 *
 * A release is recorded at its entry and an allocation at its return. So a release precedes the next allocation of the
 * same id, because another thread can get the id only after the releasing thread has continued from its stop.
 *
 * A release that can fail (realloc) is reserved at its entry. The release is committed when it is proved to have
 * succeeded: when its call returns, when a nested call releases the id, or when another call returns the same id:
 *
 *	A: realloc(p) enters | A frees p inside | B: malloc returns p | A: realloc returns q
 *
 * Other threads may see an id before the allocating call returns (posix_memalign stores the pointer first). Such a call
 * is a publisher. So while publishers are in flight, the release of an unknown id is held until they have returned. */

#define HELD_MAX 1024

struct held_release {
	struct event event; /* freed by event_free() */
	struct held_release *next;
};

/* ---- The whole ledger ---- */

static uint32_t kind_end(const struct trace *trace)
{
	return kinds_end(trace->run->set);
}

void ledger_init(struct trace *trace)
{
	trace->ledger.live = xcalloc(kind_end(trace), sizeof(*trace->ledger.live));
	for (uint32_t id = 1; id < kind_end(trace); id++)
		trace->ledger.live[id].kind = kind_of(trace->run->set, id);
	trace->ledger.held_end = &trace->ledger.held;
}

void ledger_free(struct trace *trace)
{
	struct ledger *ledger = &trace->ledger;

	functions_forget_last(trace->run);
	for (uint32_t i = 0; ledger->live && i < kind_end(trace); i++)
		live_free(&ledger->live[i]);
	free(ledger->live);
	ledger->live = NULL;
	ledger->reserved = ledger->held_count = 0;
	while (ledger->held) {
		struct held_release *next = ledger->held->next;

		event_free(&ledger->held->event);
		free(ledger->held);
		ledger->held = next;
	}
}

void ledger_fork(const struct trace *from, struct trace *to)
{
	for (uint32_t r = 1; r < kind_end(from); r++)
		live_fork(&from->ledger.live[r], &to->ledger.live[r]);
}

void ledger_existing(struct trace *trace, uint32_t resource, uint64_t id)
{
	commit_about_to_change(trace);
	live_add_existing(&trace->ledger.live[resource], id);
}

/* ---- Queries ---- */

bool ledger_has_any(const struct trace *trace, uint32_t resource, bool (*is_it)(const void *context, uint64_t id),
		    const void *context)
{
	const struct hash_entry *entry;

	for (size_t i = 0; trace->ledger.live && (entry = hash_next(&trace->ledger.live[resource].blocks, &i));)
		if (is_it(context, entry->key))
			return true;
	return false;
}

bool ledger_knows(const struct trace *trace, uint32_t resource, uint64_t id)
{
	return hash_get(&trace->ledger.live[resource].blocks, id) != NULL;
}

bool ledger_has_released(const struct trace *trace, uint32_t resource, uint64_t id)
{
	return !ledger_knows(trace, resource, id) && releases_find(&trace->ledger.live[resource], id);
}

bool ledger_covers(const struct trace *trace, uint32_t resource, uint64_t id)
{
	const struct live_set *live = &trace->ledger.live[resource];
	size_t count = 0;

	if (live->kind->is_range)
		free(live_ranges(live, id, add_saturated(id, 1), &count));
	return count || ledger_knows(trace, resource, id);
}

bool ledger_holds(const struct trace *trace, const struct event *e)
{
	const struct live_set *live = live_of(trace, e);
	size_t count = 0;

	if (!live->kind->is_range)
		return ledger_knows(trace, e->function->resource, e->id);
	free(live_ranges(live, e->id, live_range_end(live, e), &count));
	return count;
}

bool ledger_leaves_rest(const struct trace *trace, const struct event *e)
{
	const struct live_set *live = live_of(trace, e);
	size_t count;

	if (!live->kind->is_range)
		return false;
	const uint64_t end = live_range_end(live, e);
	struct live_range *ranges = live_ranges(live, e->id, end, &count);
	const bool is_rest = count && (ranges[0].start < e->id || ranges[count - 1].end > end);
	free(ranges);
	return is_rest;
}

uint64_t ledger_size(const struct trace *trace, uint32_t resource, uint64_t id)
{
	const uint64_t *packed = hash_get(&trace->ledger.live[resource].blocks, id);

	return packed ? block_unpack(*packed).size : 0;
}

uint64_t ledger_made_by(const struct trace *trace, uint32_t resource, uint64_t id)
{
	const uint64_t *packed = hash_get(&trace->ledger.live[resource].blocks, id);

	return packed ? block_unpack(*packed).event : 0;
}

void ledger_made_by_several(struct trace *trace, uint32_t resource, uint64_t id)
{
	commit_about_to_change(trace);
	live_forget_maker(&trace->ledger.live[resource], id);
}

void ledger_keep(struct trace *trace, uint32_t resource, uint64_t id, uint64_t number)
{
	commit_about_to_change(trace);
	hash_set(&trace->ledger.live[resource].kept, id, number);
}

bool ledger_kept(const struct trace *trace, uint32_t resource, uint64_t id, uint64_t *to)
{
	const uint64_t *kept = hash_get(&trace->ledger.live[resource].kept, id);

	if (kept)
		*to = *kept;
	return kept;
}

struct kind_counts ledger_counts(const struct trace *trace, uint32_t resource)
{
	return trace->ledger.live ? trace->ledger.live[resource].counts : (struct kind_counts){0};
}

struct live_total ledger_live(const struct trace *trace, uint32_t resource)
{
	if (!trace->ledger.live)
		return (struct live_total){0};
	const struct live_set *live = &trace->ledger.live[resource];

	return (struct live_total){.blocks = live->blocks.count - live->older,
				   .bytes = live->bytes - live->older_bytes,
				   .older = live->older,
				   .older_bytes = live->older_bytes,
				   .baseline_is_written = live->baseline_is_written};
}

/* ---- Allocations ---- */

/* Returns true if the release has to be held: its id is unknown, and a publisher in flight may have allocated it. */
static bool must_wait(const struct trace *trace, const struct event *e)
{
	return live_of(trace, e)->publishers && !ledger_knows(trace, e->function->resource, e->id);
}

/* Returns a reservation that overlaps the range, or NULL. */
static struct reservation *reserved_in(const struct live_set *live, const struct event *e)
{
	HASH_EACH_PTR(struct reservation, reservation, &live->reserved)
		if (reservation->event.id < add_saturated(e->id, e->size) &&
		    live_range_end(live, &reservation->event) > e->id)
			return reservation;
	return NULL;
}

/* Commits the reserved releases of the id or range that the event allocates. They must have succeeded, because
 * otherwise the id could not be allocated again. */
static void commit_proven(struct trace *trace, const struct event *e)
{
	const struct live_set *live = live_of(trace, e);
	struct reservation *reservation;

	if (!live->kind->is_range) {
		reservation = hash_get_ptr(&live->reserved, e->id);
		/* If a publisher is in flight and the id is not live, this may be the publisher's allocation, and
		 * another thread may have reserved the release of this very block. The allocation does not prove that
		 * release. */
		if (reservation && !must_wait(trace, e))
			ledger_commit(trace, reservation, e->time_ns);
		return;
	}
	while ((reservation = reserved_in(live, e)))
		ledger_commit(trace, reservation, e->time_ns);
}

void ledger_allocated(struct trace *trace, const struct event *e)
{
	if (live_of(trace, e)->reserved.count)
		commit_proven(trace, e);
	commit_allocation(trace, e);
}

void ledger_call(struct trace *trace, const struct event *e)
{
	output_call(trace, e, CALL_COPY);
}

/* ---- Releases that are held while publishers are in flight ---- */

/* Writes a held release and removes it from the list. Afterwards *link is the next held release. */
static void write_held(struct trace *trace, struct held_release **link)
{
	struct held_release *held = *link;

	*link = held->next;
	commit_release(trace, &held->event);
	event_free(&held->event);
	free(held);
	trace->ledger.held_count--;
}

static int ledger_compare_ids(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return compare_u64(one, other);
}

/* Appends the release to the list of held releases. Takes ownership of e->frames and of the references to the thread
 * and the arguments. */
static void ledger_hold(struct trace *trace, const struct event *e)
{
	struct ledger *ledger = &trace->ledger;
	struct held_release *held = xcalloc(1, sizeof(*held));

	held->event = *e;
	*ledger->held_end = held;
	ledger->held_end = &held->next;
	/* A publisher that never returns (a longjmp out of posix_memalign) must not hold releases for ever. So if the
	 * list is too long, the first release is written. */
	if (++ledger->held_count <= HELD_MAX)
		return;
	write_held(trace, &ledger->held);
	if (!ledger->held)
		ledger->held_end = &ledger->held;
}

void ledger_released(struct trace *trace, const struct event *e)
{
	if (!must_wait(trace, e)) {
		commit_release(trace, e);
		return;
	}
	const struct event own = event_copy(e);

	ledger_hold(trace, &own);
}

uint64_t *ledger_ids_between(const struct trace *trace, uint32_t resource, uint64_t from, uint64_t last, size_t *count)
{
	uint64_t *const ids =
		hash_keys_between(&trace->ledger.live[resource].blocks, from, add_saturated(last, 1), count);

	if (ids)
		qsort(ids, *count, sizeof(*ids), ledger_compare_ids);
	return ids;
}

void ledger_released_between(struct trace *trace, const struct event *e, uint64_t last)
{
	size_t count;
	uint64_t *const ids = ledger_ids_between(trace, e->function->resource, e->id, last, &count);
	for (size_t i = 0; i < count; i++) {
		struct event one = *e;

		one.id = ids[i];
		ledger_released(trace, &one);
	}
	free(ids);
}

void ledger_publisher_began(struct trace *trace, uint32_t resource)
{
	trace->ledger.live[resource].publishers++;
}

void ledger_publisher_done(struct trace *trace, uint32_t resource)
{
	struct held_release **link = &trace->ledger.held;

	trace->ledger.live[resource].publishers--;
	while (*link) {
		if (must_wait(trace, &(*link)->event))
			link = &(*link)->next;
		else
			write_held(trace, link);
	}
	trace->ledger.held_end = link;
}

void ledger_forget_function(struct trace *trace, const struct traced *function)
{
	struct held_release **link = &trace->ledger.held;

	functions_forget_last(trace->run);
	while (*link) {
		if ((*link)->event.function == function)
			write_held(trace, link);
		else
			link = &(*link)->next;
	}
	trace->ledger.held_end = link;
}

/* ---- Releases that can fail ---- */

/* Removes the reservation from the hash table and closes it. Returns its event, which the caller then owns. */
static struct event unreserve(struct trace *trace, struct reservation *reservation)
{
	const struct event e = reservation->event;
	struct live_set *live = live_of(trace, &e);

	if (hash_get_ptr(&live->reserved, e.id) == reservation) {
		hash_remove(&live->reserved, e.id, NULL);
		trace->ledger.reserved--;
	}
	*reservation = (struct reservation){0};
	return e;
}

struct reservation *ledger_reserved(const struct trace *trace, uint32_t resource, uint64_t id)
{
	return trace->ledger.reserved ? hash_get_ptr(&trace->ledger.live[resource].reserved, id) : NULL;
}

void ledger_withdraw(struct trace *trace, struct reservation *reservation)
{
	if (!reservation->is_open)
		return;
	struct event e = unreserve(trace, reservation);

	event_free(&e);
}

void ledger_failed(struct trace *trace, struct reservation *reservation)
{
	const struct event *e = &reservation->event;

	if (reservation->is_open && e->function->function->fails_unknown)
		live_of(trace, e)->counts.failed_again += ledger_has_released(trace, e->function->resource, e->id);
	ledger_withdraw(trace, reservation);
}

void ledger_reserve(struct trace *trace, struct reservation *reservation, const struct event *e, void *owner)
{
	struct live_set *live = live_of(trace, e);

	*reservation = (struct reservation){.is_open = true, .event = *e, .owner = owner};
	reservation->event.thread = thread_ref(e->thread);
	reservation->event.args = arg_list_ref(e->args);
	/* If references are counted, reservations are not in the hash table: several calls may release the same id at
	 * the same time, and an allocation of the id does not prove that a release has succeeded. */
	if (live_is_counted(live))
		return;
	struct reservation *older = ledger_reserved(trace, e->function->resource, e->id);

	/* Two calls do not release one id at the same time, so the older call has ended without a return. But if a
	 * publisher is in flight, the older release may have succeeded, and the publisher may have allocated the id. */
	if (older && live->publishers)
		ledger_commit(trace, older, e->time_ns);
	else if (older)
		ledger_withdraw(trace, older);
	hash_set_ptr(&live->reserved, e->id, reservation);
	trace->ledger.reserved++;
}

/* Writes the release of a reservation, or holds it. The id has stayed live since the entry of the call, because the
 * call may fail, or may take long (a join waits for its thread). The release of a realloc is never held, because it has
 * to precede the allocation by the same call. */
void ledger_commit(struct trace *trace, struct reservation *reservation, uint64_t time_ns)
{
	if (!reservation->is_open)
		return;
	/* Close the reservation first, so that writing the event does not find it. */
	struct event e = unreserve(trace, reservation);

	e.time_ns = time_ns;
	if (e.function->function->role == ROLE_RELEASE && must_wait(trace, &e)) {
		ledger_hold(trace, &e);
		return;
	}
	commit_release(trace, &e);
	event_free(&e);
}
