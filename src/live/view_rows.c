#include "config.h"
#include "live/view_rows.h"
#include "base/time_units.h"
#include "modules/known.h"

#include <inttypes.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Kinds of resources ---- */

const char *view_kind(const struct view *view)
{
	return view->kind < view->kind_count ? view->kinds[view->kind] : "?";
}

bool view_has_bytes(const struct view *view)
{
	const struct resource *known = module_resource(view_kind(view));

	return known ? known->unit != NULL : true;
}

bool view_has_several(const struct view *view)
{
	return view->shown > 1;
}

void view_next_resource(struct view *view)
{
	if (view->kind_count)
		view->kind = (view->kind + 1) % view->kind_count;
}

static void view_add_kind(struct view *view, const char *type)
{
	for (size_t i = 0; i < view->kind_count; i++)
		if (!strcmp(view->kinds[i], type))
			return;
	ARRAY_GROW(view->kinds, view->kind_capacity, view->kind_count);
	view->kinds[view->kind_count++] = xstrdup(type);
}

static void view_add_kinds(struct view *view)
{
	for (size_t i = 0; i < view->process_count; i++) {
		const struct resources *const resources = &view->processes[i]->account.resources;

		for (size_t k = 0; k < resources->count; k++)
			view_add_kind(view, resources->items[k]->type);
	}
}

/* ---- Rows ---- */

static bool has_text(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool passes_filter(struct view *view, struct watched *of, const struct site *site)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%" PRIu32, of->account.pid);
	if (!*view->filter || has_text(site->function, view->filter) || !strcmp(view->filter, pid))
		return true;
	watched_resolve(of, site);
	for (size_t i = 0; i < of->resolver.frame_count; i++) {
		const struct profile_frame *frame = of->resolver.frames[i];

		if (has_text(frame->function, view->filter) || has_text(frame->module, view->filter) ||
		    has_text(frame->file, view->filter))
			return true;
	}
	return false;
}

/* Returns the order of two rows, the greatest first, by the figure that the user has chosen. */
static int compare_figures(enum live_order order, const struct view_row *x, const struct view_row *y)
{
	switch (order) {
	case ORDER_GROWTH:
		return (x->grown < y->grown) - (x->grown > y->grown);
	case ORDER_LAST:
		return (x->grown_last < y->grown_last) - (x->grown_last > y->grown_last);
	case ORDER_CALLS:
		return (x->calls < y->calls) - (x->calls > y->calls);
	case ORDER_BLOCKS:
		return compare_u64(y->live.calls, x->live.calls);
	case ORDER_LOST:
		return compare_tallies(&y->lost, &x->lost);
	case ORDER_AGE:
		return compare_u64(y->oldest, x->oldest);
	default:
		return 0;
	}
}

static int view_compare_rows(const void *a, const void *b, void *context)
{
	const struct view *view = context;
	const struct view_row *x = a, *y = b;

	return compare_figures(view->order, x, y) ?: compare_tallies(&y->live, &x->live)
		       ?: compare_u64(x->of->account.pid, y->of->account.pid)
		       ?: compare_u64(x->site->number, y->site->number);
}

/* Adds `more` to the growth *grown; the sum saturates. */
static void join_grown(int64_t *grown, int64_t more)
{
	if (__builtin_add_overflow(*grown, more, grown))
		*grown = more < 0 ? -INT64_MAX : INT64_MAX;
}

static int64_t view_difference(const struct view *view, const struct tally *now, const struct tally *then)
{
	const uint64_t new = view_has_bytes(view) ? now->bytes : now->calls;
	const uint64_t old = view_has_bytes(view) ? then->bytes : then->calls;
	const uint64_t distance = new > old ? new - old : old - new;
	const int64_t limited = distance > INT64_MAX ? INT64_MAX : (int64_t)distance;

	return new > old ? limited : -limited;
}

/* Returns the calls per second; returns 0 if `seconds` is 0, as before the first update. */
static double calls_per_second(uint64_t calls, uint64_t last, double seconds)
{
	return seconds > 0 ? (double)(calls - last) / seconds : 0;
}

/* Returns the number and the bytes of the blocks that are definitely or indirectly lost. */
static struct tally lost_of(const struct tally lost[LOST_KINDS])
{
	struct tally sum = lost[LOST_DEFINITELY];

	tally_join(&sum, &lost[LOST_INDIRECTLY]);
	return sum;
}

/* Adds the result of a process's last scan to the view's figures. If the scan has no result, stores the reason, which
 * is shown in the head of the view. */
static void look_for_scan(struct view *view, struct watched *of, struct looks *looks,
			  const struct resource_account *account)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!account->last_scan.scans)
		return;
	if (account->last_scan.scans != looks->scans) {
		looks->scans = account->last_scan.scans;
		looks->scanned_ns = now;
	}
	view->has_scan = true;
	if (*account->last_scan.scan_reason) {
		view->scan_reason = account->last_scan.scan_reason;
		view->scan_pid = of->account.pid;
		return;
	}
	const struct tally lost = lost_of(account->last_scan.lost);
	const double age = (double)(now - looks->scanned_ns) / 1e9;

	view->scanned++;
	tally_join(&view->lost, &lost);
	tally_join(&view->possibly, &account->last_scan.lost[LOST_POSSIBLY]);
	if (age > view->scan_age)
		view->scan_age = age;
}

/* If the row is of blocks from before the trace, which have no stacks, adds it to the view's row that sums up such
 * blocks of all processes. Returns false for any other row, or if the view has no such row yet. */
static bool join_before(struct view *view, const struct view_row *row)
{
	for (size_t i = 0; row->is_before && i < view->row_count; i++) {
		struct view_row *const other = &view->rows[i];

		if (!other->is_before)
			continue;
		tally_join(&other->live, &row->live);
		tally_join(&other->lost, &row->lost);
		join_grown(&other->grown, row->grown);
		join_grown(&other->grown_last, row->grown_last);
		other->calls += row->calls;
		other->processes++;
		return true;
	}
	return false;
}

static int64_t hourly_growth(const struct site_estimate *estimate)
{
	const double growth = estimate && isfinite(estimate->growth) ? estimate->growth * SECONDS_PER_HOUR : 0;

	return growth >= 1e18 ? INT64_MAX : growth <= -1e18 ? -INT64_MAX : (int64_t)growth;
}

static void view_add_row(struct view *view, struct watched *of, const struct looks *looks, const struct site *site)
{
	const struct tally *base = &looks->sites[site->number].base;
	const struct site_look *last = &looks->sites[site->number].last;
	const uint64_t end = of->account.last.since;

	if (!site->live.calls && ((site->tally.calls == last->calls && !base->calls) || view->has_intervals))
		return;
	if (!passes_filter(view, of, site))
		return;
	const struct view_row row = {
		.of = of,
		.site = site,
		.processes = 1,
		.live = site->live,
		.grown = view->has_intervals ? hourly_growth(site->estimate) : view_difference(view, &site->live, base),
		.grown_last = view_difference(view, &site->live, &last->live),
		.calls = calls_per_second(site->tally.calls, last->calls, view->seconds),
		.oldest = site->live.calls ? end - site->oldest_since : 0,
		.lost = lost_of(site->lost),
		.is_before = site->is_before,
		.pid = of->account.pid,
		.estimate = site->estimate,
	};

	if (join_before(view, &row))
		return;
	ARRAY_GROW(view->rows, view->row_capacity, view->row_count);
	view->rows[view->row_count++] = row;
}

/* Adds the figures and rows of a process to the view. */
static void view_look_at(struct view *view, struct watched *of)
{
	size_t index;
	const struct resource_account *account = watched_resource(of, view_kind(view), &index);

	watched_program(of);
	view->events += of->account.events;
	view->has_times |= of->account.has_times;
	view->has_intervals |= of->account.intervals.count;
	if (of->account.intervals.note)
		view->basis = of->account.notes[of->account.intervals.note - 1];
	view->left_out += of->unread;
	if (of->account.last.since > view->age)
		view->age = of->account.last.since;
	if (!account)
		return;
	struct looks *const looks = watched_looks(of, index, account);

	account_end(&of->account);
	if (view->has_intervals && resource_account_has_scan(account))
		tally_join(&view->lost, &account->last_scan.lost[LOST_DEFINITELY]);
	else if (!view->has_intervals)
		look_for_scan(view, of, looks, account);
	tally_join(&view->live, &account->live);
	view->peak = account->at_peak.peak;
	join_grown(&view->grown, view_difference(view, &account->live, &looks->base_live));
	view->calls +=
		calls_per_second(account->allocations.calls + account->others.calls, looks->last_calls, view->seconds);
	for (size_t i = 0; i < account->by_stack.site_count; i++)
		view_add_row(view, of, looks, account->by_stack.sites[i]);
}

static void begin_look(struct view *view)
{
	view->row_count = 0;
	view->shown = view->process_count;
	view->has_times = false;
	view->has_scan = view->has_intervals = false;
	view->basis = NULL;
	view->scan_reason = "";
	view->live = view->peak = view->lost = view->possibly = (struct tally){0};
	view->grown = 0;
	view->calls = view->scan_age = 0;
	view->events = view->ended_events;
	view->left_out = view->age = view->scanned = 0;
}

/* Removes an ended process from the view and returns it, for the caller to free; returns NULL if there is none to
 * remove. The last process stays, and so do all processes when no more will be added, because the view then ends with
 * them. The lock must be held. */
static struct watched *take_ended(struct view *view)
{
	size_t i = 0;

	while (i < view->process_count && !view->processes[i]->has_ended)
		i++;
	if (view->has_all || view->process_count < 2 || i == view->process_count)
		return NULL;
	struct watched *const ended = view->processes[i];

	view->process_count--;
	memmove(view->processes + i, view->processes + i + 1, (view->process_count - i) * sizeof(*view->processes));
	view->ended++;
	view->ended_events += ended->account.events;
	return ended;
}

static void view_drop_ended(struct view *view)
{
	struct watched *ended;

	do {
		pthread_mutex_lock(&view->lock);
		ended = take_ended(view);
		pthread_mutex_unlock(&view->lock);
		if (ended)
			watched_free(ended);
	} while (ended);
}

static void make_rows(struct view *view, bool is_update)
{
	view_drop_ended(view);
	pthread_mutex_lock(&view->lock);
	view_add_kinds(view);
	begin_look(view);
	for (size_t i = 0; i < view->process_count; i++) {
		if (is_update)
			watched_note_update(view->processes[i]);
		view_look_at(view, view->processes[i]);
	}
	if (view->row_count)
		qsort_r(view->rows, view->row_count, sizeof(*view->rows), view_compare_rows, view);
	pthread_mutex_unlock(&view->lock);
}

void view_update(struct view *view, double seconds)
{
	view->interval = view->seconds = seconds;
	make_rows(view, true);
}

void view_arrange(struct view *view, double passed)
{
	view->seconds = view->interval + passed;
	make_rows(view, false);
}

void view_set_baseline(struct view *view)
{
	pthread_mutex_lock(&view->lock);
	for (size_t i = 0; i < view->process_count; i++)
		watched_note_baseline(view->processes[i]);
	pthread_mutex_unlock(&view->lock);
	view->has_baseline = true;
	view->baseline_at = (double)clock_ns(CLOCK_MONOTONIC) / 1e9;
}

void view_frames(struct view *view, const struct view_row *row)
{
	pthread_mutex_lock(&view->lock);
	watched_resolve(row->of, row->site);
	pthread_mutex_unlock(&view->lock);
}

bool view_has_ended(struct view *view, const char **reason)
{
	bool has_ended;

	*reason = NULL;
	pthread_mutex_lock(&view->lock);
	has_ended = view->has_all;
	for (size_t i = 0; i < view->process_count; i++) {
		has_ended &= view->processes[i]->has_ended;
		if (view->processes[i]->reason)
			*reason = view->processes[i]->reason;
	}
	pthread_mutex_unlock(&view->lock);
	return has_ended;
}

void view_free(struct view *view)
{
	for (size_t i = 0; i < view->process_count; i++)
		watched_free(view->processes[i]);
	free(view->processes);
	for (size_t i = 0; i < view->kind_count; i++)
		free(view->kinds[i]);
	free(view->kinds);
	free(view->rows);
	names_free(view->names);
	profile_free(view->profile);
	pthread_mutex_destroy(&view->lock);
}
