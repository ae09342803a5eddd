#include "config.h"
#include "tracer/model.h"
#include "base/msg.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A line that counts while functrace is attached, on a terminal that it has for itself: a launched program uses it
 * too. */

void progress_begin(struct tracer *t)
{
	const bool has_stdout = t->set->output && !strcmp(t->set->output, "-");

	t->started_ns = clock_ns(CLOCK_MONOTONIC);
	t->shows_progress =
		t->set->pid_count && !t->set->quiet && isatty(STDERR_FILENO) && !(has_stdout && isatty(STDOUT_FILENO));
	if (t->shows_progress)
		engine_want_tick(t->engine);
}

static void show(const struct tracer *t)
{
	struct live_total live = {0};
	uint64_t events = t->totals.events;
	char count[32], blocks[32], bytes[32], text[160];

	for (const struct process *p = t->processes; p; p = p->next) {
		const struct live_total more = ledger_live(p);

		events += p->reported ? 0 : p->counts.events;
		live.blocks += more.blocks;
		live.bytes += more.bytes;
	}
	const unsigned long long seconds = (clock_ns(CLOCK_MONOTONIC) - t->started_ns) / 1000000000u;

	snprintf(text, sizeof(text), "%s events, %s blocks with %s bytes live, %llu:%02llu%s",
		 number_grouped(events, count), number_grouped(live.blocks, blocks), number_grouped(live.bytes, bytes),
		 seconds / 60, seconds % 60, t->paused ? ", paused" : "");
	msg_status(text);
}

void progress_show(struct tracer *t)
{
	if (!t->shows_progress)
		return;
	/* In the background its line would be in another's way. */
	if (engine_in_foreground(t->engine))
		show(t);
	else
		msg_status(NULL);
	engine_want_tick(t->engine);
}

void progress_end(struct tracer *t)
{
	if (t->shows_progress)
		msg_status(NULL);
	t->shows_progress = false;
}
