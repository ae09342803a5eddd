#include "config.h"
#include "tracer/model.h"
#include "tracer/who.h"
#include "base/buf.h"
#include "base/msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is told at the end: what the traces hold, where they are, and what was not traced. A few traces are told
 * one by one; of a shell script's hundreds only the main one and the sum. */

#define TOLD_ONE_BY_ONE 6

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
	static const char mark[] = " (deleted)";
	const size_t length = strlen(path);

	return length >= sizeof(mark) - 1 && !strcmp(path + length - (sizeof(mark) - 1), mark);
}

/* The name that it was started by, and its program's file where that is called otherwise. */
static void add_process(struct buf *b, const struct process *p)
{
	const char *slash = strrchr(p->exe, '/');
	const char *file = slash ? slash + 1 : p->exe;
	const size_t length = strlen(p->name);

	buf_printf(b, "process %d (%s", p->pid, p->name);
	if (strncmp(file, p->name, length) || (file[length] && strcmp(file + length, " (deleted)")))
		buf_printf(b, ", program %s", p->exe);
	buf_add_str(b, ")");
}

static bool found_any(const struct process *p)
{
	for (size_t i = 0; i < p->probe_count; i++)
		if (!p->probes[i]->wanted->hook)
			return true;
	return false;
}

/* "0 events" without a reason is a defect. */
static void report_nothing(const struct process *p)
{
	bool stripped = false;

	/* A program that has ended, or was let go of, before its libraries were there. */
	if (found_any(p) || (p->program && elf_file_interpreter(p->program->file) && !p->r_debug))
		return;
	for (size_t i = 0; i < p->objects.count; i++)
		if (!elf_file_has_symbols(p->objects.items[i]->file))
			stripped = true;
	if (stripped)
		msg_warn("none of the functions to be traced was found in process %d (%s): it is stripped. If you "
			 "know where they are in the file, say so: --symbol=malloc=0xADDRESS --symbol=free=0xADDRESS",
			 p->pid, p->name);
	else
		msg_warn("none of the functions to be traced was found in process %d (%s)%s.", p->pid, p->name,
			 p->tracer->set->library_count ? ": none of its objects matches -L" : "");
}

/* "12 %", with a digit more below 10. */
static const char *share(uint64_t part, uint64_t whole, char text[32])
{
	const double percent = 100.0 * (double)part / (double)whole;

	snprintf(text, 32, percent < 0.1 ? "less than 0.1 %%" : percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
	return text;
}

/* Of one trace, behind what else is told of it; the caller frees it. */
static char *cut_share(const struct process *p)
{
	char text[32];

	return p->counts.cut_stacks
		       ? xasprintf("; %s of its stacks are cut", share(p->counts.cut_stacks, p->counts.stacks, text))
		       : xstrdup("");
}

/* Blocks from before a fork are in the parent's trace, and not in this one: functrace-postproc -l has the first
 * number. */
static void add_live(struct buf *b, const struct process *p)
{
	const struct live_total live = ledger_live(p);

	add_number(b, live.blocks, "block");
	buf_add_str(b, " with ");
	add_number(b, live.bytes, "byte");
	buf_add_str(b, live.blocks == 1 ? " is live" : " are live");
	if (!live.inherited)
		return;
	buf_add_str(b, ", and from before the fork ");
	add_number(b, live.inherited, "block");
	buf_add_str(b, " with ");
	add_number(b, live.inherited_bytes, "byte");
}

static char *report_text(const struct process *p)
{
	struct buf b = {0};
	char written[32];

	add_process(&b, p);
	buf_add_str(&b, ": ");
	add_number(&b, p->counts.events, "event");
	if (p->calls_written != p->counts.events)
		buf_printf(&b, ", %s of them in the trace", number_grouped(p->calls_written, written));
	buf_add_str(&b, "; ");
	add_live(&b, p);
	buf_printf(&b, "; trace: %s%s", p->trace_path, p->broken ? " (incomplete)" : "");
	/* Of a launched one the exit status tells that. */
	if (p->killed_by && !p->is_launched)
		buf_printf(&b, "; it was killed by signal %d (%s)", p->killed_by, strsignal(p->killed_by));
	char *const text = xstrdup(buf_str(&b));

	buf_free(&b);
	return text;
}

#define CHILDREN_TOLD 8

/* A process that has made no call while it was attached to: it may be the master of others that do the work. */
static char *report_hint(const struct process *p)
{
	struct buf b = {0};
	size_t count, told = 0;

	if (!p->attached_to || p->counts.events || p->broken || !found_any(p))
		return NULL;
	pid_t *const pids = who_children(p->pid, &count);

	for (size_t i = 0; i < count; i++) {
		if (task_of_group(p->tracer, pids[i]))
			continue; /* forked meanwhile, or --children: it has a trace */
		if (told++ < CHILDREN_TOLD) {
			char *const name = who_name(pids[i]);

			buf_printf(&b, "%s%d (%s)", told > 1 ? ", " : "", pids[i], name);
			free(name);
		}
	}
	free(pids);
	if (count && !told)
		return NULL; /* they have traces */
	if (told > CHILDREN_TOLD)
		buf_printf(&b, " and %zu more", told - CHILDREN_TOLD);
	char *const hint =
		told ? xasprintf("process %d (%s) made no traced call. It has children that were not attached to: %s. "
				 "To attach to them too: -t %d --children",
				 p->pid, p->name, buf_str(&b), p->pid)
		     : xasprintf("process %d (%s) made no traced call while it was attached to", p->pid, p->name);

	buf_free(&b);
	return hint;
}

void output_report(struct process *p)
{
	struct tracer *t = p->tracer;

	if (p->reported)
		return;
	t->silent_children += p->forked_by != 0;
	p->reported = true;
	if (!p->trace_path)
		return;
	report_nothing(p);
	ARRAY_GROW(t->reports, t->report_capacity, t->report_count);
	t->reports[t->report_count++] =
		(struct report){.text = report_text(p),
				.hint = report_hint(p),
				.cut = cut_share(p),
				.path = strcmp(p->trace_path, "standard output") ? xstrdup(p->trace_path) : NULL,
				.events = p->counts.events,
				.written = p->calls_written,
				.is_main = p->is_launched || p->attached_to,
				.elsewhere = p->foreign_mounts ? p->pid : 0,
				.is_deleted = is_deleted(p->exe),
				.is_broken = p->broken};
	counts_add(&t->totals, &p->counts);
	t->attached |= p->attached_to;
	for (size_t i = 0; i < p->objects.unread_count && t->unread_told < 8; i++, t->unread_told++)
		msg_warn("process %d: not traced: %s", p->pid, p->objects.unread[i]);
}

static void report_losses(const struct tracer *t)
{
	const struct counts *c = &t->totals;
	struct buf b = {0};

	add_count(&b, c->no_return_seen, "call whose return could not be watched",
		  "calls whose return could not be watched");
	add_count(&b, c->not_calls, "entry that was no call", "entries that were no calls");
	add_count(&b, c->failed_probes, "function that could not be probed", "functions that could not be probed");
	add_count(&b, t->broken_traces, "trace that could not be written to its end",
		  "traces that could not be written to their end");
	add_count(&b, t->untraced_children, "process that was let go of", "processes that were let go of");
	add_count(&b, t->lost_attach, "process that could not be attached", "processes that could not be attached");
	if (b.size)
		msg_info("not traced: %s", buf_str(&b));
	buf_free(&b);
	add_count(&b, c->stale, "call ended without a return (an exception, longjmp)",
		  "calls ended without a return (an exception, longjmp)");
	add_count(&b, c->unknown_releases,
		  t->attached ? "release of a block from before functrace attached"
			      : "release of a block that was not seen allocated",
		  t->attached ? "releases of blocks from before functrace attached"
			      : "releases of blocks that were not seen allocated");
	add_count(&b, c->mismatched, "release by another family of functions (new and free)",
		  "releases by another family of functions (new and free)");
	add_count(&b, c->slow_steps, "breakpoint passed by stopping all threads",
		  "breakpoints passed by stopping all threads");
	if (b.size)
		msg_info("%s", buf_str(&b));
	buf_free(&b);
}

/* What stacks lack, and what shows it. */
static void report_stacks(const struct tracer *t)
{
	const struct counts *c = &t->totals;
	const unsigned depth = t->set->depth, more = depth * 2 < MAX_FRAMES ? depth * 2 : MAX_FRAMES;
	char text[32];

	if (c->cut_stacks && depth < MAX_FRAMES)
		msg_info("%s of the stacks were cut at %u frames: -b %u shows more",
			 share(c->cut_stacks, c->stacks, text), depth, more);
	else if (c->cut_stacks)
		msg_info("%s of the stacks were cut at %u frames, the most that there can be",
			 share(c->cut_stacks, c->stacks, text), depth);
	if (c->lost_stacks)
		msg_info("%s of the stacks could not be followed to their start: they end in code that does not tell "
			 "where it was called from; \"(lost)\" in what functrace-postproc shows",
			 share(c->lost_stacks, c->stacks, text));
}

/* The trace that matters most: of the main process if it has any event, the one with the most. */
static const struct report *main_report(const struct tracer *t)
{
	const struct report *best = NULL;

	for (size_t i = 0; i < t->report_count; i++) {
		const struct report *r = &t->reports[i];

		const bool is_main = r->is_main && r->events, best_is_main = best && best->is_main && best->events;

		if (!best || is_main > best_is_main || (is_main == best_is_main && r->events >= best->events))
			best = r;
	}
	return best;
}

static void tell_traces(const struct tracer *t, const struct report *best)
{
	const bool all = t->report_count <= TOLD_ONE_BY_ONE;
	size_t told = 0;
	char events[32];

	for (size_t i = 0; i < t->report_count; i++) {
		const struct report *r = &t->reports[i];

		/* Each process that was named is told of. */
		if (all || r == best || (t->attached && r->is_main)) {
			msg_info("%s%s", r->text, t->report_count > 1 ? r->cut : "");
			if (r->hint)
				msg_info("%s", r->hint);
			told++;
		}
	}
	if (told < t->report_count)
		msg_info("and %zu more traces, of %s other programs and of %s children; %s events in all%s",
			 t->report_count - told, told > 1 ? "their" : "this process's", told > 1 ? "their" : "its",
			 number_grouped(t->totals.events, events),
			 t->set->output ? "" : " (-o FOLDER keeps them together, -F leaves children out)");
	if (t->silent_children)
		msg_info("forked processes that made no traced call, and so have no trace: %zu", t->silent_children);
}

static bool has_live_names(const struct tracer *t)
{
	return t->set->resolve && !strcmp(encoding_name(t->set->encoding), "text");
}

/* The command that shows the leaks, to be copied into a shell. */
static void tell_command(const struct tracer *t, const struct report *r)
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
	if (r->elsewhere && !who_parent(r->elsewhere))
		msg_info("process %d ran in another mount namespace and has ended: instead of /proc/%d/root give the "
			 "folder where its files are",
			 r->elsewhere, r->elsewhere);
	if (r->is_deleted && !has_live_names(t))
		msg_info(
			"the program's file has been deleted or replaced: for its names trace with -f text -r, as long as it "
			"runs");
}

void output_summary(struct tracer *t)
{
	const struct report *best = main_report(t);

	tell_traces(t, best);
	report_losses(t);
	report_stacks(t);
	if (best && best->path && best->written)
		tell_command(t, best);
}

void reports_free(struct tracer *t)
{
	for (size_t i = 0; i < t->report_count; i++) {
		free(t->reports[i].text);
		free(t->reports[i].hint);
		free(t->reports[i].cut);
		free(t->reports[i].path);
	}
	free(t->reports);
}
