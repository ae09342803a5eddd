/* Shows the progress of long work: see long_work.h. */
#include "config.h"
#include "base/long_work.h"
#include "base/buf.h"
#include "base/msg.h"
#include "base/time_units.h"

#include <time.h>
#include <unistd.h>

#define PATIENCE (2 * NS_PER_SECOND)
#define INTERVAL (NS_PER_SECOND / 5)

/* The state of this program's status line. */
static struct {
	bool allowed;
	/* from_ns: no line is shown before this time; next_ns: no line is replaced before this time */
	uint64_t from_ns, next_ns;
} lines;

/* Uses the coarse clock, which costs a few nanoseconds, because long_work_is_due() is called for each record. */
static uint64_t coarse_now(void)
{
	return clock_ns(CLOCK_MONOTONIC_COARSE);
}

void long_work_allow(void)
{
	lines.allowed = isatty(STDERR_FILENO) && !msg_is_quiet();
	lines.from_ns = coarse_now() + PATIENCE;
}

void long_work_begin(struct long_work *work)
{
	*work = (struct long_work){.began_ns = coarse_now()};
}

bool long_work_is_due(const struct long_work *work)
{
	if (!lines.allowed)
		return false;
	const uint64_t time = coarse_now();

	return time >= lines.from_ns && (!work->shown || time >= lines.next_ns);
}

void long_work_add_left(struct buf *out, uint64_t elapsed_ns, uint64_t done, uint64_t total)
{
	if (!done || done >= total)
		return;
	const double seconds = (double)elapsed_ns / (double)done * (double)(total - done) / (double)NS_PER_SECOND;

	if (seconds < 99.5)
		buf_printf(out, ", %.0f s left", seconds);
	else if (seconds < 99.5 * 60)
		buf_printf(out, ", %.0f min left", seconds / 60);
	else
		buf_printf(out, ", %.0f h left", seconds / 3600);
}

void long_work_show(struct long_work *work, const char *text, uint64_t done, uint64_t total)
{
	struct buf line = {0};

	work->shown = true;
	lines.next_ns = coarse_now() + INTERVAL;
	/* In the background the line would disturb the output of other programs. */
	if (tcgetpgrp(STDERR_FILENO) != getpgrp()) {
		msg_status(NULL);
		return;
	}
	buf_add_str(&line, text);
	long_work_add_left(&line, coarse_now() - work->began_ns, done, total);
	msg_status(buf_str(&line));
	buf_free(&line);
}

void long_work_end(struct long_work *work)
{
	if (work->shown)
		msg_status(NULL);
	work->shown = false;
}
