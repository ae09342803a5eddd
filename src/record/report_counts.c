#include "config.h"
#include "record/report.h"
#include "record/kinds.h"
#include "record/run.h"
#include "base/buf.h"
#include "base/msg.h"

#include <stdio.h>
#include <stdlib.h>

/* What was counted over all traces: what is not in them, and what is odd in them. */

/* "4 calls ...", behind what is there already; nothing for 0. */
static void add_count(struct buf *b, uint64_t count, const char *one, const char *many)
{
	char text[32];

	if (count)
		buf_printf(b, "%s%s %s", b->size ? "; " : "", number_grouped(count, text), count == 1 ? one : many);
}

const char *report_share(uint64_t part, uint64_t whole, char text[32])
{
	const double percent = 100.0 * (double)part / (double)whole;

	snprintf(text, 32, percent < 0.1 ? "less than 0.1 %%" : percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
	return text;
}

static void report_untraced(const struct run *run)
{
	const struct counts *c = &run->totals;
	struct buf b = {0};

	add_count(&b, c->no_return_seen, "call whose return could not be watched",
		  "calls whose return could not be watched");
	add_count(&b, c->not_calls, "entry that was no call", "entries that were no calls");
	add_count(&b, c->failed_probes, "function that could not be probed", "functions that could not be probed");
	/* The first of them were named one by one. */
	if (run->unread > run->unread_reported)
		add_count(&b, run->unread, "object that could not be read", "objects that could not be read");
	add_count(&b, run->unmatched_patterns, "pattern that matched nothing", "patterns that matched nothing");
	add_count(&b, run->broken_traces, "trace that could not be written to its end",
		  "traces that could not be written to their end");
	add_count(&b, run->unbegun_traces, "process whose trace could not be begun",
		  "processes whose traces could not be begun");
	add_count(&b, run->untraced_children, "process that was let go of", "processes that were let go of");
	add_count(&b, run->lost_attach, "process that could not be attached", "processes that could not be attached");
	if (b.size)
		msg_info("not traced: %s", buf_str(&b));
	buf_free(&b);
}

/* Behind "a" as well as behind other words. */
static void add_noun(struct buf *b, const char *noun)
{
	if (b->size > 3 && !memcmp(b->data + b->size - 3, " a ", 3) && strchr("aeiouAEIOU", noun[0])) {
		b->size--;
		buf_add_str(b, "n ");
	}
	buf_add_str(b, noun);
}

/* A count of one kind, in words with its noun in the place of %s: of one, and of several, which may have any ending. */
static void add_kind_count(struct buf *b, uint64_t count, const struct resource *kind, const char *one,
			   const char *many, const char *end)
{
	char text[32];

	if (!count)
		return;
	buf_printf(b, "%s%s ", b->size ? "; " : "", number_grouped(count, text));
	for (const char *word = count == 1 ? one : many; *word; word++)
		if (*word == '%')
			add_noun(b, kind->noun);
		else
			buf_add_char(b, *word);
	buf_add_str(b, end);
}

static void add_unknown_releases(struct buf *b, const struct run *run, const struct resource *kind,
				 const struct kind_counts *counts)
{
	const char *const paused = run->was_paused ? ", or from while tracing was paused" : "";
	const uint64_t count = counts->unknown_releases - counts->repeated - counts->perhaps_internal;

	if (run->attached)
		add_kind_count(b, count, kind, "release of a % from before functrace attached",
			       "releases of %s from before functrace attached", paused);
	else
		add_kind_count(b, count, kind, "release of a % that was not seen allocated",
			       "releases of %s that were not seen allocated", paused);
	add_kind_count(b, counts->perhaps_internal, kind,
		       "release by the C library of a % from before, or of memory that it kept for itself",
		       "releases by the C library of %s from before, or of memory that it kept for itself", paused);
}

/* Releases of what had been released before. A call that was not seen may have given it out meanwhile. */
static void add_repeated_releases(struct buf *b, const struct run *run, const struct resource *kind,
				  const struct kind_counts *counts)
{
	const struct counts *const c = &run->totals;
	const bool is_sure = !run->attached && !run->may_miss && !c->no_return_seen && !c->stale && !c->withdrawn &&
			     counts->unknown_releases == counts->repeated;

	add_kind_count(b, counts->repeated, kind, "double release of a %", "double releases of %s",
		       is_sure ? "" : " (or their allocations were not seen)");
}

static void add_mismatched(struct buf *b, const struct run *run, uint32_t id, uint64_t count)
{
	const char *const families = kind_module(run->set, id)->families;
	char *end = families ? xasprintf(" (%s)", families) : xstrdup("");

	add_kind_count(b, count, kind_of(run->set, id), "release by another family of functions",
		       "releases by another family of functions", end);
	free(end);
}

static void report_releases(const struct run *run, struct buf *b, uint32_t id)
{
	const struct resource *kind = kind_of(run->set, id);
	const struct kind_counts *counts = &run->kind_totals[id];

	add_unknown_releases(b, run, kind, counts);
	add_repeated_releases(b, run, kind, counts);
	add_kind_count(b, counts->failed_again, kind, "release of a % failed: it had been released already",
		       "releases of %s failed: they had been released already", "");
	add_kind_count(b, counts->reused, kind, "% was given out again: its release was not seen",
		       "%s were given out again: their releases were not seen", "");
	add_mismatched(b, run, id, counts->mismatched);
}

static void report_oddities(const struct run *run)
{
	const struct counts *c = &run->totals;
	struct buf b = {0};

	add_count(&b, c->stale, "call ended without a return (an exception, longjmp)",
		  "calls ended without a return (an exception, longjmp)");
	add_count(&b, c->withdrawn, "release is not in the trace: its call did not return while it was traced",
		  "releases are not in the trace: their calls did not return while they were traced");
	for (uint32_t id = 1; run->kind_totals && id < kinds_end(run->set); id++)
		report_releases(run, &b, id);
	add_count(&b, c->slow_steps, "breakpoint passed by stopping all threads",
		  "breakpoints passed by stopping all threads");
	if (b.size)
		msg_info("%s", buf_str(&b));
	buf_free(&b);
}

/* What stacks lack, and what shows it. */
static void report_stacks(const struct run *run)
{
	const struct counts *c = &run->totals;
	const unsigned depth = run->set->depth, more = depth * 2 < MAX_FRAMES ? depth * 2 : MAX_FRAMES;
	char text[32];

	if (c->cut_stacks && depth < MAX_FRAMES)
		msg_info("%s of the stacks were cut at %u frames: -b %u shows more",
			 report_share(c->cut_stacks, c->stacks, text), depth, more);
	else if (c->cut_stacks)
		msg_info("%s of the stacks were cut at %u frames, the most that there can be",
			 report_share(c->cut_stacks, c->stacks, text), depth);
	if (c->lost_stacks)
		msg_info("%s of the stacks could not be followed to their start: they end in code that does not say "
			 "where it was called from; \"(lost)\" in what functrace-postproc shows",
			 report_share(c->lost_stacks, c->stacks, text));
	if (c->unnamed_stacks)
		msg_info("names of %s stack%s were not found in time: addresses stand for them, which "
			 "functrace-postproc -r names",
			 number_grouped(c->unnamed_stacks, text), c->unnamed_stacks == 1 ? "" : "s");
}

static void report_arguments(const struct run *run)
{
	const uint64_t count = run->totals.unknown_params, failures = run->totals.failures;
	const uint64_t unreturned = run->totals.unreturned;

	if (failures)
		msg_info("%llu call%s failed: in the trace's text, the lines of the form \"## open(...) = -1 ENOENT\"",
			 (unsigned long long)failures, failures == 1 ? "" : "s");
	if (unreturned)
		msg_info("%llu recorded call%s did not return: in the trace's text, the lines of the form "
			 "\"## NAME(...) <no return>\"",
			 (unsigned long long)unreturned, unreturned == 1 ? "" : "s");
	if (count)
		msg_info("-a shows no arguments of %llu function%s: nothing is known of their parameters. What is "
			 "compiled with -g says it, or a description: -e FILE.conf, see functrace-modules(7)",
			 (unsigned long long)count, count == 1 ? "" : "s");
}

static void report_figures(const struct run *run)
{
	if (run->without_figures > 1)
		msg_info("%zu traces have no figures of the heap; of the first: %s", run->without_figures,
			 run->why_without);
	else if (run->without_figures)
		msg_info("the trace has no figures of the heap: %s", run->why_without);
}

void report_counts(const struct run *run)
{
	report_untraced(run);
	report_figures(run);
	report_oddities(run);
	report_stacks(run);
	report_arguments(run);
}
