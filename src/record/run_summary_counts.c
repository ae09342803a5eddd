#include "config.h"
#include "record/run_summary.h"
#include "record/resource_ids.h"
#include "record/run.h"
#include "base/buf.h"
#include "base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints counters that are sums over all traces: of calls and processes that the traces do not contain, and of unusual
 * events. */

/* A count and the words after it. Of "{is|are}" the first alternative is used if the count is 1, else the second. "%"
 * is replaced by the noun of the kind. */
struct counted {
	uint64_t count;
	const char *words;
};

/* Appends the noun. If the text ends with " a " and the noun begins with a vowel, changes "a" to "an". */
static void add_noun(struct buf *b, const char *noun)
{
	if (b->size > 3 && !memcmp(b->data + b->size - 3, " a ", 3) && strchr("aeiouAEIOU", noun[0])) {
		b->size--;
		buf_add_str(b, "n ");
	}
	buf_add_str(b, noun);
}

/* Appends "4 calls ..." and `end`. Appends nothing if the count is 0. */
static void add_count(struct buf *b, const struct counted *row, const char *noun, const char *end)
{
	bool is_other = false;
	char number[32];

	if (!row->count)
		return;
	buf_printf(b, "%s%s ", b->size ? "; " : "", number_grouped(row->count, number));
	for (const char *c = row->words; *c; c++)
		if (*c == '{')
			is_other = row->count != 1;
		else if (*c == '|')
			is_other = !is_other;
		else if (*c == '}')
			is_other = false;
		else if (!is_other && *c == '%')
			add_noun(b, noun);
		else if (!is_other)
			buf_add_char(b, *c);
	buf_add_str(b, end);
}

const char *report_share(uint64_t part, uint64_t whole, char text[32])
{
	const double percent = 100.0 * (double)part / (double)whole;

	snprintf(text, 32, percent < 0.1 ? "less than 0.1 %%" : percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
	return text;
}

static void report_untraced(const struct run *run)
{
	const struct counts *c = &run->sums.totals;
	const struct counted rows[] = {
		{c->no_return_seen, "call{|s} whose return could not be watched"},
		{c->not_calls, "jump{|s} to a function's first instruction that {was no call|were no calls}"},
		{c->unrecorded,
		 "call{|s} whose records from the kernel are missing, because functrace read them too slowly"},
		{c->failed_probes, "function{|s} in which no breakpoint could be set"},
		/* left out if all of them were reported one by one */
		{run->sums.unread > run->sums.unread_reported ? run->sums.unread : 0,
		 "object{|s} that could not be read"},
		{run->sums.unmatched_patterns, "pattern{|s} that matched nothing"},
		{run->sums.broken_traces, "trace{|s} that could not be written to {its|their} end"},
		{run->sums.unbegun_traces, "process{|es} whose trace{|s} could not be begun"},
		{run->sums.untraced_children, "process{|es} that functrace detached from"},
		{run->sums.lost_attach, "process{|es} that functrace could not attach to"},
	};
	struct buf b = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		add_count(&b, &rows[i], NULL, "");
	if (b.size)
		msg_info("not traced: %s", buf_str(&b));
	buf_free(&b);
}

/* Returns true if repeated releases are certainly double ones, because no missed call can have allocated the ids in
 * between. */
static bool repeated_are_sure(const struct run *run, const struct kind_counts *counts)
{
	const struct counts *const c = &run->sums.totals;

	return !run->sums.attached && !run->sums.may_miss && !c->no_return_seen && !c->abandoned && !c->withdrawn &&
	       counts->unknown_releases == counts->repeated;
}

static void add_releases(struct buf *b, const struct run *run, uint32_t id)
{
	const struct kind_counts *const counts = &run->sums.kind_totals[id];
	const char *const paused = run->was_paused ? ", or from while tracing was paused" : "";
	const char *const families = kind_module(run->set, id)->families;
	char *const family = families ? xasprintf(" (%s)", families) : xstrdup("");
	const struct counted rows[] = {
		{counts->unknown_releases - counts->repeated - counts->perhaps_internal,
		 run->sums.attached ? "release{|s} of {a %|%s} from before functrace attached"
				    : "release{|s} of {a %|%s} that {was|were} not seen allocated"},
		{counts->perhaps_internal,
		 "release{|s} by the C library of {a %|%s} from before the trace, or of memory for its own use"},
		{counts->repeated, "double release{|s} of {a %|%s}"},
		{counts->failed_again, "release{|s} of {a %|%s} failed: {it|they} had been released already"},
		{counts->reused, "%{ was|s were} allocated again before a release was seen"},
		{counts->mismatched, "release{|s} by another family of functions"},
	};
	const char *const ends[ARRAY_SIZE(rows)] = {
		paused, paused, repeated_are_sure(run, counts) ? "" : " (or their allocations were not seen)",
		"",     "",     family};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		add_count(b, &rows[i], kind_of(run->set, id)->noun, ends[i]);
	free(family);
}

static void report_oddities(const struct run *run)
{
	const struct counts *c = &run->sums.totals;
	const struct counted rows[] = {
		{c->abandoned, "call{|s} ended without a return (an exception, longjmp)"},
		{c->withdrawn, "release{ is|s are} not in the trace: {its call|their calls} did not return while "
			       "{it was|they were} traced"},
		{c->slow_steps, "step{|s} over a breakpoint by stopping all threads, which is slow"},
	};
	struct buf b = {0};

	add_count(&b, &rows[0], NULL, "");
	add_count(&b, &rows[1], NULL, "");
	for (uint32_t id = 1; run->sums.kind_totals && id < kinds_end(run->set); id++)
		add_releases(&b, run, id);
	add_count(&b, &rows[2], NULL, "");
	if (b.size)
		msg_info("%s", buf_str(&b));
	buf_free(&b);
}

/* Reports stacks that are incomplete or without names, and what to do about it. */
static void report_stacks(const struct run *run)
{
	const struct counts *c = &run->sums.totals;
	const unsigned depth = run->set->calls.depth, more = depth * 2 < MAX_FRAMES ? depth * 2 : MAX_FRAMES;
	char text[32];

	if (c->cut_stacks && depth < MAX_FRAMES)
		msg_info("%s of the stacks were cut at %u frames: -b %u shows more",
			 report_share(c->cut_stacks, c->stacks, text), depth, more);
	else if (c->cut_stacks)
		msg_info("%s of the stacks were cut at %u frames, which is the maximum",
			 report_share(c->cut_stacks, c->stacks, text), depth);
	if (c->lost_stacks)
		msg_info("%s of the stacks could not be followed to their start: they end in code whose caller could "
			 "not be found; functrace-postproc marks them \"(lost)\"",
			 report_share(c->lost_stacks, c->stacks, text));
	if (c->unnamed_stacks)
		msg_info("names of %s stack%s were not found in time: the trace has addresses instead, which "
			 "functrace-postproc -r names",
			 number_grouped(c->unnamed_stacks, text), c->unnamed_stacks == 1 ? "" : "s");
}

static void report_arguments(const struct run *run)
{
	const uint64_t count = run->sums.totals.unknown_params, failures = run->sums.totals.failures;
	const uint64_t unreturned = run->sums.totals.unreturned;

	if (failures)
		msg_info("%llu call%s failed: the trace, as text, has lines like \"## open(...) = -1 ENOENT\" for them",
			 (unsigned long long)failures, failures == 1 ? "" : "s");
	if (unreturned)
		msg_info("%llu recorded call%s did not return: the trace, as text, has lines like "
			 "\"## NAME(...) <no return>\" for them",
			 (unsigned long long)unreturned, unreturned == 1 ? "" : "s");
	if (count)
		msg_info("-a shows no arguments of %llu function%s: their parameters are unknown. Compile them with "
			 "-g, or describe them: -e FILE.conf, see functrace-modules(7)",
			 (unsigned long long)count, count == 1 ? "" : "s");
}

static void report_figures(const struct run *run)
{
	if (run->sums.without_figures > 1)
		msg_info("%zu traces have no figures of the heap; the reason for the first: %s",
			 run->sums.without_figures, run->sums.why_without);
	else if (run->sums.without_figures)
		msg_info("the trace has no figures of the heap: %s", run->sums.why_without);
}

void report_counts(const struct run *run)
{
	report_untraced(run);
	report_figures(run);
	report_oddities(run);
	report_stacks(run);
	report_arguments(run);
}
