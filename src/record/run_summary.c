#include "config.h"
#include "record/run_summary.h"
#include "record/resource_ids.h"
#include "record/ledger.h"
#include "record/commit.h"
#include "record/trace_output.h"
#include "record/run.h"
#include "record/run_probes.h"
#include "record/trace_file.h"
#include "base/buf.h"
#include "base/msg.h"
#include "base/shell_quote.h"
#include "proc/proc.h"
#include "trace/note_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the summary of a run. A few traces are reported one by one. If there are many, as for a shell script, only the
 * main trace, those of processes that -t names, those with the most live bytes, and the sum are reported. */

#define REPORTED_ONE_BY_ONE 6
/* number of traces with the most live bytes that are reported if there are many */
#define MOST_LIVE_REPORTED 5
#define UNREAD_REPORTED    8 /* number of unreadable objects that are reported one by one */

struct trace_report {
	char *text; /* the line to be printed about the trace */
	char *hint; /* sentence on why the trace is empty, or NULL */
	char *cut;  /* clause on the share of stacks that are cut; "" if none are */
	char *path; /* path of the trace; NULL if it is no regular file */
	uint64_t events, written;
	struct live_total live; /* sum over all kinds */
	uint64_t wrong;         /* number of releases by another family, and of double releases */
	bool is_shown;          /* `text` was printed */
	bool is_main;
	/* the process's pid if the trace's paths are valid only in another mount namespace; else 0 */
	pid_t foreign_mounts_pid;
	bool is_deleted; /* the program's file was deleted */
	bool is_broken;  /* the trace could not be written to its end */
	bool is_clean;   /* no kind has lost resources, or live resources without a result of a scan */
	bool is_scanned; /* a scan has a result for at least one kind */
};

static bool is_deleted(const char *path)
{
	return path[proc_path_length(path)] != '\0';
}

/* Appends the pid, the name by which the process was started, and the path of its program if that file has another
 * name. */
static void run_summary_add_process(struct buf *b, const struct trace *trace)
{
	const char *const file = path_name(trace->origin.exe);
	const size_t length = strlen(trace->origin.name);

	buf_printf(b, "process %d (%s", trace->pid, trace->origin.name);
	if (strncmp(file, trace->origin.name, length) || (file[length] && proc_path_length(file) != length))
		buf_printf(b, ", program %s", trace->origin.exe);
	buf_add_str(b, ")");
}

/* Returns "; 12 % of its stacks are cut", or "" if none are. The caller frees it. */
static char *cut_share(const struct trace *trace)
{
	char text[32];

	return trace->counts.cut_stacks ? xasprintf("; %s of its stacks are cut",
						    report_share(trace->counts.cut_stacks, trace->counts.stacks, text))
					: xstrdup("");
}

/* Returns true if the traces are not kept: they are removed after the report (--report), or only shown (--live). */
static bool is_temporary(const struct run *run)
{
	const struct report_settings *report = &run->set->report;

	return report->is_live || (report->folder && run->set->trace.output == report->folder);
}

static char *report_text(const struct trace *trace)
{
	struct buf b = {0};
	char written[32];

	run_summary_add_process(&b, trace);
	buf_add_str(&b, ": ");
	run_summary_add_number(&b, trace->counts.events, "event");
	if (trace->output.calls_written != trace->counts.events && !trace->run->set->report.is_live)
		buf_printf(&b, ", %s of them in the trace", number_grouped(trace->output.calls_written, written));
	run_summary_add_all_live(&b, trace);
	if (trace->output.is_removed)
		buf_printf(&b,
			   trace->broken ? "; no trace: nothing could be written to %s" : "; no trace: %s was removed",
			   trace->output.path);
	else if (!is_temporary(trace->run))
		buf_printf(&b, "; trace: %s%s", trace->output.path, trace->broken ? " (incomplete)" : "");
	/* For a launched process, functrace's own exit status shows the signal. */
	if (trace->killed_by && !trace->origin.is_launched)
		buf_printf(&b, "; it was killed by signal %d (%s)", trace->killed_by, strsignal(trace->killed_by));
	char *const text = xstrdup(buf_str(&b));

	buf_free(&b);
	return text;
}

void report_over(struct trace *trace, const char *how)
{
	/* Readers look for a note that ends the trace. Without one, they report that the trace is cut off. */
	if (how)
		output_note(trace, "%s", how);
	if (!how || !note_ends_trace(how, true, (uint32_t)trace->pid))
		output_note(trace, NOTE_TRACE_ENDS);
	for (uint32_t id = 1; id < kinds_end(trace->run->set); id++)
		run_summary_note_older(trace, id);
}

void report_end(struct trace *trace, const char *how, bool has_other_tasks)
{
	report_over(trace, how);
	output_end(trace, has_other_tasks);
}

/* Returns the sum over all kinds, for comparing traces. */
static struct live_total live_sum(const struct trace *trace)
{
	struct live_total sum = {0};

	for (uint32_t id = 1; id < kinds_end(trace->run->set); id++) {
		const struct live_total live = ledger_live(trace, id);

		sum.blocks += live.blocks;
		sum.bytes += live.bytes;
	}
	return sum;
}

/* Returns the number of wrong releases: those by a function of another family than the allocation's, and double
 * releases, if the trace contains notes on these. */
static uint64_t wrong_releases(const struct trace *trace)
{
	uint64_t wrong = 0;

	for (uint32_t id = 1; id < kinds_end(trace->run->set); id++) {
		const struct kind_counts counts = ledger_counts(trace, id);

		wrong += counts.mismatched + (commit_suspects(trace) ? counts.repeated : 0);
	}
	return wrong;
}

/* Returns true if no kind has lost resources. For a kind with a result of a scan, this result decides; a kind without
 * one must have no live resources. */
static bool is_clean(const struct trace *trace)
{
	for (uint32_t id = 1; id < kinds_end(trace->run->set); id++) {
		const struct lost_total lost = ledger_lost_total(trace, id);

		if (lost.is_known ? lost.blocks : ledger_live(trace, id).blocks)
			return false;
	}
	return true;
}

static bool is_scanned(const struct trace *trace)
{
	for (uint32_t id = 1; id < kinds_end(trace->run->set); id++)
		if (ledger_lost_total(trace, id).is_known)
			return true;
	return false;
}

static void add_totals(struct run *run, const struct trace *trace)
{
	counts_add(&run->sums.totals, &trace->counts);
	if (!run->sums.kind_totals)
		run->sums.kind_totals = xcalloc(kinds_end(run->set), sizeof(*run->sums.kind_totals));
	for (uint32_t id = 1; id < kinds_end(run->set); id++) {
		const struct kind_counts counts = ledger_counts(trace, id);

		kind_counts_add(&run->sums.kind_totals[id], &counts);
	}
}

void report_trace(struct trace *trace, char *hint)
{
	struct run *run = trace->run;

	ARRAY_GROW(run->sums.reports, run->sums.report_capacity, run->sums.report_count);
	run->sums.reports[run->sums.report_count++] =
		(struct trace_report){.text = report_text(trace),
				      .hint = hint,
				      .cut = cut_share(trace),
				      .path = trace->output.has_file ? xstrdup(trace->output.path) : NULL,
				      .events = trace->counts.events,
				      .written = trace->output.calls_written,
				      .live = live_sum(trace),
				      .wrong = wrong_releases(trace),
				      .is_main = trace->origin.is_launched || trace->origin.attached_to,
				      .foreign_mounts_pid = trace->origin.foreign_mounts ? trace->pid : 0,
				      .is_deleted = is_deleted(trace->origin.exe),
				      .is_broken = trace->broken,
				      .is_clean = is_clean(trace),
				      .is_scanned = is_scanned(trace)};
	run->sums.may_miss |= trace->origin.may_miss;
	add_totals(run, trace);
	run->sums.attached |= trace->origin.attached_to;
	run->sums.unread += trace->objects->unread_count;
	for (size_t i = 0; i < trace->objects->unread_count && run->sums.unread_reported < UNREAD_REPORTED;
	     i++, run->sums.unread_reported++)
		msg_warn("process %d: the functions of a file are not traced: %s", trace->pid,
			 trace->objects->unread[i]);
}

/* Returns the most important trace: the main process's if that has events, otherwise the trace with the most events. */
static const struct trace_report *main_report(const struct run *run)
{
	const struct trace_report *best = NULL;

	for (size_t i = 0; i < run->sums.report_count; i++) {
		const struct trace_report *r = &run->sums.reports[i];

		const bool is_main = r->is_main && r->events, best_is_main = best && best->is_main && best->events;

		if (!best || is_main > best_is_main || (is_main == best_is_main && r->events >= best->events))
			best = r;
	}
	return best;
}

/* Returns true if functrace-postproc can read the trace and the trace has calls. */
static bool run_summary_is_readable(const struct run *run, const struct trace_report *r)
{
	return r->path && r->written && encoding_can(run->set->trace.encoding, ENCODING_READ);
}

static void show_report(const struct run *run, struct trace_report *r)
{
	msg_info("%s%s", r->text, run->sums.report_count > 1 ? r->cut : "");
	if (r->hint)
		msg_info("%s", r->hint);
	r->is_shown = true;
}

static bool has_more_live(const struct trace_report *r, const struct trace_report *than)
{
	if (!r->live.blocks || !than)
		return r->live.blocks;
	return r->live.bytes != than->live.bytes ? r->live.bytes > than->live.bytes
						 : r->live.blocks > than->live.blocks;
}

/* Returns the trace with the most live bytes, of all or of those not shown yet; NULL if no trace has live resources. */
static struct trace_report *most_live(const struct run *run, bool of_all)
{
	struct trace_report *most = NULL;

	for (size_t i = 0; i < run->sums.report_count; i++)
		if ((of_all || !run->sums.reports[i].is_shown) && has_more_live(&run->sums.reports[i], most))
			most = &run->sums.reports[i];
	return most;
}

static bool is_many(const struct run *run)
{
	return run->sums.report_count > REPORTED_ONE_BY_ONE;
}

static void report_traces(const struct run *run, const struct trace_report *best)
{
	size_t shown = 0;
	struct trace_report *r;
	char events[32];

	for (size_t i = 0; i < run->sums.report_count; i++) {
		r = &run->sums.reports[i];
		/* Each process that -t names is reported. */
		if (!is_many(run) || r == best || (run->sums.attached && r->is_main)) {
			show_report(run, r);
			shown++;
		}
	}
	for (size_t i = 0; i < MOST_LIVE_REPORTED && (r = most_live(run, false)); i++, shown++)
		show_report(run, r);
	if (shown < run->sums.report_count)
		msg_info("and %zu more trace%s%s; %s events in all%s", run->sums.report_count - shown,
			 run->sums.report_count - shown == 1 ? "" : "s",
			 most_live(run, false) ? ", with fewer live bytes each" : ", with nothing live",
			 number_grouped(run->sums.totals.events, events),
			 run->set->trace.output ? "" : " (-o FOLDER keeps them together, -F leaves children out)");
	if (run->sums.silent_children)
		msg_info("forked processes that made no traced call, and so have no trace: %zu",
			 run->sums.silent_children);
}

static bool has_live_names(const struct run *run)
{
	return run->set->calls.resolve && encoding_can(run->set->trace.encoding, ENCODING_NAMES);
}

/* Returns true if the command that shows a report of `r` also shows the other trace. If there are few traces, the
 * command names all that can be read together with `r`, because one report can show them together. */
static bool is_shown_with(const struct run *run, const struct trace_report *r, const struct trace_report *other)
{
	/* The command can have only one --sysroot, so all paths must be of one mount namespace. */
	return other != r && !is_many(run) && run_summary_is_readable(run, other) &&
	       other->foreign_mounts_pid == r->foreign_mounts_pid;
}

/* Appends the paths for the command that shows a report of `r`. */
static void add_paths(const struct run *run, const struct trace_report *r, struct buf *b)
{
	shell_quote_add_path(b, r->path);
	for (size_t i = 0; i < run->sums.report_count; i++) {
		const struct trace_report *other = &run->sums.reports[i];

		if (!is_shown_with(run, r, other))
			continue;
		buf_add_str(b, " ");
		shell_quote_add_path(b, other->path);
	}
}

/* Returns a phrase that names what the report of `r` shows. */
static const char *shown_resources(const struct run *run, const struct trace_report *r)
{
	bool is_clean = r->is_clean, is_scanned = r->is_scanned;

	for (size_t i = 0; i < run->sums.report_count; i++) {
		const struct trace_report *other = &run->sums.reports[i];

		if (!is_shown_with(run, r, other))
			continue;
		is_clean &= other->is_clean;
		is_scanned |= other->is_scanned;
	}
	if (!is_scanned)
		return "the live resources (for lost blocks, trace with --scan)";
	return is_clean ? "the live resources" : "the leaks";
}

/* Prints the command that shows all traces together. To be called if there are many. Returns false and prints nothing
 * if the paths of a trace are valid only in another mount namespace, or if no pattern matches all traces. */
static bool report_all(const struct run *run)
{
	char traces[32];
	struct buf b = {0};
	bool has_pattern = true;

	for (size_t i = 0; i < run->sums.report_count; i++)
		has_pattern &= !run->sums.reports[i].foreign_mounts_pid;
	has_pattern = has_pattern && trace_file_pattern(run->set, &b);
	if (has_pattern)
		msg_info("to see all %s traces together: functrace-postproc --report %s",
			 number_grouped(run->sums.report_count, traces), buf_str(&b));
	buf_free(&b);
	return has_pattern;
}

/* Prints the command that shows the leaks or the live resources of `r` and of the traces that are shown with it. If
 * there are many traces, first prints the command that shows all of them. The commands can be copied into a shell. */
static void report_command(const struct run *run, const struct trace_report *r)
{
	const bool is_one = is_many(run) && report_all(run);
	struct buf b = {0};

	if (r->foreign_mounts_pid)
		buf_printf(&b, "--sysroot=/proc/%d/root ", r->foreign_mounts_pid);
	add_paths(run, r, &b);
	msg_info("to see %s%s%s: functrace-postproc --report %s", shown_resources(run, r),
		 is_one ? " in the trace with the most live bytes" : "",
		 r->is_broken ? " (and resources whose releases could not be written to the trace)" : "", buf_str(&b));
	buf_free(&b);
	if (r->foreign_mounts_pid && !proc_parent(r->foreign_mounts_pid))
		msg_info("process %d ran in another mount namespace and has ended, so that /proc/%d/root is gone: give "
			 "--sysroot the folder where the process's files are",
			 r->foreign_mounts_pid, r->foreign_mounts_pid);
	if (r->is_deleted && !has_live_names(run))
		msg_info("the program's file has been deleted or replaced: to get names of its functions, trace with "
			 "-f text -r while it runs");
}

/* Prints the command that shows the notes on wrong releases in the trace with the most of these. */
static void report_wrong(const struct run *run)
{
	const struct trace_report *most = NULL;
	struct buf b = {0};

	for (size_t i = 0; i < run->sums.report_count; i++)
		if (run_summary_is_readable(run, &run->sums.reports[i]) &&
		    run->sums.reports[i].wrong > (most ? most->wrong : 0))
			most = &run->sums.reports[i];
	if (!most)
		return;
	shell_quote_add_path(&b, most->path);
	msg_info("to see the wrong releases%s: functrace-postproc %s | grep ' releases 0x'",
		 run->set->calls.backtrace_all ? "" : " (functrace -A also records their stacks)", buf_str(&b));
	buf_free(&b);
}

void report_summary(const struct run *run)
{
	const struct trace_report *best = main_report(run);

	report_traces(run, best);
	report_counts(run);
	run_probes_report(run);
	if (run->set->report.is_wanted || run->set->report.is_live)
		return;
	report_wrong(run);
	if (best && (is_many(run) || !best->live.blocks))
		best = most_live(run, true);
	if (best && run_summary_is_readable(run, best))
		report_command(run, best);
}

void reports_free(struct run *run)
{
	for (size_t i = 0; i < run->sums.report_count; i++) {
		free(run->sums.reports[i].text);
		free(run->sums.reports[i].hint);
		free(run->sums.reports[i].cut);
		free(run->sums.reports[i].path);
	}
	free(run->sums.reports);
	free(run->sums.kind_totals);
}
