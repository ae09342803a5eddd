/* Takes the figures of intervals into an account, instead of calls: those of each stack, then the end of the interval.
 * A stack without figures in an interval has nothing alive at its end. */
#include "config.h"
#include "profile/account_parts.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The function name of bytes that belong to no stack. */
#define UNATTRIBUTED_NAME "[older than the watch, or not seen]"

/* Returns the next whole number; 0 for an unknown or negative figure. */
static uint64_t whole_figure(double figure)
{
	if (!(figure > 0))
		return 0;
	return figure >= (double)UINT64_MAX ? UINT64_MAX : (uint64_t)(figure + 0.5);
}

/* Returns a tally of these figures. Bytes are in one block at least. */
static struct tally whole_tally(double blocks, double bytes)
{
	struct tally tally = {whole_figure(blocks), whole_figure(bytes)};

	if (tally.bytes && !tally.calls)
		tally.calls = 1;
	return tally;
}

/* Returns the site of bytes that belong to no stack. */
static struct site *unattributed_of(struct account *account, struct resource_account *resource)
{
	const struct record_call call = {.time_ns = TIME_NONE};

	if (!resource->before)
		resource->before = account_site(resource, &call, string_intern(&account->strings, UNATTRIBUTED_NAME),
						&account->last);
	resource->before->is_before = true;
	return resource->before;
}

static struct moment moment_of(struct account *account, uint64_t time_ns)
{
	const struct record_call call = {.index = account->events + 1, .time_ns = time_ns};
	struct moment now = {.index = call.index, .time_ns = time_ns};

	account_advance(account, &now, &call);
	return now;
}

static void tally_replace(struct tally *sum, struct tally *part, const struct tally *by)
{
	tally_subtract(sum, part);
	tally_join(sum, by);
	*part = *by;
}

static void set_live(struct resource_account *resource, struct site *site, const struct tally *live)
{
	account_settle_site(resource, site);
	tally_replace(&resource->live, &site->live, live);
	account_count_site_peak(resource, site);
}

static void set_allocated(struct resource_account *resource, struct function_stats *function, struct site *site,
			  const struct tally *allocated)
{
	tally_subtract(&function->tally, &site->tally);
	tally_join(&function->tally, allocated);
	tally_replace(&resource->allocations, &site->tally, allocated);
}

void account_put_estimate(struct account *account, const struct record_estimate *record)
{
	struct resource_state *const which = resources_of(&account->resources, record->call.resource);
	struct resource_account *const resource = account_resource(account, which);
	struct function_stats *const function = account_function(account, resource, record->call.function);
	const struct moment now = moment_of(account, record->call.time_ns);
	const struct tally live = whole_tally(record->live_blocks, record->live_bytes);
	const struct tally allocated = whole_tally(record->allocated_blocks, record->allocated_bytes);

	timeline_advance(&resource->timeline, now.since);
	struct site *const site = account_site(resource, &record->call, function->name, &now);

	site->estimate = site->estimate ? site->estimate : xcalloc(1, sizeof(*site->estimate));
	*site->estimate = (struct site_estimate){
		.live_low = record->live_low,
		.live_high = record->live_high,
		.growth = record->growth,
		.growth_low = record->growth_low,
		.growth_high = record->growth_high,
		.verdict = record->verdict,
		.lost_bytes = record->lost_bytes,
		.interval = record->call.time_ns,
	};
	account->intervals.is_sampled |= record->verdict != ESTIMATE_EXACT;
	set_allocated(resource, function, site, &allocated);
	set_live(resource, site, &live);
}

/* Notes the bytes in use that belong to no stack: blocks that are older than the watch, and those that no window has
 * seen. */
static void set_unattributed(struct account *account, struct resource_account *resource,
			     const struct record_interval *record)
{
	const double blocks = record->heap_blocks - (double)resource->live.calls;
	const struct tally live = whole_tally(blocks, record->unattributed);

	if (!resource->before && !(record->unattributed > 0))
		return;
	struct site *const site = unattributed_of(account, resource);

	tally_replace(&resource->allocations, &site->tally, &live);
	set_live(resource, site, &live);
}

/* Appends the number between two texts, if it is known. */
static void intervals_add(struct buf *out, const char *before, double number, const char *after)
{
	if (isfinite(number))
		buf_printf(out, "%s%.*f%s", before, number < 10 && number != (double)(int)number ? 2 : 0, number,
			   after);
}

static char *intervals_note(const struct record_interval *last)
{
	struct buf text = {0};

	buf_add_str(&text, "figures of stacks are estimates, with intervals of 90 %");
	intervals_add(&text, ", from ", last->windows, last->windows == 1 ? " window" : " windows");
	intervals_add(&text, " with ", last->share * 100, " % of the work");
	intervals_add(&text, " and ", last->looks, " looks at the heap");
	intervals_add(&text, "; cost ", (last->cost_target + last->cost_own) * 100, " % of a CPU");
	intervals_add(&text, " (program ", last->cost_target * 100, " %");
	intervals_add(&text, ", functrace ", last->cost_own * 100, " %)");
	intervals_add(&text, ", budget ", last->cost_budget * 100, " %");
	intervals_add(&text, "; longest pause ", last->cost_pause * 1000, " ms");
	if (last->calls_unseen > 0)
		intervals_add(&text, "; calls in windows that were not seen: ", last->calls_unseen, "");
	char *const note = xstrdup(buf_str(&text));

	buf_free(&text);
	return note;
}

/* Replaces the note about what the figures rest on: all reports show the notes of a trace. */
static void note_intervals(struct account *account)
{
	struct account_intervals *const intervals = &account->intervals;

	if (!intervals->is_sampled)
		return;
	if (!intervals->note) {
		ARRAY_GROW(account->notes, account->note_capacity, account->note_count);
		intervals->note = ++account->note_count;
		account->notes[intervals->note - 1] = NULL;
	}
	free(account->notes[intervals->note - 1]);
	account->notes[intervals->note - 1] = intervals_note(&intervals->last);
}

void account_put_interval(struct account *account, const struct record_interval *record)
{
	struct resource_state *const which = resources_of(&account->resources, record->resource);
	struct resource_account *const resource = account_resource(account, which);
	const struct moment now = moment_of(account, record->time_ns);

	timeline_advance(&resource->timeline, now.since);
	if (resource->before)
		set_live(resource, resource->before, &(struct tally){0});
	for (size_t i = 0; i < resource->by_stack.site_count; i++) {
		struct site *const site = resource->by_stack.sites[i];

		if (!site->estimate || site->estimate->interval == record->time_ns)
			continue;
		set_live(resource, site, &(struct tally){0});
		*site->estimate = (struct site_estimate){
			.verdict = site->estimate->verdict == ESTIMATE_EXACT ? ESTIMATE_EXACT : ESTIMATE_SOUND,
			.live_low = NAN,
			.live_high = NAN,
			.growth = NAN,
			.growth_low = NAN,
			.growth_high = NAN,
			.lost_bytes = NAN,
			.is_gone = true,
		};
	}
	set_unattributed(account, resource, record);
	/* Only now are all figures those of the same moment. */
	account_count_peak(resource, &now);
	timeline_note(&resource->timeline, &resource->live, true);
	if (!isnan(record->lost_bytes)) {
		resource->last_scan.scans = account->intervals.count + 1;
		resource->last_scan.scan_index = UINT64_MAX;
		resource->last_scan.scan_reason = "";
	}
	account->events = whole_figure(record->calls_seen);
	account->intervals.last = *record;
	account->intervals.count++;
	note_intervals(account);
}

void account_end_estimate(struct resource_account *resource, struct site *site, const struct moment *end)
{
	const double bytes = site->estimate->lost_bytes;
	const double part = site->live.bytes ? bytes / (double)site->live.bytes : 0;
	struct tally lost = whole_tally(part * (double)site->live.calls, bytes);

	site->oldest_since = site->first_since;
	site->newest_since = end->since;
	if (!resource_account_has_scan(resource)) {
		site->picked = site->live;
		return;
	}
	if (lost.bytes > site->live.bytes)
		lost = site->live;
	site->picked = site->lost[LOST_DEFINITELY] = lost;
	tally_join(&resource->last_scan.lost[LOST_DEFINITELY], &lost);
}

void account_end_unattributed(struct account *account, struct resource_account *resource)
{
	const struct tally *const known = &resource->last_scan.lost[LOST_DEFINITELY];
	const uint64_t lost = whole_figure(account->intervals.last.lost_bytes);

	if (!resource_account_has_scan(resource) || lost <= known->bytes)
		return;
	struct site *const site = unattributed_of(account, resource);

	site->lost[LOST_DEFINITELY] = whole_tally(0, (double)(lost - known->bytes));
	site->picked = site->lost[LOST_DEFINITELY];
	tally_join(&resource->last_scan.lost[LOST_DEFINITELY], &site->picked);
}
