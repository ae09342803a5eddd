#include "config.h"
#include "record/run_summary.h"
#include "record/resource_ids.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "record/run.h"
#include "base/buf.h"

/* The numbers of live and lost resources, in the summary and at the end of a trace. */

void run_summary_add_number(struct buf *b, uint64_t number, const char *noun)
{
	char text[32];

	buf_printf(b, "%s %s%s", number_grouped(number, text), noun, number == 1 ? "" : "s");
}

/* Appends "2 blocks with 30 bytes" or "1 descriptor". */
static void add_amount(struct buf *b, const struct resource *kind, uint64_t count, uint64_t bytes)
{
	run_summary_add_number(b, count, kind->noun);
	if (!kind->unit)
		return;
	buf_add_str(b, " with ");
	run_summary_add_number(b, bytes, kind->unit);
}

/* Appends the number of live resources that are older than the trace. The trace contains these only if a baseline was
 * made. */
static void add_older(struct buf *b, const struct resource *kind, const struct live_total *live)
{
	if (!live->older)
		return;
	buf_add_str(b, live->baseline_is_written || kind->existing ? " beside " : ", and from before the fork ");
	add_amount(b, kind, live->older, live->older_bytes);
	buf_add_str(b, live->baseline_is_written || kind->existing ? " from before the trace" : "");
}

/* Appends the number of live resources and, after a scan, of lost resources. functrace-postproc -l reports the lost
 * resources after a scan, else the live ones. */
static void run_summary_add_live(struct buf *b, const struct trace *trace, uint32_t resource)
{
	const struct resource *kind = kind_of(trace->run->set, resource);
	const struct live_total live = ledger_live(trace, resource);

	buf_add_str(b, "; ");
	add_amount(b, kind, live.blocks, live.bytes);
	if (kind->left)
		buf_printf(b, " %s", kind->left);
	else
		buf_add_str(b, live.blocks == 1 ? " is live" : " are live");
	add_older(b, kind, &live);
	const struct lost_total lost = ledger_lost_total(trace, resource);

	if (!lost.is_known)
		return;
	buf_add_str(b, "; ");
	if (lost.blocks)
		add_amount(b, kind, lost.blocks, lost.bytes);
	else
		buf_add_str(b, "nothing");
	buf_add_str(b, lost.blocks > 1 ? " are lost" : " is lost");
	if (!lost.inherited)
		return;
	buf_add_str(b, lost.blocks ? ", and from before the fork " : ", but from before the fork ");
	add_amount(b, kind, lost.inherited, lost.inherited_bytes);
}

/* Returns true if the trace contains live resources of the kind, so that the summary has to name the kind. */
static bool has_live(const struct trace *trace, uint32_t resource)
{
	const struct live_total live = ledger_live(trace, resource);

	return live.blocks || (live.baseline_is_written && live.older);
}

void run_summary_add_all_live(struct buf *b, const struct trace *trace)
{
	size_t kinds = 0, named = 0;
	uint32_t last = 0;

	for (uint32_t id = 1; id < kinds_end(trace->run->set); id++) {
		if (!kind_lives(kind_of(trace->run->set, id)))
			continue;
		kinds++;
		last = id;
		if (!has_live(trace, id))
			continue;
		run_summary_add_live(b, trace, id);
		named++;
	}
	if (kinds == 1 && !named)
		run_summary_add_live(b, trace, last);
	else if (kinds && !named)
		buf_add_str(b, "; nothing is live");
}

void run_summary_note_older(struct trace *trace, uint32_t resource)
{
	const struct resource *kind = kind_of(trace->run->set, resource);
	const struct live_total live = ledger_live(trace, resource);
	const struct lost_total lost = ledger_lost_total(trace, resource);
	struct buf b = {0};

	if (!live.older || live.baseline_is_written)
		return;
	add_amount(&b, kind, live.older, live.older_bytes);
	buf_printf(&b, " from before %s %s live, and not in this trace", kind->existing ? "the trace" : "the fork",
		   live.older == 1 ? "is" : "are");
	if (lost.inherited) {
		buf_add_str(&b, "; of these, ");
		add_amount(&b, kind, lost.inherited, lost.inherited_bytes);
		buf_add_str(&b, lost.inherited == 1 ? " is lost" : " are lost");
	}
	output_note(trace, "%s", buf_str(&b));
	buf_free(&b);
}
