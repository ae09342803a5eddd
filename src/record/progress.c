#include "config.h"
#include "record/progress.h"
#include "record/ledger.h"
#include "record/run.h"
#include "engine/engine.h"
#include "base/msg.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A line that counts while functrace is attached, on a terminal that it has for itself: a launched program uses it
 * too. */

void progress_begin(struct run *run)
{
	const bool has_stdout = run->set->output && !strcmp(run->set->output, "-");

	run->started_ns = clock_ns(CLOCK_MONOTONIC);
	run->shows_progress = run->set->pid_count && !run->set->quiet && isatty(STDERR_FILENO) &&
			      !(has_stdout && isatty(STDOUT_FILENO));
	if (run->shows_progress)
		engine_want_tick(run->engine);
}

static void show(const struct run *run)
{
	struct live_total live = {0};
	uint64_t events = run->totals.events;
	char count[32], blocks[32], bytes[32], text[160];

	for (const struct trace *trace = run->traces; trace; trace = trace->next) {
		const struct live_total more = ledger_live(trace);

		events += trace->reported ? 0 : trace->counts.events;
		live.blocks += more.blocks;
		live.bytes += more.bytes;
	}
	const unsigned long long seconds = (clock_ns(CLOCK_MONOTONIC) - run->started_ns) / 1000000000u;

	snprintf(text, sizeof(text), "%s events, %s blocks with %s bytes live, %llu:%02llu%s",
		 number_grouped(events, count), number_grouped(live.blocks, blocks), number_grouped(live.bytes, bytes),
		 seconds / 60, seconds % 60, run->paused ? ", paused" : "");
	msg_status(text);
}

void progress_show(struct run *run)
{
	if (!run->shows_progress)
		return;
	/* In the background its line would be in another's way. */
	if (engine_in_foreground(run->engine))
		show(run);
	else
		msg_status(NULL);
	engine_want_tick(run->engine);
}

void progress_end(struct run *run)
{
	if (run->shows_progress)
		msg_status(NULL);
	run->shows_progress = false;
}
