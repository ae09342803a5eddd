#include "config.h"
#include "tracer/model.h"
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
	char *path;
	uint64_t events;
	bool is_main;
};

static void add_count(struct buf *b, uint64_t count, const char *what)
{
	if (count)
		buf_printf(b, "%s%" PRIu64 " %s", b->size ? "; " : "", count, what);
}

/* 1234567 as 1,234,567. */
static const char *grouped(uint64_t number, char text[32])
{
	char digits[24];
	const int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
	char *out = text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return text;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
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
			 p->pid, base_name(p->exe));
	else
		msg_warn("none of the functions to be traced was found in process %d (%s)%s.", p->pid,
			 base_name(p->exe),
			 p->tracer->set->library_count ? ": none of its objects matches -L" : "");
}

void output_report(struct process *p)
{
	struct tracer *t = p->tracer;
	char events[32], blocks[32], size[32];
	uint64_t bytes;

	if (p->reported || !p->trace_path)
		return;
	p->reported = true;
	report_nothing(p);
	const uint64_t live = ledger_live(p, &bytes);

	ARRAY_GROW(t->reports, t->report_capacity, t->report_count);
	t->reports[t->report_count++] = (struct report){
		.text = xasprintf("process %d (%s): %s events; %s blocks with %s bytes are live; trace: %s%s",
				  p->pid, base_name(p->exe), grouped(p->counts.events, events),
				  grouped(live, blocks), grouped(bytes, size), p->trace_path,
				  p->broken ? " (incomplete)" : ""),
		.path = strcmp(p->trace_path, "standard output") ? xstrdup(p->trace_path) : NULL,
		.events = p->counts.events,
		.is_main = p->is_launched || p->attached_to};
	counts_add(&t->totals, &p->counts);
	t->attached |= p->attached_to;
	for (size_t i = 0; i < p->objects.unread_count && t->unread_told < 8; i++, t->unread_told++)
		msg_warn("process %d: not traced: %s", p->pid, p->objects.unread[i]);
}

static void report_losses(const struct tracer *t)
{
	const struct counts *c = &t->totals;
	struct buf b = {0};

	add_count(&b, c->no_return_seen, "calls whose return could not be watched");
	add_count(&b, c->not_calls, "entries that were no calls");
	add_count(&b, c->failed_probes, "functions that could not be probed");
	add_count(&b, t->untraced_children, "processes that were let go of");
	add_count(&b, t->lost_attach, "processes that could not be attached");
	if (b.size)
		msg_info("not traced: %s", buf_str(&b));
	buf_free(&b);
	add_count(&b, c->stale, "calls ended without a return (an exception, longjmp)");
	add_count(&b, c->unknown_releases,
		  t->attached ? "releases of blocks from before" : "releases of blocks that were not seen allocated");
	add_count(&b, c->mismatched, "releases by another family of functions (new and free)");
	add_count(&b, c->slow_steps, "breakpoints passed by stopping all threads");
	if (b.size)
		msg_info("%s", buf_str(&b));
	buf_free(&b);
}

/* The trace that matters most: of the main process, the one with the most events. */
static const struct report *main_report(const struct tracer *t)
{
	const struct report *best = NULL;

	for (size_t i = 0; i < t->report_count; i++) {
		const struct report *r = &t->reports[i];

		if (!best || r->is_main > best->is_main ||
		    (r->is_main == best->is_main && r->events >= best->events))
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
			msg_info("%s", r->text);
			told++;
		}
	}
	if (told < t->report_count)
		msg_info("and %zu more traces, of %s other programs and of %s children; %s events in all",
			 t->report_count - told, told > 1 ? "their" : "this process's", told > 1 ? "their" : "its",
			 grouped(t->totals.events, events));
}

void output_summary(struct tracer *t)
{
	const struct report *best = main_report(t);

	tell_traces(t, best);
	report_losses(t);
	if (best && best->path)
		msg_info("to see the leaks: functrace-postproc -l -c -r %s", best->path);
}

void reports_free(struct tracer *t)
{
	for (size_t i = 0; i < t->report_count; i++) {
		free(t->reports[i].text);
		free(t->reports[i].path);
	}
	free(t->reports);
}
