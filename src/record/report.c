#include "config.h"
#include "record/report.h"
#include "record/kinds.h"
#include "record/ledger.h"
#include "record/output.h"
#include "record/run.h"
#include "base/buf.h"
#include "base/msg.h"
#include "proc/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is reported at the end: what the traces hold, where they are, and what was not traced. A few traces are
 * reported one by one; of a shell script's hundreds only the main one and the sum. */

#define REPORTED_ONE_BY_ONE 6
#define UNREAD_REPORTED     8 /* objects that could not be read, one by one */

struct report {
	char *text; /* the line about one trace */
	char *hint; /* why there is nothing in it, NULL none */
	char *cut;  /* what of its stacks is cut, "" if nothing */
	char *path;
	uint64_t events, written;
	bool is_main;
	pid_t elsewhere; /* the process, if its paths are those of another mount namespace */
	bool is_deleted; /* the program's file */
	bool is_broken;  /* it could not be written to its end */
};

/* "4 calls ...", behind what is there already; nothing for 0. */
static void add_count(struct buf *b, uint64_t count, const char *one, const char *many)
{
	char text[32];

	if (count)
		buf_printf(b, "%s%s %s", b->size ? "; " : "", number_grouped(count, text), count == 1 ? one : many);
}

/* "1 block", "1,234 blocks". */
static void add_number(struct buf *b, uint64_t number, const char *noun)
{
	char text[32];

	buf_printf(b, "%s %s%s", number_grouped(number, text), noun, number == 1 ? "" : "s");
}

static bool is_deleted(const char *path)
{
	return path[proc_path_length(path)] != '\0';
}

/* The name that it was started by, and its program's file where that is called otherwise. */
static void add_process(struct buf *b, const struct trace *trace)
{
	const char *slash = strrchr(trace->exe, '/');
	const char *file = slash ? slash + 1 : trace->exe;
	const size_t length = strlen(trace->name);

	buf_printf(b, "process %d (%s", trace->pid, trace->name);
	if (strncmp(file, trace->name, length) || (file[length] && proc_path_length(file) != length))
		buf_printf(b, ", program %s", trace->exe);
	buf_add_str(b, ")");
}

/* "12 %", with a digit more below 10. */
static const char *share(uint64_t part, uint64_t whole, char text[32])
{
	const double percent = 100.0 * (double)part / (double)whole;

	snprintf(text, 32, percent < 0.1 ? "less than 0.1 %%" : percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
	return text;
}

/* Behind what else is reported of the trace; the caller frees it. */
static char *cut_share(const struct trace *trace)
{
	char text[32];

	return trace->counts.cut_stacks ? xasprintf("; %s of its stacks are cut",
						    share(trace->counts.cut_stacks, trace->counts.stacks, text))
					: xstrdup("");
}

/* "2 blocks with 30 bytes", "1 descriptor". */
static void add_amount(struct buf *b, const struct resource *kind, uint64_t count, uint64_t bytes)
{
	add_number(b, count, kind->noun);
	if (!kind->unit)
		return;
	buf_add_str(b, " with ");
	add_number(b, bytes, kind->unit);
}

/* What is from before a fork is in the parent's trace, and not in this one: functrace-postproc -l has the first
 * number. */
static void add_live(struct buf *b, const struct trace *trace, uint32_t resource)
{
	const struct resource *kind = kind_of(trace->run->set, resource);
	const struct live_total live = ledger_live(trace, resource);

	add_amount(b, kind, live.blocks, live.bytes);
	buf_add_str(b, live.blocks == 1 ? " is live" : " are live");
	if (!live.inherited)
		return;
	buf_add_str(b, ", and from before the fork ");
	add_amount(b, kind, live.inherited, live.inherited_bytes);
}

static char *report_text(const struct trace *trace)
{
	struct buf b = {0};
	char written[32];

	add_process(&b, trace);
	buf_add_str(&b, ": ");
	add_number(&b, trace->counts.events, "event");
	if (trace->calls_written != trace->counts.events)
		buf_printf(&b, ", %s of them in the trace", number_grouped(trace->calls_written, written));
	for (uint32_t id = 1; id < kinds_end(trace->run->set); id++)
		if (kind_lives(kind_of(trace->run->set, id))) {
			buf_add_str(&b, "; ");
			add_live(&b, trace, id);
		}
	buf_printf(&b, "; trace: %s%s", trace->path, trace->broken ? " (incomplete)" : "");
	/* Of a launched one the exit status says that. */
	if (trace->killed_by && !trace->is_launched)
		buf_printf(&b, "; it was killed by signal %d (%s)", trace->killed_by, strsignal(trace->killed_by));
	char *const text = xstrdup(buf_str(&b));

	buf_free(&b);
	return text;
}

/* What a fork's child has from its parent is in the parent's trace. */
static void note_inherited(struct trace *trace, uint32_t resource)
{
	const struct live_total live = ledger_live(trace, resource);
	struct buf b = {0};

	if (!live.inherited)
		return;
	add_amount(&b, kind_of(trace->run->set, resource), live.inherited, live.inherited_bytes);
	output_note(trace, "from before the fork %s %s live, and not in this trace", buf_str(&b),
		    live.inherited == 1 ? "is" : "are");
	buf_free(&b);
}

void report_end(struct trace *trace, const char *how)
{
	if (how)
		output_note(trace, "%s", how);
	for (uint32_t id = 1; id < kinds_end(trace->run->set); id++)
		note_inherited(trace, id);
	output_end(trace);
}

void report_trace(struct trace *trace, char *hint)
{
	struct run *run = trace->run;

	ARRAY_GROW(run->reports, run->report_capacity, run->report_count);
	run->reports[run->report_count++] =
		(struct report){.text = report_text(trace),
				.hint = hint,
				.cut = cut_share(trace),
				.path = strcmp(trace->path, "standard output") ? xstrdup(trace->path) : NULL,
				.events = trace->counts.events,
				.written = trace->calls_written,
				.is_main = trace->is_launched || trace->attached_to,
				.elsewhere = trace->foreign_mounts ? trace->pid : 0,
				.is_deleted = is_deleted(trace->exe),
				.is_broken = trace->broken};
	counts_add(&run->totals, &trace->counts);
	run->attached |= trace->attached_to;
	run->unread += trace->objects->unread_count;
	for (size_t i = 0; i < trace->objects->unread_count && run->unread_reported < UNREAD_REPORTED;
	     i++, run->unread_reported++)
		msg_warn("process %d: not traced: %s", trace->pid, trace->objects->unread[i]);
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

static void add_unknown_releases(struct buf *b, const struct run *run)
{
	const char *noun = kinds_noun(run->set);
	const char *paused = run->was_paused ? ", or from while tracing was paused" : "";
	char one[128], many[128];

	snprintf(one, sizeof(one), "release of a %s %s%s", noun,
		 run->attached ? "from before functrace attached" : "that was not seen allocated", paused);
	snprintf(many, sizeof(many), "releases of %ss %s%s", noun,
		 run->attached ? "from before functrace attached" : "that were not seen allocated", paused);
	add_count(b, run->totals.unknown_releases, one, many);
}

static void add_mismatched(struct buf *b, const struct run *run)
{
	char *families = kinds_families(run->set);
	char one[96], many[96];

	snprintf(one, sizeof(one), "release by another family of functions%s", families);
	snprintf(many, sizeof(many), "releases by another family of functions%s", families);
	add_count(b, run->totals.mismatched, one, many);
	free(families);
}

static void report_oddities(const struct run *run)
{
	const struct counts *c = &run->totals;
	struct buf b = {0};

	add_count(&b, c->stale, "call ended without a return (an exception, longjmp)",
		  "calls ended without a return (an exception, longjmp)");
	add_count(&b, c->withdrawn, "release is not in the trace: its call did not return while it was traced",
		  "releases are not in the trace: their calls did not return while they were traced");
	add_unknown_releases(&b, run);
	add_mismatched(&b, run);
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
			 share(c->cut_stacks, c->stacks, text), depth, more);
	else if (c->cut_stacks)
		msg_info("%s of the stacks were cut at %u frames, the most that there can be",
			 share(c->cut_stacks, c->stacks, text), depth);
	if (c->lost_stacks)
		msg_info("%s of the stacks could not be followed to their start: they end in code that does not say "
			 "where it was called from; \"(lost)\" in what functrace-postproc shows",
			 share(c->lost_stacks, c->stacks, text));
}

/* The trace that matters most: of the main process if it has any event, the one with the most. */
static const struct report *main_report(const struct run *run)
{
	const struct report *best = NULL;

	for (size_t i = 0; i < run->report_count; i++) {
		const struct report *r = &run->reports[i];

		const bool is_main = r->is_main && r->events, best_is_main = best && best->is_main && best->events;

		if (!best || is_main > best_is_main || (is_main == best_is_main && r->events >= best->events))
			best = r;
	}
	return best;
}

static void report_traces(const struct run *run, const struct report *best)
{
	const bool all = run->report_count <= REPORTED_ONE_BY_ONE;
	size_t shown = 0;
	char events[32];

	for (size_t i = 0; i < run->report_count; i++) {
		const struct report *r = &run->reports[i];

		/* Each process that was named is reported. */
		if (all || r == best || (run->attached && r->is_main)) {
			msg_info("%s%s", r->text, run->report_count > 1 ? r->cut : "");
			if (r->hint)
				msg_info("%s", r->hint);
			shown++;
		}
	}
	if (shown < run->report_count)
		msg_info("and %zu more traces, of %s other programs and of %s children; %s events in all%s",
			 run->report_count - shown, shown > 1 ? "their" : "this process's", shown > 1 ? "their" : "its",
			 number_grouped(run->totals.events, events),
			 run->set->output ? "" : " (-o FOLDER keeps them together, -F leaves children out)");
	if (run->silent_children)
		msg_info("forked processes that made no traced call, and so have no trace: %zu", run->silent_children);
}

static bool has_live_names(const struct run *run)
{
	return run->set->resolve && encoding_can(run->set->encoding, ENCODING_NAMES);
}

/* The command that shows the leaks, to be copied into a shell. */
static void report_command(const struct run *run, const struct report *r)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-+,:=@%";
	const bool is_plain = !r->path[strspn(r->path, plain)];
	char root[48] = "";

	if (r->elsewhere)
		snprintf(root, sizeof(root), "--sysroot=/proc/%d/root ", r->elsewhere);
	/* A path that looks like an option is none. */
	msg_info("to see the leaks%s: functrace-postproc -l -c -r %s%s%s%s%s",
		 r->is_broken ? " (and what was released after the trace broke off)" : "", root, is_plain ? "" : "'",
		 *r->path == '-' ? "./" : "", r->path, is_plain ? "" : "'");
	if (r->elsewhere && !proc_parent(r->elsewhere))
		msg_info("process %d ran in another mount namespace and has ended: instead of /proc/%d/root give the "
			 "folder where its files are",
			 r->elsewhere, r->elsewhere);
	if (r->is_deleted && !has_live_names(run))
		msg_info("the program's file has been deleted or replaced: for its names trace with -f %s -r, as long "
			 "as it runs",
			 encoding_names(ENCODING_TRACE | ENCODING_NAMES));
}

void report_summary(const struct run *run)
{
	const struct report *best = main_report(run);

	report_traces(run, best);
	report_untraced(run);
	report_oddities(run);
	report_stacks(run);
	if (best && best->path && best->written && encoding_can(run->set->encoding, ENCODING_READ))
		report_command(run, best);
}

void reports_free(struct run *run)
{
	for (size_t i = 0; i < run->report_count; i++) {
		free(run->reports[i].text);
		free(run->reports[i].hint);
		free(run->reports[i].cut);
		free(run->reports[i].path);
	}
	free(run->reports);
}
