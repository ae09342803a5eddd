#include "config.h"
#include "report/html/page_data.h"
#include "report/html/page_parts.h"
#include "profile/threadless.h"

#include <inttypes.h>
#include <stdlib.h>

/* Limits of the page's parts, in bytes. The rest of PAGE_MAX is reserved for the curves over time (16 kinds with 1024
 * spans of three numbers each, or 64 kinds with 128 spans), for the head, and for the template. */
const struct page_limits page_data_limits = {.groups = 2900000, .folded = 600000, .sources = 300000};

static void add_key(struct buf *out, const char *key)
{
	buf_printf(out, "%s\"%s\":", out->size && out->data[out->size - 1] != '{' ? "," : "", key);
}

static void page_data_add_text(struct buf *out, const char *key, const char *text)
{
	add_key(out, key);
	page_add_text(out, text);
}

static void page_data_add_number(struct buf *out, const char *key, uint64_t number)
{
	add_key(out, key);
	page_add_number(out, number);
}

static void add_bool(struct buf *out, const char *key, bool value)
{
	add_key(out, key);
	buf_add_str(out, value ? "true" : "false");
}

static void page_data_add_tally(struct buf *out, const char *key, const struct tally *tally)
{
	add_key(out, key);
	buf_add_char(out, '[');
	page_add_number(out, tally->calls);
	page_add_next(out, tally->bytes);
	buf_add_char(out, ']');
}

/* Adds an array whose elements are JSON in a buffer. */
static void add_array(struct buf *out, const char *key, const struct buf *json)
{
	add_key(out, key);
	buf_add_char(out, '[');
	buf_add(out, json->data, json->size);
	buf_add_char(out, ']');
}

static void add_programs(struct buf *out, const struct profile *profile)
{
	size_t count = 0;

	add_key(out, "programs");
	buf_add_char(out, '[');
	for (size_t i = 0; i < profile->process_count; i++) {
		const struct account *account = profile->processes[i].account;

		if (profile->processes[i].is_old || count++ >= PAGE_PROGRAMS)
			continue;
		buf_add_str(out, count > 1 ? ",{" : "{");
		char *const program = account_program(account);

		page_data_add_text(out, "name", program);
		free(program);
		if (account->has_pid)
			page_data_add_number(out, "pid", account->pid);
		add_bool(out, "attached", account->is_attached);
		if (account->resident.is_known) {
			page_data_add_number(out, "resident", account->resident.last);
			page_data_add_number(out, "resident_peak", account->resident.peak);
		}
		buf_add_char(out, '}');
	}
	buf_add_char(out, ']');
	page_data_add_number(out, "programs_left_out", count > PAGE_PROGRAMS ? count - PAGE_PROGRAMS : 0);
}

/* Lists at most PAGE_ENDS ends of processes, and the number of further ends. */
static void add_ends(struct buf *out, const struct profile *profile)
{
	struct process_ends ends;

	process_ends_collect(&ends, profile);
	add_key(out, "ends");
	buf_add_char(out, '[');
	for (size_t i = 0; i < ends.count && i < PAGE_ENDS; i++) {
		buf_add_str(out, i ? "," : "");
		page_add_text(out, ends.items[i]);
	}
	buf_add_char(out, ']');
	char *const missing = process_ends_missing(profile);

	if (missing)
		page_data_add_text(out, "incomplete", missing);
	free(missing);
	page_data_add_number(out, "ends_left_out",
			     ends.left_out + (ends.count > PAGE_ENDS ? ends.count - PAGE_ENDS : 0));
	process_ends_free(&ends);
}

static void add_compared(struct buf *out, const struct profile *profile)
{
	struct buf words = {0};
	size_t old = 0;

	if (!profile->has_old)
		return;
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *account = profile->processes[p].account;

		old += profile->processes[p].is_old;
		if (words.size)
			continue;
		if (profile->processes[p].is_old)
			buf_printf(&words, "%s, process %" PRIu32, account->name, account->pid);
		else if (account->wishes.has_mark && account->has_times)
			buf_printf(&words, "the state after %.3f s", (double)account->wishes.mark / 1e9);
		else if (account->wishes.has_mark)
			buf_printf(&words, "the state after %" PRIu64 " calls", account->wishes.mark);
	}
	if (old > 1)
		buf_printf(&words, ", and %zu more process%s", old - 1, old == 2 ? "" : "es");
	page_data_add_text(out, "compared", buf_str(&words));
	buf_free(&words);
}

static void add_notes(struct buf *out, const struct profile *profile)
{
	size_t count = 0, all = 0;

	add_key(out, "notes");
	buf_add_char(out, '[');
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *account = profile->processes[p].account;

		if (profile->processes[p].is_old)
			continue; /* these notes are about the older trace */
		for (size_t i = 0; i < account->note_count && count < PAGE_NOTES; i++) {
			if (count++)
				buf_add_char(out, ',');
			page_add_text(out, account->notes[i]);
		}
		all += account->note_count + account->notes_left_out;
	}
	buf_add_char(out, ']');
	page_data_add_number(out, "notes_left_out", all - count);
}

/* Makes the page's axis of time, with spans at least as wide as those of all timelines. All widths are powers of two,
 * so each span of the page consists of whole spans of each timeline. */
static struct page_axis make_axis(const struct profile *profile, size_t kinds)
{
	struct page_axis axis = {.moment_width = 1, .span_width = 1};
	const size_t spans_max = kinds > 16 ? PAGE_SPANS / 8 : PAGE_SPANS;

	for (size_t p = 0; p < profile->process_count; p++)
		for (size_t i = 0; i < kinds && !profile->processes[p].is_old; i++) {
			const struct resource_account *account =
				profile_resource_account(profile->processes[p].account, profile->resources[i]);

			if (account && account->timeline.width > axis.span_width)
				axis.span_width = account->timeline.width;
			if (account && account->timeline.moment_width > axis.moment_width)
				axis.moment_width = account->timeline.moment_width;
		}
	while (profile->end_since / axis.span_width >= spans_max)
		axis.span_width *= 2;
	while (profile->end_since / axis.moment_width >= TIMELINE_MOMENTS)
		axis.moment_width *= 2;
	axis.span_count = profile->events ? profile->end_since / axis.span_width + 1 : 0;
	axis.moment_count = profile->events ? profile->end_since / axis.moment_width + 1 : 0;
	return axis;
}

/* Returns the largest number of bytes that were alive at once in a span of the page. Called only if there is one
 * process. */
static uint64_t most_in_span(const struct timeline *timeline, const struct page_axis *axis, size_t span)
{
	const uint64_t from = span * (axis->span_width / timeline->width);
	uint64_t most = timeline->count ? timeline->spans[timeline->count - 1].last.bytes : 0;

	for (uint64_t i = from; i < from + axis->span_width / timeline->width && i < timeline->count; i++)
		if (i == from || timeline->spans[i].most_bytes > most)
			most = timeline->spans[i].most_bytes;
	return most;
}

static const struct timeline *only_timeline(const struct profile *profile, const struct profile_resource *kind)
{
	const struct resource_account *account;

	if (profile_new_count(profile) != 1)
		return NULL;
	account = profile_resource_account(profile_first_account(profile), kind);
	return account && account->timeline.width ? &account->timeline : NULL;
}

static void add_lines_of_time(struct buf *out, const struct profile *profile, const struct profile_resource *kind,
			      const struct page_axis *axis)
{
	const struct timeline *timeline = only_timeline(profile, kind);
	struct buf blocks = {0}, bytes = {0}, most = {0};

	for (size_t i = 0; i < axis->span_count; i++) {
		const struct tally at =
			profile_resource_at(profile, kind, i * axis->span_width + (axis->span_width - 1));

		if (i) {
			buf_add_char(&blocks, ',');
			buf_add_char(&bytes, ',');
			buf_add_char(&most, ',');
		}
		page_add_number(&blocks, at.calls);
		page_add_number(&bytes, at.bytes);
		page_add_number(&most, timeline ? most_in_span(timeline, axis, i) : 0);
	}
	add_array(out, "blocks", &blocks);
	add_array(out, "bytes", &bytes);
	if (timeline)
		add_array(out, "most", &most);
	buf_free(&blocks);
	buf_free(&bytes);
	buf_free(&most);
}

/* If there is only one process, adds its resident memory at the end of each span: null for a span that ends before the
 * first value. */
static void page_data_add_resident(struct buf *out, const struct profile *profile, const struct page_axis *axis)
{
	const struct resident *resident;
	struct buf json = {0};

	if (profile_new_count(profile) != 1 || !profile_first_account(profile)->resident.is_known)
		return;
	resident = &profile_first_account(profile)->resident;
	for (size_t i = 0; i < axis->span_count; i++) {
		const uint64_t since = i * axis->span_width + (axis->span_width - 1);
		size_t span = since / resident->line.width;

		if (i)
			buf_add_char(&json, ',');
		if (span >= resident->line.count)
			span = resident->line.count - 1;
		if (since < resident->known_since)
			buf_add_str(&json, "null");
		else
			page_add_number(&json, resident->line.spans[span].last.bytes);
	}
	add_array(out, "resident", &json);
	buf_free(&json);
}

/* Adds how many blocks of each size were allocated, and how many were released after each lifetime. */
static void add_histograms(struct buf *out, const struct profile *profile, const struct profile_resource *kind)
{
	struct tally sizes[SIZE_BUCKETS] = {0};
	uint64_t lives[LIFETIME_BUCKETS] = {0};
	struct buf json = {0};

	for (size_t p = 0; p < profile->process_count; p++) {
		const struct resource_account *account = profile_resource_account(profile->processes[p].account, kind);

		if (!account || profile->processes[p].is_old)
			continue;
		for (size_t i = 0; i < SIZE_BUCKETS; i++)
			tally_join(&sizes[i], &account->sizes[i]);
		for (size_t i = 0; i < LIFETIME_BUCKETS; i++)
			lives[i] += profile->has_times ? account->lifetimes_ns[i] : account->lifetimes_events[i];
	}
	for (size_t i = 0; i < SIZE_BUCKETS; i++)
		if (sizes[i].calls) {
			buf_printf(&json, "%s%zu", json.size ? "," : "", i);
			page_add_next(&json, sizes[i].calls);
			page_add_next(&json, sizes[i].bytes);
		}
	add_array(out, "sizes", &json);
	json.size = 0;
	for (size_t i = 0; i < LIFETIME_BUCKETS; i++)
		if (lives[i]) {
			buf_printf(&json, "%s%zu", json.size ? "," : "", i);
			page_add_next(&json, lives[i]);
		}
	add_array(out, "lives", &json);
	buf_free(&json);
}

struct page_data_threads {
	const struct thread_account **rows;
	size_t count, capacity;
};

/* Orders threads by their allocated bytes, the most first. */
static int compare_threads(const void *a, const void *b)
{
	const struct thread_account *x = *(const struct thread_account *const *)a,
				    *y = *(const struct thread_account *const *)b;

	return compare_tallies(&y->tally, &x->tally) ?: compare_u64(x->tid, y->tid);
}

static void page_data_add_threads(struct buf *out, const struct profile *profile, const struct profile_resource *kind)
{
	struct page_data_threads threads = {0};
	struct thread_account rest[2];
	struct buf json = {0};

	for (size_t p = 0; p < profile->process_count; p++) {
		const struct resource_account *account = profile_resource_account(profile->processes[p].account, kind);

		for (size_t i = 0; account && !profile->processes[p].is_old && i < account->by_thread.thread_count;
		     i++) {
			ARRAY_GROW(threads.rows, threads.capacity, threads.count);
			threads.rows[threads.count++] = account->by_thread.threads[i];
		}
	}
	profile_threadless(profile, kind, rest);
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++) {
		if (!threadless_is_any(&rest[i]))
			continue;
		ARRAY_GROW(threads.rows, threads.capacity, threads.count);
		threads.rows[threads.count++] = &rest[i];
	}
	if (threads.count)
		qsort(threads.rows, threads.count, sizeof(struct thread_account *), compare_threads);
	for (size_t i = 0; i < threads.count && i < PAGE_THREADS; i++) {
		const struct thread_account *thread = threads.rows[i];
		const struct tally *const figures[] = {&thread->tally, &thread->live, &thread->temporary};

		buf_printf(&json, "%s%" PRIu32 ",", i ? "," : "", thread->tid);
		page_add_text(&json, thread->name);
		for (size_t k = 0; k < ARRAY_SIZE(figures); k++) {
			page_add_next(&json, figures[k]->calls);
			page_add_next(&json, figures[k]->bytes);
		}
	}
	add_array(out, "threads", &json);
	page_data_add_number(out, "threads_left_out", threads.count > PAGE_THREADS ? threads.count - PAGE_THREADS : 0);
	buf_free(&json);
	free(threads.rows);
}

/* Adds the results of scans, and the reason if a process has no result. Adds nothing if there is neither. */
static void add_scan(struct buf *out, const struct profile_resource *kind)
{
	if (kind->scanned) {
		add_key(out, "lost");
		for (unsigned i = 0; i < LOST_KINDS; i++) {
			buf_add_char(out, i ? ',' : '[');
			page_add_number(out, kind->lost[i].calls);
			page_add_next(out, kind->lost[i].bytes);
		}
		buf_add_char(out, ']');
		page_data_add_tally(out, "not_scanned", &kind->not_scanned);
		page_data_add_tally(out, "since_scan", &kind->since_scan);
	}
	if (!kind->unscanned_reason)
		return;
	page_data_add_text(out, "unscanned", kind->unscanned_process);
	page_data_add_text(out, "why_unscanned", kind->unscanned_reason);
}

/* Adds the kind's live blocks in the older trace, or at the time of --diff=@T. */
static void page_data_add_old(struct buf *out, const struct profile *profile, const struct profile_resource *kind)
{
	struct tally old = {0};

	for (size_t i = 0; i < profile->group_count; i++)
		if (profile->groups[i]->resource == kind)
			tally_join(&old, profile_group_old_live(profile->groups[i]));
	page_data_add_tally(out, "old", &old);
}

static void page_data_add_kind(struct buf *out, const struct profile *profile, const struct profile_resource *kind,
			       const struct page_axis *axis, const struct buf *rows)
{
	const bool is_call = kind->flags & RESOURCE_CALL;
	struct buf noun = {0};

	buf_add_char(out, '{');
	page_data_add_text(out, "type", kind->type);
	page_data_add_text(out, "desc", kind->desc);
	page_data_add_text(out, "one", report_noun(kind, 1, &noun));
	page_data_add_text(out, "many", report_noun(kind, 2, &noun));
	add_bool(out, "has_bytes", report_has_bytes(kind));
	add_bool(out, "is_call", is_call);
	page_data_add_tally(out, "allocated", is_call ? &kind->others : &kind->allocated);
	page_data_add_number(out, "released", kind->releases);
	page_data_add_tally(out, "live", &kind->live);
	if (profile->has_old)
		page_data_add_old(out, profile, kind);
	page_data_add_tally(out, "peak", &kind->peak);
	page_data_add_tally(out, "temporary", &kind->temporary);
	if (profile_new_count(profile) == 1)
		page_data_add_number(out, "peak_since", kind->peak_since);
	add_scan(out, kind);
	page_data_add_number(out, "unknown", kind->unknown_releases);
	page_data_add_number(out, "reused", kind->reused);
	add_lines_of_time(out, profile, kind, axis);
	add_histograms(out, profile, kind);
	page_data_add_threads(out, profile, kind);
	add_array(out, "rows", rows);
	buf_add_char(out, '}');
	buf_free(&noun);
}

static void page_data_add_kinds(struct buf *out, const struct profile *profile, const struct page_axis *axis,
				const struct buf *rows, size_t kinds)
{
	add_key(out, "kinds");
	buf_add_char(out, '[');
	for (size_t i = 0; i < kinds; i++) {
		if (i)
			buf_add_str(out, ",\n");
		page_data_add_kind(out, profile, profile->resources[i], axis, &rows[i]);
	}
	buf_add_char(out, ']');
	page_data_add_number(out, "kinds_left_out", profile->resource_count - kinds);
}

void page_data_add(struct buf *out, const struct profile *profile, const struct page_options *options,
		   const struct page_limits *limits)
{
	const size_t kinds = profile->resource_count < PAGE_KINDS ? profile->resource_count : PAGE_KINDS;
	const struct page_axis axis = make_axis(profile, kinds);
	struct buf rows[PAGE_KINDS] = {0};
	struct page_stacks stacks;

	page_stacks_begin(&stacks, options->sysroot, limits->sources);
	page_rows(&stacks, profile, &axis, limits, rows, kinds);
	buf_add_char(out, '{');
	page_data_add_text(out, "generator", PACKAGE_STRING);
	add_programs(out, profile);
	page_data_add_number(out, "begin", profile->begin_sec > 0 ? (uint64_t)profile->begin_sec : 0);
	add_bool(out, "has_times", profile->has_times);
	page_data_add_number(out, "end", profile->end_since);
	page_data_add_number(out, "events", profile->events);
	page_data_add_number(out, "cut", profile->stacks_cut);
	page_data_add_number(out, "lost", profile->stacks_lost);
	add_ends(out, profile);
	add_notes(out, profile);
	add_compared(out, profile);
	if (*string_or_empty(options->selection))
		page_data_add_text(out, "selection", options->selection);
	page_data_add_number(out, "moment_width", axis.moment_width);
	page_data_add_number(out, "moment_count", axis.moment_count);
	page_data_add_number(out, "span_width", axis.span_width);
	page_data_add_resident(out, profile, &axis);
	add_array(out, "names", &stacks.names);
	add_array(out, "frames", &stacks.frames);
	add_array(out, "nodes", &stacks.nodes);
	page_data_add_kinds(out, profile, &axis, rows, kinds);
	buf_add_char(out, '}');
	for (size_t i = 0; i < kinds; i++)
		buf_free(&rows[i]);
	page_stacks_free(&stacks);
}
