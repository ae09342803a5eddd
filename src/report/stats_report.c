#include "config.h"
#include "report/stats_report.h"
#include "analysis/stream.h"
#include "report/terminal_lines.h"
#include "profile/resolve.h"
#include "trace/frame_text.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest numbers of functions, stacks and frames that are shown. BAR: width of a bar in characters. */
enum { FUNCTIONS_SHOWN = 20, STACKS_SHOWN = 5, FRAMES_SHOWN = 8, BAR = 24 };

struct stats_report_state {
	struct account *account;
	struct lines lines;
	const struct stats_options *options;
};

static const char *clock_text(uint64_t time_ns, char text[static 32])
{
	const uint64_t ms = time_ns % NS_PER_DAY / 1000000;

	snprintf(text, 32, "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ".%03" PRIu64, ms / 3600000, ms / 60000 % 60,
		 ms / 1000 % 60, ms % 1000);
	return text;
}

static void write_moment(struct stats_report_state *report, const struct moment *moment)
{
	char text[32];

	lines_add(&report->lines, " at event %" PRIu64, moment->number);
	if (moment->time_ns != TIME_NONE)
		lines_add(&report->lines, ", %s UTC", clock_text(moment->time_ns, text));
}

static void stats_report_write_head(struct stats_report_state *report)
{
	const struct account *account = report->account;
	const struct moment *first = &account->first, *last = &account->last;
	char from[32], to[32];

	lines_add(&report->lines, "Statistics of %s", account->name);
	if (account->has_pid)
		lines_add(&report->lines, ", process %" PRIu32, account->pid);
	lines_end(&report->lines);
	lines_add(&report->lines, "%" PRIu64 " events", account->events);
	if (account->events && first->time_ns != TIME_NONE && last->time_ns != TIME_NONE)
		lines_add(&report->lines, " from %s to %s UTC, %.3f s", clock_text(first->time_ns, from),
			  clock_text(last->time_ns, to),
			  last->time_ns > first->time_ns ? (double)(last->time_ns - first->time_ns) / 1e9 : 0);
	lines_end(&report->lines);
}

static void stats_report_write_selection(struct stats_report_state *report)
{
	const struct buf *words = report->options->selection;

	if (words->size)
		LINE(&report->lines, "only             %.*s", (int)words->size, (const char *)words->data);
}

static void write_incomplete(struct stats_report_state *report)
{
	if (trace_end_is_missing(&report->account->trace_end))
		LINE(&report->lines, "%s", "incomplete: the trace has no end " TRACE_END_MISSING);
}

/* Writes the resident memory that the trace contains. Unlike the sums of the calls, it includes code and stacks. */
static void stats_report_write_resident(struct stats_report_state *report)
{
	const struct resident *resident = &report->account->resident;

	if (resident->is_known)
		LINE(&report->lines, "resident memory  %12" PRIu64 " bytes when last measured, %" PRIu64 " at the peak",
		     resident->last, resident->peak);
	else
		LINE(&report->lines, "%s", "resident memory  unknown: the trace does not say");
}

static void stats_report_write_totals(struct stats_report_state *report, const struct resource_state *which,
				      const struct resource_account *resource)
{
	LINE(&report->lines, "Resource %s (%s)", which->declared ? which->type : "not declared", which->desc);
	if (resource->others.calls)
		LINE(&report->lines, "  calls          %12" PRIu64 "   bytes %20" PRIu64, resource->others.calls,
		     resource->others.bytes);
	if (!resource->allocations.calls && !resource->releases)
		return;
	LINE(&report->lines, "  allocations    %12" PRIu64 "   bytes %20" PRIu64, resource->allocations.calls,
	     resource->allocations.bytes);
	if (resource->before)
		LINE(&report->lines, "  of these       %12" PRIu64 "   bytes %20" PRIu64 "   (from before the trace)",
		     resource->before->tally.calls, resource->before->tally.bytes);
	LINE(&report->lines, "  releases       %12" PRIu64 "   of resources not seen allocated %" PRIu64,
	     resource->releases, resource->unknown_releases);
	if (resource->references)
		LINE(&report->lines, "  references     %12" PRIu64, resource->references);
	if (resource->reused)
		LINE(&report->lines, "  unseen releases%12" PRIu64 "   (an id was allocated again)", resource->reused);
	LINE(&report->lines, "  live at the end%12" PRIu64 "   bytes %20" PRIu64, resource->live.calls,
	     resource->live.bytes);
	if (resource->before && resource->before->live.calls)
		LINE(&report->lines, "  of these       %12" PRIu64 "   bytes %20" PRIu64 "   (from before the trace)",
		     resource->before->live.calls, resource->before->live.bytes);
	lines_add(&report->lines, "  peak blocks    %12" PRIu64, resource->at_peak.peak_blocks.calls);
	write_moment(report, &resource->at_peak.peak_blocks_at);
	lines_end(&report->lines);
	lines_add(&report->lines, "  peak bytes     %12" PRIu64, resource->at_peak.peak.bytes);
	if (resource->at_peak.peak.bytes)
		write_moment(report, &resource->at_peak.peak_at);
	lines_end(&report->lines);
}

static int compare_functions(const void *a, const void *b)
{
	const struct function_stats *x = *(struct function_stats *const *)a, *y = *(struct function_stats *const *)b;

	return compare_tallies(&y->tally, &x->tally) ?: strcmp(x->name, y->name);
}

static void write_functions(struct stats_report_state *report, struct resource_account *resource)
{
	const size_t count = resource->by_function.function_count;

	if (!count)
		return;
	qsort(resource->by_function.functions, count, sizeof(*resource->by_function.functions), compare_functions);
	LINE(&report->lines, "%s", "");
	LINE(&report->lines, "  %12s %20s %12s  %s", "events", "bytes", "average", "function");
	for (size_t i = 0; i < count && i < FUNCTIONS_SHOWN; i++) {
		const struct function_stats *function = resource->by_function.functions[i];
		const uint64_t sized = function->tally.calls - function->releases;

		lines_add(&report->lines, "  %12" PRIu64, function->tally.calls);
		if (sized)
			lines_add(&report->lines, " %20" PRIu64 " %12" PRIu64 "  ", function->tally.bytes,
				  function->tally.bytes / sized);
		else
			lines_add(&report->lines, " %20s %12s  ", "-", "-");
		lines_add_name(&report->lines, function->name);
		lines_end(&report->lines);
	}
	if (count > FUNCTIONS_SHOWN)
		LINE(&report->lines, "  and %zu functions more", count - FUNCTIONS_SHOWN);
}

static void write_sizes(struct stats_report_state *report, const struct resource_account *resource)
{
	uint64_t largest = 0;

	for (unsigned i = 0; i < SIZE_BUCKETS; i++)
		if (resource->sizes[i].calls > largest)
			largest = resource->sizes[i].calls;
	if (!largest)
		return;
	LINE(&report->lines, "%s", "");
	LINE(&report->lines, "  %12s %20s  %s", "calls", "bytes", "of sizes up to");
	for (unsigned i = 0; i < SIZE_BUCKETS; i++) {
		const struct tally *tally = &resource->sizes[i];
		const uint64_t up_to = i == 64 ? UINT64_MAX : (1ull << i) - 1;

		if (!tally->calls)
			continue;
		lines_add(&report->lines, "  %12" PRIu64 " %20" PRIu64 "  %-14" PRIu64, tally->calls, tally->bytes,
			  up_to);
		lines_add(&report->lines, "  ");
		lines_add_bar(&report->lines, tally->calls, largest, BAR);
		lines_end(&report->lines);
	}
}

static void write_lifetimes(struct stats_report_state *report, const uint64_t *lifetimes, const char *what,
			    const char *const *labels)
{
	uint64_t largest = 0;

	for (unsigned i = 0; i < LIFETIME_BUCKETS; i++)
		if (lifetimes[i] > largest)
			largest = lifetimes[i];
	if (!largest)
		return;
	LINE(&report->lines, "%s", "");
	LINE(&report->lines, "  %12s  %s", "released", what);
	for (unsigned i = 0; i < LIFETIME_BUCKETS; i++)
		if (lifetimes[i]) {
			lines_add(&report->lines, "  %12" PRIu64 "  %-14s", lifetimes[i], labels[i]);
			lines_add(&report->lines, "  ");
			lines_add_bar(&report->lines, lifetimes[i], largest, BAR);
			lines_end(&report->lines);
		}
}

static int stats_report_compare_stacks(const void *a, const void *b, void *by_live)
{
	const struct site *x = *(struct site *const *)a, *y = *(struct site *const *)b;
	const struct tally *x_tally = *(const bool *)by_live ? &x->live : &x->tally;
	const struct tally *y_tally = *(const bool *)by_live ? &y->live : &y->tally;

	return compare_u64(y->stack != NULL, x->stack != NULL) ?: compare_tallies(y_tally, x_tally)
		       ?: compare_u64(x->number, y->number);
}

/* Writes the names that the trace itself contains for a frame. text: the frame's text after its address, beginning with
 * a blank. If functions are inlined at the address, the text has more lines, each of which begins with a tab and the
 * address. */
static void write_given_name(struct stats_report_state *report, const char *text)
{
	for (;;) {
		const size_t length = strcspn(text, "\n");
		struct lines *lines = &report->lines;
		const size_t at = lines->line.size;
		const struct frame_text_parts parts = frame_text_parts(text, length);

		buf_add(&lines->line, text, length);
		lines->name_begin = at + parts.name_begin;
		lines->name_end = at + parts.name_end;
		lines->path = parts.module ? at + parts.module : 0;
		lines_end(&report->lines);
		if (!text[length])
			return;
		text += length + 1;
		text += *text == '\t';
		lines_add(&report->lines, "%s", "       ");
	}
}

static void add_module(struct stats_report_state *report, const char *path)
{
	lines_add(&report->lines, "%s", " from ");
	lines_add_path(&report->lines, path);
}

static void stats_report_write_frame(struct stats_report_state *report, const struct stack *stack, uint32_t i)
{
	const struct frame_name *names;
	const char *text = stack->texts ? stack->texts[i] : NULL;
	const size_t count = frame_lookup(report->options->names ? names_lookup : NULL, report->options->names,
					  stack->frames[i], text, &names);

	for (size_t k = 0; k < count; k++) {
		lines_add(&report->lines, "       0x%" PRIx64, stack->frames[i]);
		if (names[k].function)
			lines_add(&report->lines, " ");
		lines_add_name(&report->lines, string_or_empty(names[k].function));
		if (names[k].file)
			lines_add(&report->lines, " at %s:%u", path_name(names[k].file), names[k].line);
		else if (names[k].module)
			add_module(report, names[k].module);
		lines_end(&report->lines);
	}
	if (count)
		return;
	lines_add(&report->lines, "       0x%" PRIx64, stack->frames[i]);
	if (text) {
		write_given_name(report, text);
		return;
	}
	if (stack->objects && stack->objects[i])
		add_module(report, stack->objects[i]->path);
	lines_end(&report->lines);
}

static void write_stack(struct stats_report_state *report, const struct site *stats, bool has_live)
{
	static const char *const ends[] = {"", " (cut)", " (lost)"}; /* words as in text traces */
	const struct stack *stack = stats->stack;

	lines_add(&report->lines, "  %12" PRIu64 " %-5s %20" PRIu64 " byte%s", stats->tally.calls,
		  stats->tally.calls == 1 ? "call" : "calls", stats->tally.bytes, stats->tally.bytes == 1 ? "" : "s");
	if (has_live)
		lines_add(&report->lines, ", live %" PRIu64 " with %" PRIu64, stats->live.calls, stats->live.bytes);
	lines_end(&report->lines);
	lines_add(&report->lines, "       by ");
	lines_add_name(&report->lines, stats->function);
	lines_end(&report->lines);
	account_map_stack(report->account, report->options->names, stack, FRAMES_SHOWN);
	for (uint32_t i = 0; i < stack->count && i < FRAMES_SHOWN; i++)
		stats_report_write_frame(report, stack, i);
	if (stack->count > FRAMES_SHOWN)
		LINE(&report->lines, "       and %" PRIu32 " frames more%s", stack->count - FRAMES_SHOWN,
		     ends[stack->end]);
	else if (stack->end)
		LINE(&report->lines, "      %s", ends[stack->end]);
}

/* Sorts the sites; sites without a stack come last. */
static void sort_sites(struct resource_account *resource, bool by_live)
{
	qsort_r(resource->by_stack.sites, resource->by_stack.site_count, sizeof(struct site *),
		stats_report_compare_stacks, &by_live);
}

static void write_stacks(struct stats_report_state *report, struct resource_account *resource)
{
	const size_t count = resource->by_stack.stack_count;
	const size_t shown = count < STACKS_SHOWN ? count : STACKS_SHOWN;
	const bool has_live = resource->allocations.calls;

	if (!count)
		return;
	sort_sites(resource, false);
	LINE(&report->lines, "%s", "");
	LINE(&report->lines, "  Stacks with the most bytes (%zu of %zu)", shown, count);
	for (size_t i = 0; i < shown; i++)
		write_stack(report, resource->by_stack.sites[i], has_live);
	/* With no live resource, this list would be empty; with only one stack, it would repeat the first list. */
	if (!resource->live.calls || count == 1)
		return;
	sort_sites(resource, true);
	LINE(&report->lines, "%s", "");
	LINE(&report->lines, "  Stacks with the most live bytes at the end");
	for (size_t i = 0; i < shown && resource->by_stack.sites[i]->live.calls; i++)
		write_stack(report, resource->by_stack.sites[i], true);
}

static int write_stats(void *context, FILE *out)
{
	static const char *const times[LIFETIME_BUCKETS] = {
		"0",          "below 10 us", "below 100 us", "below 1 ms", "below 10 ms", "below 0.1 s",   "below 1 s",
		"below 10 s", "below 100 s", "below 1000 s", "below 3 h",  "below 28 h",  "below 12 days", "longer",
	};
	static const char *const spans[LIFETIME_BUCKETS] = {
		"0",          "below 10",   "below 100",  "below 10^3",  "below 10^4",  "below 10^5",  "below 10^6",
		"below 10^7", "below 10^8", "below 10^9", "below 10^10", "below 10^11", "below 10^12", "more",
	};
	struct stats_report_state *report = context;
	struct account *account = report->account;

	report->lines = (struct lines){.out = out, .columns = lines_columns(out)};
	stats_report_write_head(report);
	stats_report_write_selection(report);
	write_incomplete(report);
	stats_report_write_resident(report);
	for (size_t i = 0; i < account->resources.count; i++) {
		struct resource_state *which = account->resources.items[i];
		struct resource_account *resource = resource_account_of(which);

		if (!resource)
			continue;
		LINE(&report->lines, "%s", "");
		stats_report_write_totals(report, which, resource);
		write_functions(report, resource);
		write_sizes(report, resource);
		write_lifetimes(report, resource->lifetimes_ns, "after", times);
		write_lifetimes(report, resource->lifetimes_events, "after events", spans);
		write_stacks(report, resource);
	}
	buf_free(&report->lines.line);
	return 0;
}

int stats_report(void *options, struct account *account)
{
	const struct stats_options *stats = options;
	struct stats_report_state report = {.account = account, .options = stats};

	return stream_to_target(&stats->target, account->pid, ".stats.txt", write_stats, &report);
}
