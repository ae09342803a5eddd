#include "config.h"
#include "record/commit.h"
#include "record/resource_ids.h"
#include "record/live_set.h"
#include "record/trace_output.h"
#include "record/run.h"
#include "trace/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes allocations and releases, applies them to the live set, and writes notes about wrong releases. */

/* maximum number of notes about one sort of wrong releases, for each kind of resource in a trace */
#define NOTES_MAX 100

void commit_about_to_change(const struct trace *trace)
{
	if (trace->ledger.before_change)
		trace->ledger.before_change(trace->ledger.context);
}

/* Returns " (event 12)"; "" if `event` is 0, which means unknown. */
static const char *event_text(uint64_t event, char text[static 32])
{
	snprintf(text, 32, event ? " (event %llu)" : "", (unsigned long long)event);
	return text;
}

/* Returns the number of the last event that was written. */
static uint64_t last_event(const struct trace *trace)
{
	return trace->output.next_index - 1;
}

/* Returns true if block->maker is certainly the function that allocated the block. This is not certain if calls may
 * have been missed: if the return of operator new was not watched, the block seems to come from the malloc that
 * operator new calls. Nor is it certain for an older block if may_miss is set: between the fork and the copying of the
 * child's ledger, another thread of the parent may have released the block and allocated the same address by another
 * function. */
static bool knows_maker(const struct trace *trace, const struct live_block *block)
{
	return block->maker && !trace->counts.no_return_seen && !(block->is_older && trace->origin.may_miss);
}

static void check_mismatch(struct trace *trace, const struct event *e, const struct live_block *block)
{
	const struct run *run = trace->run;
	const char *const family = traced_family(e->function);
	const char *const made = knows_maker(trace, block) ? function_family(run, block->maker) : NULL;
	char released_at[32], made_at[32];

	if (!made || !family || !strcmp(made, family))
		return;
	if (live_of(trace, e)->counts.mismatched++ < NOTES_MAX)
		output_note(trace, "mismatch: %s releases 0x%llx%s, which was allocated by %s%s", e->function->shown,
			    (unsigned long long)e->id, event_text(last_event(trace), released_at),
			    function_shown(run, block->maker),
			    block->is_older ? ", before the fork" : event_text(block->event, made_at));
}

/* Returns true if a release of an id that is neither live nor known as released is reported in the trace. It is not
 * reported if calls may have been missed, because a missed call may have allocated the id. */
static bool commit_accuses(const struct trace *trace)
{
	return !trace->origin.attached && !trace->origin.may_miss && !trace->counts.no_return_seen;
}

bool commit_suspects(const struct trace *trace)
{
	return !trace->origin.attached && !trace->counts.no_return_seen && !trace->counts.unrecorded;
}

/* Writes a note that the id was released before, without an allocation in between. */
static void repeated_release(struct trace *trace, const struct event *e, const struct release *before)
{
	const struct kind_counts *counts = &live_of(trace, e)->counts;
	char now[32], then[32];

	output_note(trace, "%s releases 0x%llx%s, which %s has released already%s: a double release%s",
		    e->function->shown, (unsigned long long)e->id, event_text(last_event(trace), now),
		    before->releaser ? function_shown(trace->run, before->releaser) : "another call",
		    event_text(before->event, then),
		    counts->unknown_releases > counts->repeated || !commit_accuses(trace)
			    ? ", or its allocation was not seen"
			    : "");
}

static void unknown_release(struct trace *trace, const struct event *e)
{
	/* fails_unknown: the function fails for ids that are not allocated. If such a call has succeeded, an allocation
	 * was missed, and this is no double release. */
	const bool is_proof = e->function->function->fails_unknown;
	const struct release *const before = is_proof ? NULL : releases_find(live_of(trace, e), e->id);
	struct kind_counts *counts = &live_of(trace, e)->counts;

	counts->unknown_releases++;
	counts->repeated += before != NULL;
	counts->perhaps_internal += !before && e->may_be_bookkeeping;
	if (counts->unknown_releases > NOTES_MAX || !(before ? commit_suspects(trace) : commit_accuses(trace)))
		return;
	if (before)
		repeated_release(trace, e, before);
	else if (is_proof)
		output_note(trace, "%s releases 0x%llx, whose allocation was not seen", e->function->shown,
			    (unsigned long long)e->id);
	else
		output_note(trace,
			    "%s releases 0x%llx, which is not allocated (released earlier, or allocated by no "
			    "traced function)",
			    e->function->shown, (unsigned long long)e->id);
}

static void release_one(struct trace *trace, const struct event *e)
{
	struct live_set *live = live_of(trace, e);
	struct live_block block;

	output_call(trace, e, CALL_RELEASE);
	if (!kind_lives(live->kind) || live_take_reference(live, e->id))
		return;
	const uint64_t repeated = live->counts.repeated;
	const bool was_known = live_remove(live, e->id, &block);

	if (was_known)
		check_mismatch(trace, e, &block);
	else
		unknown_release(trace, e);
	if (live->awaits_baseline)
		live_note_release(live, e->id,
				  was_known || live->counts.repeated > repeated ? RELEASE_FINAL : live->copies);
	releases_keep(live, &(struct release){.id = e->id,
					      .event = last_event(trace),
					      .releaser = function_number(trace->run, e->function)});
}

static void allocate_one(struct trace *trace, const struct event *e)
{
	struct live_set *live = live_of(trace, e);

	output_call(trace, e, CALL_ALLOC);
	if (kind_lives(live->kind) && !live_add_reference(live, e->id))
		live_add(trace, e);
}

/* Writes a part that remains of a partly released range as an allocation by the releasing call. Does nothing if the
 * part is empty. */
static void keep_rest(struct trace *trace, const struct event *e, uint64_t start, uint64_t end)
{
	struct event rest = *e;

	if (start >= end)
		return;
	rest.id = start;
	rest.size = end - start;
	allocate_one(trace, &rest);
}

static void release_ranges(struct trace *trace, const struct event *e)
{
	const struct live_set *live = live_of(trace, e);
	const uint64_t end = live_range_end(live, e);
	size_t count;
	struct live_range *ranges = live_ranges(live, e->id, end, &count);

	for (size_t i = 0; i < count; i++) {
		struct event whole = *e;

		whole.id = ranges[i].start;
		release_one(trace, &whole);
		keep_rest(trace, e, ranges[i].start, e->id < ranges[i].end ? e->id : ranges[i].end);
		keep_rest(trace, e, end, ranges[i].end);
	}
	if (!count)
		release_one(trace, e);
	free(ranges);
}

void commit_release(struct trace *trace, const struct event *e)
{
	commit_about_to_change(trace);
	if (live_of(trace, e)->kind->is_range)
		release_ranges(trace, e);
	else
		release_one(trace, e);
}

void commit_allocation(struct trace *trace, const struct event *e)
{
	commit_about_to_change(trace);
	allocate_one(trace, e);
}
