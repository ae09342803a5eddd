#include "config.h"
#include "tracer/model.h"
#include "base/buf.h"
#include "base/msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What is told at the end: what the trace holds, where it is, and what was not traced. */

static void add_count(struct buf *b, uint64_t count, const char *what)
{
	if (count)
		buf_printf(b, "%s%" PRIu64 " %s", b->size ? ", " : "", count, what);
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

static void report_losses(const struct process *p)
{
	const struct counts *c = &p->counts;
	struct buf b = {0};

	add_count(&b, c->stale, "calls that never returned (exceptions, longjmp)");
	add_count(&b, c->no_return_seen, "calls whose return could not be watched");
	add_count(&b, c->not_calls, "entries without a call");
	add_count(&b, c->failed_probes, "functions that could not be probed");
	if (b.size)
		msg_info("process %d: not traced: %s", p->pid, buf_str(&b));
	buf_free(&b);
	add_count(&b, c->unknown_releases,
		  p->attached ? "releases of blocks from before" : "releases of blocks that were not allocated");
	add_count(&b, c->mismatched, "releases by another family of functions");
	add_count(&b, c->slow_steps, "breakpoints passed by stopping all threads");
	if (b.size)
		msg_info("process %d: %s", p->pid, buf_str(&b));
	buf_free(&b);
}

static bool found_any(const struct tracer *t)
{
	for (size_t i = 0; i < t->wanted_count; i++)
		if (t->wanted[i].function && t->wanted[i].found)
			return true;
	return false;
}

static void report_nothing(const struct process *p)
{
	bool stripped = false;

	for (size_t i = 0; i < p->objects.count; i++)
		if (!elf_file_has_symbols(p->objects.items[i]->file))
			stripped = true;
	if (found_any(p->tracer))
		return;
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
	char events[32], blocks[32], size[32];
	uint64_t bytes;

	if (p->reported)
		return;
	p->reported = true;
	const uint64_t live = ledger_live(p, &bytes);

	if (!p->trace_path)
		return;
	report_nothing(p);
	msg_info("process %d (%s): %s events; %s blocks with %s bytes are live; trace: %s%s", p->pid,
		 base_name(p->exe), grouped(p->counts.events, events), grouped(live, blocks),
		 grouped(bytes, size), p->trace_path, p->broken ? " (incomplete)" : "");
	report_losses(p);
	if (!p->tracer->first_path && strcmp(p->trace_path, "standard output"))
		p->tracer->first_path = xstrdup(p->trace_path);
}

void output_summary(struct tracer *t)
{
	if (t->untraced_children)
		msg_info("%zu processes were let go of untraced", t->untraced_children);
	if (t->lost_attach)
		msg_info("%zu processes could not be traced", t->lost_attach);
	if (t->first_path)
		msg_info("to see the leaks: functrace-postproc -l -c -r %s", t->first_path);
}
