#include "config.h"
#include "record/progress.h"
#include "record/resource_ids.h"
#include "record/ledger.h"
#include "record/run.h"
#include "engine/engine.h"
#include "base/buf.h"
#include "base/msg.h"
#include "base/time_units.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Decides whether the line with counters is shown: only for attached processes, because a launched program writes to
 * the same terminal. */

void progress_begin(struct run *run)
{
	const bool has_stdout = run->set->trace.output && !strcmp(run->set->trace.output, "-");

	run->progress.started_ns = clock_ns(CLOCK_MONOTONIC);
	run->progress.shows_progress = run->set->target.pid_count && !run->set->quiet &&
				       engine_has_terminal(run->engine) && !(has_stdout && isatty(STDOUT_FILENO));
	if (run->progress.shows_progress)
		engine_want_tick(run->engine);
}

/* Appends ", 2 blocks with 30 bytes live", the sum over all processes. */
static void progress_add_live(struct buf *b, const struct run *run, uint32_t resource)
{
	const struct resource *kind = kind_of(run->set, resource);
	uint64_t blocks = 0, bytes = 0;
	char text[32];

	if (!kind_lives(kind))
		return;
	for (const struct trace *trace = run->traces; trace; trace = trace->next) {
		const struct live_total more = ledger_live(trace, resource);

		blocks += more.blocks + (more.baseline_is_written ? more.older : 0);
		bytes += more.bytes + (more.baseline_is_written ? more.older_bytes : 0);
	}
	buf_printf(b, ", %s %ss", number_grouped(blocks, text), kind->noun);
	if (kind->unit)
		buf_printf(b, " with %s %ss", number_grouped(bytes, text), kind->unit);
	buf_add_str(b, " live");
}

static void progress_print(const struct run *run)
{
	uint64_t events = run->sums.totals.events;
	char count[32];
	struct buf b = {0};

	for (const struct trace *trace = run->traces; trace; trace = trace->next)
		events += trace->reported ? 0 : trace->counts.events;
	const unsigned long long seconds = (clock_ns(CLOCK_MONOTONIC) - run->progress.started_ns) / NS_PER_SECOND;

	buf_printf(&b, "%s events", number_grouped(events, count));
	for (uint32_t id = 1; id < kinds_end(run->set); id++)
		progress_add_live(&b, run, id);
	buf_printf(&b, ", %llu:%02llu%s", seconds / 60, seconds % 60, run->paused ? ", paused" : "");
	msg_status(buf_str(&b));
	buf_free(&b);
}

void progress_show(struct run *run)
{
	if (!run->progress.shows_progress)
		return;
	/* If functrace runs in the background, the line would disturb the output of the foreground program. */
	if (engine_in_foreground(run->engine))
		progress_print(run);
	else
		msg_status(NULL);
	engine_want_tick(run->engine);
}

void progress_end(struct run *run)
{
	if (run->progress.shows_progress)
		msg_status(NULL);
	run->progress.shows_progress = false;
}
