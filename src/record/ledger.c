#include "config.h"
#include "record/ledger.h"
#include "record/blocks.h"
#include "record/kinds.h"
#include "record/output.h"
#include "record/run.h"
#include "trace/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is live, and the order in which events may be written.
 *
 * A release is recorded at its entry and an allocation at its return. Then "A: free(p)", "B: malloc() = p" can
 * never appear swapped: B can only be given p after A has run on from its stop.
 *
 * A release that can fail (realloc) is reserved at its entry and committed by the first proof that it
 * succeeded: its own return; an inner release; or another call that returns the same id:
 *
 *	A: realloc(p) enters | A frees p inside | B: malloc returns p | A: realloc returns q
 *
 * Where an id is out before its call returns (posix_memalign writes its pointer first), a release of an
 * unknown id waits until the calls that may produce it have returned. */

#define HELD_MAX  1024
#define NOTES_MAX 100 /* of wrong releases, in one trace */

struct held_release {
	struct event event; /* the frames and a reference to the thread are its own */
	struct held_release *next;
};

static void event_free(struct event *e)
{
	free(e->frames);
	thread_unref(e->thread);
	*e = (struct event){0};
}

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
	for (uint32_t i = 0; ledger->live && i < kind_end(trace); i++) {
		hash_free(&ledger->live[i].blocks);
		hash_free(&ledger->live[i].references);
		hash_free(&ledger->live[i].reserved);
		free(ledger->live[i].releases);
	}
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
	struct hash_entry *entry;

	for (uint32_t r = 0; r < kind_end(from); r++) {
		const struct live_set *old = &from->ledger.live[r];
		struct live_set *const live = &to->ledger.live[r];

		hash_copy(&old->blocks, &live->blocks);
		hash_copy(&old->references, &live->references);
		for (size_t i = 0; (entry = hash_next(&live->blocks, &i));)
			entry->value = block_inherited(entry->value);
		live->bytes = old->bytes;
		live->inherited = old->blocks.count; /* its releases are numbers in another trace, and not kept */
		live->inherited_bytes = old->bytes;
	}
}

static struct live_set *live_of(const struct trace *trace, const struct event *e)
{
	return &trace->ledger.live[e->function->resource];
}

bool ledger_knows(const struct trace *trace, uint32_t resource, uint64_t id)
{
	return hash_get(&trace->ledger.live[resource].blocks, id) != NULL;
}

bool ledger_has_released(const struct trace *trace, uint32_t resource, uint64_t id)
{
	return !ledger_knows(trace, resource, id) && releases_find(&trace->ledger.live[resource], id);
}

struct live_total ledger_live(const struct trace *trace, uint32_t resource)
{
	if (!trace->ledger.live)
		return (struct live_total){0};
	const struct live_set *live = &trace->ledger.live[resource];

	return (struct live_total){.blocks = live->blocks.count - live->inherited,
				   .bytes = live->bytes - live->inherited_bytes,
				   .inherited = live->inherited,
				   .inherited_bytes = live->inherited_bytes};
}

static void about_to_change(const struct trace *trace)
{
	if (trace->ledger.before_change)
		trace->ledger.before_change(trace->ledger.context);
}

/* ---- Allocations and releases ---- */

/* A block is not live any more. */
static void drop_live(struct live_set *live, const struct block *block)
{
	live->bytes -= block->size;
	if (!block->is_inherited)
		return;
	live->inherited--;
	live->inherited_bytes -= block->size;
}

/* " (event 12)"; nothing of what is not known. */
static const char *event_text(uint64_t event, char text[static 32])
{
	snprintf(text, 32, event ? " (event %llu)" : "", (unsigned long long)event);
	return text;
}

/* The number of the event that was written last. */
static uint64_t last_event(const struct trace *trace)
{
	return trace->next_index - 1;
}

static void check_mismatch(struct trace *trace, const struct event *e, const struct block *block)
{
	const struct run *run = trace->run;
	const char *const family = traced_family(e->function);
	const char *const made = block->maker ? function_family(run, block->maker) : NULL;
	char released_at[32], made_at[32];

	if (!made || !family || !strcmp(made, family))
		return;
	if (trace->counts.mismatched++ < NOTES_MAX)
		output_note(trace, "mismatch: %s releases 0x%llx%s, which was allocated by %s%s", e->function->shown,
			    (unsigned long long)e->id, event_text(last_event(trace), released_at),
			    function_shown(run, block->maker),
			    block->is_inherited ? ", before the fork" : event_text(block->event, made_at));
}

/* References that are counted (RESOURCE_REFCOUNT): an allocation of a live id adds one, a release takes one, and the
 * last one ends it. `references` has those beyond the first. One from before the fork is not in this trace, so the
 * first allocation here is its first. */

static bool is_counted(const struct live_set *live)
{
	return live->kind->flags & RESOURCE_REFCOUNT;
}

/* False: the id is not live, or its references are not counted. */
static bool add_reference(struct live_set *live, uint64_t id)
{
	if (!is_counted(live))
		return false;
	const uint64_t *old = hash_get(&live->blocks, id);

	if (!old || block_unpack(*old).is_inherited) {
		hash_remove(&live->references, id, NULL);
		return false;
	}
	const uint64_t *count = hash_get(&live->references, id);

	hash_set(&live->references, id, count ? *count + 1 : 1);
	return true;
}

/* False: it was the last one. */
static bool take_reference(struct live_set *live, uint64_t id)
{
	uint64_t *count = is_counted(live) ? hash_get(&live->references, id) : NULL;

	if (!count)
		return false;
	if (!--*count)
		hash_remove(&live->references, id, NULL);
	return true;
}

bool ledger_accuses(const struct trace *trace)
{
	return !trace->attached && !trace->may_miss && !trace->counts.no_return_seen;
}

/* It has been released before, and was not seen given out since. */
static void repeated_release(struct trace *trace, const struct event *e, const struct release *before)
{
	const struct counts *counts = &trace->counts;
	char now[32], then[32];

	output_note(trace, "%s releases 0x%llx%s, which %s has released already%s: a double release%s",
		    e->function->shown, (unsigned long long)e->id, event_text(last_event(trace), now),
		    before->releaser ? function_shown(trace->run, before->releaser) : "another call",
		    event_text(before->event, then),
		    counts->unknown_releases > counts->repeated ? ", or its allocation was not seen" : "");
}

static void unknown_release(struct trace *trace, const struct event *e)
{
	const struct release *const before = releases_find(live_of(trace, e), e->id);
	struct counts *counts = &trace->counts;

	counts->unknown_releases++;
	counts->repeated += before != NULL;
	if (!ledger_accuses(trace) || counts->unknown_releases > NOTES_MAX)
		return;
	if (before)
		repeated_release(trace, e, before);
	else
		output_note(trace, "%s releases 0x%llx, which is not allocated (a double or foreign release)",
			    e->function->shown, (unsigned long long)e->id);
}

static void write_release(struct trace *trace, const struct event *e)
{
	struct live_set *live = live_of(trace, e);
	uint64_t packed;

	about_to_change(trace);
	output_call(trace, e, CALL_RELEASE);
	if (!kind_lives(live->kind) || take_reference(live, e->id))
		return;
	if (hash_remove(&live->blocks, e->id, &packed)) {
		const struct block block = block_unpack(packed);

		drop_live(live, &block);
		check_mismatch(trace, e, &block);
	} else {
		unknown_release(trace, e);
	}
	releases_keep(live, &(struct release){.id = e->id,
					      .event = last_event(trace),
					      .releaser = function_number(trace->run, e->function)});
}

/* The block is live from now on. */
static void add_live(struct trace *trace, struct live_set *live, const struct event *e)
{
	const struct block block = {.size = e->size < BLOCK_SIZE_MAX ? e->size : BLOCK_SIZE_MAX,
				    .event = last_event(trace),
				    .maker = function_number(trace->run, e->function)};
	uint64_t *const place = hash_get(&live->blocks, e->id);

	if (place) {
		const struct block old = block_unpack(*place);

		drop_live(live, &old);
		trace->counts.reused++;
	}
	hash_set(&live->blocks, e->id, block_pack(&block));
	live->bytes += block.size;
}

void ledger_allocated(struct trace *trace, const struct event *e)
{
	struct live_set *live = live_of(trace, e);

	about_to_change(trace);
	if (live->reserved.count) {
		struct reservation *reservation = hash_get_ptr(&live->reserved, e->id);

		if (reservation)
			ledger_commit(trace, reservation);
	}
	output_call(trace, e, CALL_ALLOC);
	if (kind_lives(live->kind) && !add_reference(live, e->id))
		add_live(trace, live, e);
}

void ledger_call(struct trace *trace, const struct event *e)
{
	output_call(trace, e, CALL_COPY);
}

/* ---- Releases of unknown ids wait for calls that may have published them ---- */

static bool must_wait(const struct trace *trace, const struct event *e)
{
	return live_of(trace, e)->publishers && !ledger_knows(trace, e->function->resource, e->id);
}

/* Writes a held release; *link is the next one then. */
static void write_held(struct trace *trace, struct held_release **link)
{
	struct held_release *held = *link;

	*link = held->next;
	write_release(trace, &held->event);
	event_free(&held->event);
	free(held);
	trace->ledger.held_count--;
}

void ledger_released(struct trace *trace, const struct event *e)
{
	struct ledger *ledger = &trace->ledger;

	if (!must_wait(trace, e)) {
		write_release(trace, e);
		return;
	}
	struct held_release *held = xcalloc(1, sizeof(*held));

	held->event = *e;
	held->event.thread = thread_ref(e->thread);
	held->event.frames = frames_copy(e->frames, e->frame_count);
	*ledger->held_end = held;
	ledger->held_end = &held->next;
	/* A call that never returns (a longjmp out of posix_memalign) must not hold everything for ever. */
	if (++ledger->held_count <= HELD_MAX)
		return;
	write_held(trace, &ledger->held);
	if (!ledger->held)
		ledger->held_end = &ledger->held;
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

/* Out of the table; its event is the caller's then. */
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

void ledger_reserve(struct trace *trace, struct reservation *reservation, const struct event *e)
{
	struct live_set *live = live_of(trace, e);

	*reservation = (struct reservation){.is_open = true, .event = *e};
	reservation->event.thread = thread_ref(e->thread);
	/* Several may give up references of one id at a time, and that it is given out again proves nothing. */
	if (is_counted(live))
		return;
	struct reservation *older = ledger_reserved(trace, e->function->resource, e->id);

	/* The older call has ended without a return. */
	if (older)
		ledger_withdraw(trace, older);
	hash_set_ptr(&live->reserved, e->id, reservation);
	trace->ledger.reserved++;
}

/* The event carries the entry's time: that is when the caller gave the id up. */
void ledger_commit(struct trace *trace, struct reservation *reservation)
{
	if (!reservation->is_open)
		return;
	/* It proves nothing any more while its own event is written. */
	struct event e = unreserve(trace, reservation);

	write_release(trace, &e);
	event_free(&e);
}
