/* Writes the report's tables: by size, by thread, by object. */
#include "config.h"
#include "report/report_parts.h"
#include "profile/frame_origin.h"
#include "profile/threadless.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ROWS_DEFAULT = 25, BAR = 20 };

/* A row of one of the tables. */
struct report_tables_row {
	const char *name;
	uint32_t tid;
	struct tally allocated, live;
	struct tally old; /* live in the older trace, or at the time of --diff=@T, for comparison */
};

static size_t rows_shown(const struct report *report)
{
	return report->options.top ? report->options.top : ROWS_DEFAULT;
}

static void write_titles(struct report *report, const struct profile_resource *resource, const char *what)
{
	struct lines *lines = &report->lines;
	const char *first = report->profile->has_old ? "grew by" : "allocated";

	lines_end(lines);
	lines_colour(lines, COLOUR_TITLE);
	if (report_has_bytes(resource))
		lines_add(lines, "  %12s %18s %12s %18s  %-22s", first, "bytes", "alive", "bytes", "");
	else
		lines_add(lines, "  %12s %12s  %-22s", first, "alive", "");
	lines_add(lines, "%s", what);
	lines_end(lines);
}

/* Writes the difference to `text`, and returns it: "+12", "-3", "0". */
static const char *report_tables_difference(uint64_t now, uint64_t old, char text[static 34])
{
	char number[32];

	snprintf(text, 34, "%s%s",
		 now > old   ? "+"
		 : now < old ? "-"
			     : "",
		 number_grouped(now > old ? now - old : old - now, number));
	return text;
}

/* Returns the figure that orders a row, and that its bar shows: live bytes (or the number of live resources) or, in a
 * comparison, their growth. */
static uint64_t row_key(const struct report *report, const struct profile_resource *resource,
			const struct report_tables_row *row)
{
	const uint64_t live = report_key(resource, &row->live), old = report_key(resource, &row->old);

	if (!report->profile->has_old)
		return live;
	return live > old ? live - old : 0;
}

static void report_tables_add_row(struct report *report, const struct profile_resource *resource,
				  const struct report_tables_row *row, uint64_t whole)
{
	struct lines *lines = &report->lines;
	char calls[34], bytes[34], live[32], live_bytes[32];

	if (report->profile->has_old) {
		report_tables_difference(row->live.calls, row->old.calls, calls);
		report_tables_difference(row->live.bytes, row->old.bytes, bytes);
	} else {
		number_grouped(row->allocated.calls, calls);
		number_grouped(row->allocated.bytes, bytes);
	}
	number_grouped(row->live.calls, live);
	number_grouped(row->live.bytes, live_bytes);
	if (report_has_bytes(resource))
		lines_add(lines, "  %12s %18s %12s %18s  ", calls, bytes, live, live_bytes);
	else
		lines_add(lines, "  %12s %12s  ", calls, live);
	lines_colour(lines, COLOUR_BAR);
	lines_add_bar(lines, row_key(report, resource, row), whole, BAR);
	lines_colour(lines, COLOUR_NONE);
	lines_add(lines, "  ");
}

static uint64_t largest_key(const struct report *report, const struct profile_resource *resource,
			    const struct report_tables_row *rows, size_t count)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < count; i++)
		if (row_key(report, resource, &rows[i]) > largest)
			largest = row_key(report, resource, &rows[i]);
	return largest;
}

struct order {
	const struct report *report;
	const struct profile_resource *resource;
};

static int report_tables_compare_rows(const void *a, const void *b, void *context)
{
	const struct report_tables_row *x = a, *y = b;
	const struct order *order = context;
	const uint64_t x_key = row_key(order->report, order->resource, x);
	const uint64_t y_key = row_key(order->report, order->resource, y);

	return compare_u64(y_key, x_key) ?: compare_u64(y->live.calls, x->live.calls)
		       ?: compare_tallies(&y->allocated, &x->allocated)
		       ?: compare_u64(x->tid, y->tid);
}

static void write_rows(struct report *report, const struct profile_resource *resource, struct report_tables_row *rows,
		       size_t count, void (*add_label)(struct report *report, const struct report_tables_row *row))
{
	const size_t shown = count < rows_shown(report) ? count : rows_shown(report);
	const uint64_t whole = largest_key(report, resource, rows, count);
	struct order order = {report, resource};

	if (count)
		qsort_r(rows, count, sizeof(*rows), report_tables_compare_rows, &order);
	for (size_t i = 0; i < shown; i++) {
		report_tables_add_row(report, resource, &rows[i], whole);
		add_label(report, &rows[i]);
		lines_end(&report->lines);
	}
	if (count > shown)
		LINE(&report->lines, "  and %zu more (--top=%zu shows all)", count - shown, count);
}

/* Calls `each` for each process, with its account of the resource. */
static void for_each_account(const struct report *report, const struct profile_resource *resource,
			     void (*each)(void *context, const struct resource_account *account, bool is_old),
			     void *context)
{
	for (size_t p = 0; p < report->profile->process_count; p++) {
		const struct profile_process *process = &report->profile->processes[p];
		const struct resource_account *account = profile_resource_account(process->account, resource);

		if (account)
			each(context, account, process->is_old);
	}
}

struct size_rows {
	struct report_tables_row rows[SIZE_BUCKETS];
	bool is_before_uncompared; /* the blocks from before the trace do not count as growth */
};

static void sum_sizes(void *context, const struct resource_account *account, bool is_old)
{
	struct size_rows *const sizes = context;
	struct report_tables_row *const rows = sizes->rows;

	for (unsigned i = 0; i < SIZE_BUCKETS; i++) {
		if (!is_old && sizes->is_before_uncompared)
			tally_join(&rows[i].old, &account->before_sizes[i]);
		if (is_old)
			tally_join(&rows[i].old, &account->live_sizes[i]);
		else if (account->live_sizes_at_mark)
			tally_join(&rows[i].old, &account->live_sizes_at_mark[i]);
		if (is_old)
			continue;
		tally_join(&rows[i].allocated, &account->sizes[i]);
		tally_join(&rows[i].live, &account->live_sizes[i]);
	}
}

void report_sizes(struct report *report, const struct profile_resource *resource)
{
	struct size_rows sizes = {0};
	const struct report_tables_row *const rows = sizes.rows;
	char from[32], to[32];

	for (size_t i = 0; i < report->profile->group_count; i++)
		sizes.is_before_uncompared |=
			report->profile->groups[i]->resource == resource && report->profile->groups[i]->is_uncompared;
	for_each_account(report, resource, sum_sizes, &sizes);
	const uint64_t whole = largest_key(report, resource, rows, SIZE_BUCKETS);

	write_titles(report, resource, "size of each");
	for (unsigned i = 0; i < SIZE_BUCKETS; i++) {
		if (!rows[i].allocated.calls && !rows[i].old.calls)
			continue;
		report_tables_add_row(report, resource, &rows[i], whole);
		if (i < 2)
			lines_add(&report->lines, "%u", i);
		else
			lines_add(&report->lines, "%s to %s", number_grouped(1ull << (i - 1), from),
				  number_grouped(i == 64 ? UINT64_MAX : (1ull << i) - 1, to));
		lines_end(&report->lines);
	}
}

struct thread_rows {
	struct report_tables_row *rows;
	size_t count, capacity;
	bool by_name; /* rows are by thread name, because thread numbers differ in the older trace */
	struct intern_pool names;
	struct hash index; /* if by_name: interned name, or tid if there is no name -> 1 + index of the row */
};

static struct report_tables_row *thread_row(struct thread_rows *threads, const struct thread_account *thread)
{
	const bool by_name = threads->by_name && *thread->name;
	const uint64_t key = by_name ? (uintptr_t)string_intern(&threads->names, thread->name) : thread->tid;
	uint64_t *place = threads->by_name ? hash_place(&threads->index, key) : NULL;

	if (place && *place)
		return &threads->rows[*place - 1];
	if (place)
		*place = threads->count + 1;
	ARRAY_GROW(threads->rows, threads->capacity, threads->count);
	threads->rows[threads->count] =
		(struct report_tables_row){.name = thread->name, .tid = by_name ? 0 : thread->tid};
	return &threads->rows[threads->count++];
}

static void report_tables_add_threads(void *context, const struct resource_account *account, bool is_old)
{
	for (size_t i = 0; i < account->by_thread.thread_count; i++) {
		const struct thread_account *thread = account->by_thread.threads[i];
		struct report_tables_row *row = thread_row(context, thread);

		if (is_old) {
			tally_join(&row->old, &thread->live);
			continue;
		}
		tally_join(&row->allocated, &thread->tally);
		tally_join(&row->live, &thread->live);
		tally_join(&row->old, &thread->at_mark.live);
	}
}

static void report_tables_add_threadless(const struct report *report, const struct profile_resource *resource,
					 struct thread_rows *threads)
{
	struct thread_account rest[2];

	profile_threadless(report->profile, resource, rest);
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++) {
		if (!threadless_is_any(&rest[i]))
			continue;
		ARRAY_GROW(threads->rows, threads->capacity, threads->count);
		threads->rows[threads->count++] = (struct report_tables_row){.name = rest[i].name,
									     .allocated = rest[i].tally,
									     .live = rest[i].live,
									     .old = rest[i].at_mark.live};
	}
}

static void add_thread_label(struct report *report, const struct report_tables_row *row)
{
	if (row->tid)
		lines_add(&report->lines, "%" PRIu32 "%s", row->tid, *row->name ? " " : "");
	if (*row->name)
		lines_add_name(&report->lines, row->name);
}

/* Returns true if a process has calls of the resource, and its trace does not say which threads made them. */
static bool has_unknown_threads(const struct profile *profile, const struct profile_resource *resource)
{
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *process = profile->processes[p].account;
		const struct resource_account *account = profile_resource_account(process, resource);

		if (account && account->by_function.function_count && !process->tid)
			return true;
	}
	return false;
}

void report_threads(struct report *report, const struct profile_resource *resource)
{
	struct thread_rows threads = {0};

	for (size_t p = 0; p < report->profile->process_count; p++)
		threads.by_name |= report->profile->processes[p].is_old;
	for_each_account(report, resource, report_tables_add_threads, &threads);
	if (!threads.count && has_unknown_threads(report->profile, resource)) {
		LINE(&report->lines, "  The trace does not say which thread made the calls.");
	} else {
		report_tables_add_threadless(report, resource, &threads);
		write_titles(report, resource, "thread that allocated");
		write_rows(report, resource, threads.rows, threads.count, add_thread_label);
	}
	free(threads.rows);
	hash_free(&threads.index);
	intern_pool_free(&threads.names);
}

/* Returns the innermost object that is not part of the language's runtime; if there is none, the innermost object. */
static const char *object_of(const struct profile_group *group)
{
	const char *innermost = NULL;

	for (uint32_t i = 0; i < group->frame_count; i++) {
		const char *module = group->frames[i]->module;

		if (module && !profile_frame_is_runtime(group->frames[i]))
			return module;
		if (!innermost)
			innermost = module;
	}
	return innermost;
}

static void add_object_label(struct report *report, const struct report_tables_row *row)
{
	lines_add_path(&report->lines, row->name ? row->name : "(unknown)");
}

void report_objects(struct report *report, const struct profile_resource *resource)
{
	struct hash index = {0};
	struct report_tables_row *rows = NULL;
	size_t count = 0, capacity = 0;

	for (size_t i = 0; i < report->profile->group_count; i++) {
		const struct profile_group *group = report->profile->groups[i];

		if (group->resource != resource)
			continue;
		/* Strings of a profile are interned, so equal strings have the same address. */
		const char *object = group->is_before ? group->function : object_of(group);
		uint64_t *place = hash_place(&index, (uintptr_t)object);

		if (!*place) {
			ARRAY_GROW(rows, capacity, count);
			rows[count++] = (struct report_tables_row){.name = object};
			*place = count;
		}
		struct report_tables_row *row = &rows[*place - 1];

		tally_join(&row->allocated, &group->allocated);
		tally_join(&row->live, &group->live);
		tally_join(&row->old, profile_group_old_live(group));
	}
	write_titles(report, resource, "object whose code allocates");
	write_rows(report, resource, rows, count, add_object_label);
	free(rows);
	hash_free(&index);
}
