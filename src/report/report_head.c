/* Writes the head of the report: the traced processes, how they ended, and what is missing in the trace. */
#include "config.h"
#include "report/process_ends.h"
#include "report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Largest numbers of processes and notes that are shown, and of processes that are shown for one note. */
enum { PROCESSES_SHOWN = 5, NOTES_SHOWN = 5, NOTES_PIDS = 3 };

void report_add_label(struct report *report, const char *label)
{
	lines_colour(&report->lines, COLOUR_TITLE);
	lines_add(&report->lines, "%-12s", label);
	lines_colour(&report->lines, COLOUR_NONE);
}

static void report_head_write_process(struct report *report, const struct profile_process *process)
{
	const struct account *account = process->account;

	report_add_label(report, process->is_old ? "compared to" : "program");
	char *const program = account_program(account);

	lines_add_name(&report->lines, program);
	free(program);
	if (account->has_pid)
		lines_add(&report->lines, ", process %" PRIu32, account->pid);
	if (account->is_attached)
		lines_add(&report->lines, ", attached to while it ran");
	lines_end(&report->lines);
}

/* Writes the processes of the older trace (are_old), or those of the traces that are reported. Each of these two lists
 * is limited to PROCESSES_SHOWN, so that an older trace of many processes does not hide the reported ones. */
static void write_processes(struct report *report, bool are_old)
{
	const struct profile *profile = report->profile;
	size_t count = 0;

	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].is_old == are_old && count++ < PROCESSES_SHOWN)
			report_head_write_process(report, &profile->processes[i]);
	if (count > PROCESSES_SHOWN) {
		report_add_label(report, "");
		LINE(&report->lines, "and %zu more process%s", count - PROCESSES_SHOWN,
		     count - PROCESSES_SHOWN == 1 ? "" : "es");
	}
}

static void write_times(struct report *report)
{
	const struct profile *profile = report->profile;
	const time_t begin = (time_t)profile->begin_sec;
	char span[32], clock[64], events[32];
	struct tm tm;

	report_add_label(report, profile_has_intervals(profile) ? "watched" : "traced");
	if (begin > 0 && gmtime_r(&begin, &tm) && strftime(clock, sizeof(clock), "%Y-%m-%d %H:%M:%S", &tm))
		lines_add(&report->lines, "from %s UTC on, ", clock);
	lines_add(&report->lines, "%s %s%s", number_grouped(profile->events, events),
		  profile_has_intervals(profile) ? "call" : "event", profile->events == 1 ? "" : "s");
	if (profile_has_intervals(profile))
		lines_add(&report->lines, " seen");
	/* A trace does not contain the duration of tracing, only the times of the first and the last event. */
	if (profile->has_times && profile->end_since)
		lines_add(&report->lines, " within %s", report_span_text(report, profile->end_since, span));
	lines_end(&report->lines);
}

static void write_resident_of(struct report *report, const struct account *account, bool is_one)
{
	char last[32], peak[32];

	report_add_label(report, "resident");
	lines_add(&report->lines, "%s bytes when last measured, %s at the peak",
		  number_grouped(account->resident.last, last), number_grouped(account->resident.peak, peak));
	if (!is_one && account->has_pid)
		lines_add(&report->lines, ", process %" PRIu32, account->pid);
	lines_end(&report->lines);
}

/* Writes the resident memory of each process. It is not summed up, because shared memory is resident in each
 * process. */
static void report_head_write_resident(struct report *report)
{
	const struct profile *profile = report->profile;
	size_t known = 0, shown = 0;

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		if (process->is_old || !process->account->resident.is_known)
			continue;
		if (known++ < PROCESSES_SHOWN) {
			write_resident_of(report, process->account, profile->process_count == 1);
			shown++;
		}
	}
	if (profile_has_intervals(profile))
		return;
	if (!known) {
		report_add_label(report, "resident");
		LINE(&report->lines, "%s", "unknown: the trace does not say how much memory was resident");
	} else if (known > shown) {
		report_add_label(report, "");
		LINE(&report->lines, "and of %zu more process%s", known - shown, known - shown == 1 ? "" : "es");
	}
}

/* Writes the time T of --diff=@T. The older trace of --diff=OLD is listed with the processes instead. */
static void write_mark(struct report *report)
{
	char when[32];

	for (size_t p = 0; p < report->profile->process_count; p++)
		if (report->profile->processes[p].account->wishes.has_mark) {
			report_add_label(report, "compared to");
			LINE(&report->lines, "the state after %s",
			     report_span_text(report, report->profile->processes[p].account->wishes.mark, when));
			return;
		}
}

static void write_selection(struct report *report)
{
	write_mark(report);
	if (!*string_or_empty(report->options.selection))
		return;
	report_add_label(report, "only");
	lines_add_name(&report->lines, report->options.selection);
	lines_end(&report->lines);
}

static void write_count(struct report *report, uint64_t part, const char *what)
{
	char count[32];

	report_add_label(report, "not seen");
	lines_add(&report->lines, "%s %s", number_grouped(part, count), what);
	lines_end(&report->lines);
}

/* Writes which traces have no end, and how those processes ended that did not exit with status 0. Unlike processes and
 * notes, these ends are not limited to the first few, because most readers look for them. */
static void write_ends(struct report *report)
{
	char *const missing = process_ends_missing(report->profile);
	struct process_ends ends;

	if (missing) {
		report_add_label(report, "incomplete");
		lines_colour(&report->lines, COLOUR_FIGURE);
		lines_add_name(&report->lines, missing);
		lines_colour(&report->lines, COLOUR_NONE);
		lines_end(&report->lines);
	}
	free(missing);
	process_ends_collect(&ends, report->profile);
	for (size_t i = 0; i < ends.count; i++) {
		report_add_label(report, "ended");
		lines_colour(&report->lines, COLOUR_FIGURE);
		lines_add_name(&report->lines, ends.items[i]);
		lines_colour(&report->lines, COLOUR_NONE);
		lines_end(&report->lines);
	}
	if (ends.left_out) {
		report_add_label(report, "");
		LINE(&report->lines, "and %zu more that did not end with status 0", ends.left_out);
	}
	process_ends_free(&ends);
}

/* Why the allocation of a released resource is not in the trace: it is older than the trace, or older than the fork
 * with which the trace began. If functrace launched the program, there are no older allocations: the allocation was
 * missed, or this is a double release. */
enum unseen { UNSEEN_OLDER, UNSEEN_FORK, UNSEEN_LAUNCHED, UNSEEN_KINDS };

static enum unseen unseen_of(const struct account *account)
{
	if (account->is_forked)
		return UNSEEN_FORK;
	/* For a trace of another tool (is_expected is false) it is unknown whether the program ran before the trace. */
	return account->trace_end.is_expected && !account->is_attached ? UNSEEN_LAUNCHED : UNSEEN_OLDER;
}

static void write_unknown_releases(struct report *report)
{
	static const char *const words[] = {
		[UNSEEN_OLDER] = "allocation(s) of released resources: they are older than the trace",
		[UNSEEN_FORK] = "allocation(s) of released resources: they are from before the fork",
		[UNSEEN_LAUNCHED] = "allocation(s) of released resources: a double release, or an allocation by a "
				    "function that was not traced",
	};
	const struct profile *profile = report->profile;
	uint64_t unknown[UNSEEN_KINDS] = {0};

	for (size_t i = 0; i < profile->process_count; i++)
		for (size_t k = 0; k < profile->resource_count; k++) {
			const struct account *account = profile->processes[i].account;
			const struct resource_account *resource =
				profile_resource_account(account, profile->resources[k]);

			if (resource && !profile->processes[i].is_old)
				unknown[unseen_of(account)] += resource->unknown_releases;
		}
	for (size_t i = 0; i < UNSEEN_KINDS; i++)
		if (unknown[i])
			write_count(report, unknown[i], words[i]);
}

static void write_unseen(struct report *report)
{
	const struct profile *profile = report->profile;
	uint64_t reused = 0;

	for (size_t i = 0; i < profile->resource_count; i++)
		reused += profile->resources[i]->reused;
	write_unknown_releases(report);
	if (reused)
		write_count(report, reused, "release(s): the same address was allocated again");
	if (profile->stacks_cut)
		write_count(report, profile->stacks_cut, "stack(s) in full, because they are deeper than -b allows");
	if (profile->stacks_lost)
		write_count(report, profile->stacks_lost,
			    "stack(s) in full, because the caller of a frame was not found");
}

/* The notes of several processes that are equal except for the numbers in their texts. */
struct note_kind {
	const char *text;           /* text of the first note */
	const struct account *last; /* the last process with such a note */
	size_t processes;
	uint32_t pids[NOTES_PIDS]; /* the first processes with such a note */
};

/* Returns the next character of a note; returns a single '#' for all digits of a number. */
static char next_of_note(const char **text)
{
	const size_t digits = strspn(*text, "0123456789");

	if (!digits)
		return **text ? *(*text)++ : '\0';
	*text += digits;
	return '#';
}

static bool is_alike(const char *a, const char *b)
{
	char c;

	do {
		c = next_of_note(&a);
		if (c != next_of_note(&b))
			return false;
	} while (c);
	return true;
}

/* Returns the element of `kinds` for notes that are equal to `text` except for numbers; returns NULL if there is none
 * yet. Two notes of one process (`account`) never share an element, so that each of them is shown with its numbers. */
static struct note_kind *kind_of_note(struct note_kind *kinds, size_t count, const struct account *account,
				      const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (kinds[i].last != account && is_alike(kinds[i].text, text))
			return &kinds[i];
	return NULL;
}

static void write_note(struct report *report, const struct note_kind *kind, bool is_old)
{
	report_add_label(report, "note");
	lines_add(&report->lines, "%s", is_old ? "of the older trace: " : "");
	lines_add_name(&report->lines, kind->text);
	if (kind->processes > 1) {
		lines_add(&report->lines, " (the same or similar in %zu processes:", kind->processes);
		for (size_t i = 0; i < kind->processes && i < NOTES_PIDS; i++)
			lines_add(&report->lines, "%s %" PRIu32, i ? "," : "", kind->pids[i]);
		lines_add(&report->lines, "%s)", kind->processes > NOTES_PIDS ? ", ..." : "");
	}
	lines_end(&report->lines);
}

/* Writes the notes of the older trace (are_old), or those of the traces that are reported. The two are written
 * separately, because a note says nothing about another trace. */
static void write_notes(struct report *report, bool are_old)
{
	const struct profile *profile = report->profile;
	struct note_kind kinds[NOTES_SHOWN];
	size_t count = 0, left_out = 0;

	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *account = profile->processes[p].account;

		if (profile->processes[p].is_old != are_old)
			continue;
		left_out += account->notes_left_out;
		for (size_t i = 0; i < account->note_count; i++) {
			struct note_kind *kind = kind_of_note(kinds, count, account, account->notes[i]);

			if (!kind && count == NOTES_SHOWN) {
				left_out++;
				continue;
			}
			if (!kind) {
				kind = &kinds[count++];
				*kind = (struct note_kind){.text = account->notes[i]};
			}
			kind->last = account;
			if (kind->processes++ < NOTES_PIDS)
				kind->pids[kind->processes - 1] = account->pid;
		}
	}
	for (size_t i = 0; i < count; i++)
		write_note(report, &kinds[i], are_old);
	if (!left_out)
		return;
	report_add_label(report, "");
	LINE(&report->lines, "and %zu more note%s%s%s", left_out, left_out == 1 ? "" : "s",
	     are_old ? " of the older trace" : "",
	     report->options.is_kept ? "; to see them: functrace-postproc TRACE"
				     : "; to see them, keep the trace (-o)");
}

/* Returns true if the reported traces include an earlier one of the same process that has live blocks of the
 * resource. */
static bool has_earlier_trace(const struct profile *profile, size_t process, const struct profile_resource *resource)
{
	const struct account *const account = profile->processes[process].account;

	for (size_t p = 0; account->has_pid && p < profile->process_count; p++) {
		const struct account *const other = profile->processes[p].account;
		const bool is_earlier = other->start_sec < account->start_sec ||
					(other->start_sec == account->start_sec && p < process);

		if (!is_earlier || profile->processes[p].is_old || !other->has_pid || other->pid != account->pid)
			continue;
		const struct resource_account *const of_other = profile_resource_account(other, resource);

		if (of_other && of_other->live.calls)
			return true;
	}
	return false;
}

/* group: blocks from before the trace. Sets again[p] for each reported trace p that has blocks of the group, if the
 * same process has an earlier trace with live blocks of this kind: those blocks are counted in both traces. */
static void mark_counted_again(const struct profile *profile, const struct profile_group *group, bool *again)
{
	for (size_t m = 0; m < group->member_count; m++) {
		const size_t p = group->members[m].process;

		again[p] =
			again[p] || (!profile->processes[p].is_old && has_earlier_trace(profile, p, group->resource));
	}
}

/* Writes which process has live blocks that are counted twice. A process may have several traces, because tracing was
 * paused or functrace was attached again. The live blocks of all traces are summed up, although a later trace also
 * contains those of an earlier one. */
static void write_counted_again(struct report *report)
{
	const struct profile *profile = report->profile;
	bool *const again = xcalloc(profile->process_count + 1, sizeof(*again));
	size_t count = 0;
	uint32_t pid = 0;

	for (size_t i = 0; i < profile->group_count; i++)
		if (profile->groups[i]->is_before)
			mark_counted_again(profile, profile->groups[i], again);
	for (size_t p = 0; p < profile->process_count; p++)
		if (again[p] && !count++)
			pid = profile->processes[p].account->pid;
	free(again);
	if (!count)
		return;
	report_add_label(report, "twice");
	lines_add(&report->lines,
		  "blocks that are live at the end of a trace of process %" PRIu32
		  " are counted again in a later trace of the process, as blocks from before that trace",
		  pid);
	if (count > 1)
		lines_add(&report->lines, " (the same in %zu more trace%s)", count - 1, count == 2 ? "" : "s");
	lines_end(&report->lines);
}

void report_head(struct report *report)
{
	write_processes(report, true);
	write_processes(report, false);
	write_ends(report);
	write_times(report);
	report_head_write_resident(report);
	write_selection(report);
	write_unseen(report);
	write_counted_again(report);
	write_notes(report, false);
	write_notes(report, true);
}
