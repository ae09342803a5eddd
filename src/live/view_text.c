/* Formats figures of the live view as text. */
#include "config.h"
#include "live/view_rows.h"

#include <inttypes.h>
#include <stdio.h>

const char *left_out_text(const struct view *view, char text[static 160])
{
	char calls[32];

	snprintf(text, 160,
		 "%s calls came while this view was stopped: live figures are right, but stacks, ages, peak and rates "
		 "lack these calls",
		 number_grouped(view->left_out, calls));
	return text;
}

const char *signed_text(int64_t number, char text[static 32])
{
	text[0] = number < 0 ? '-' : '+';
	if (!number)
		text[0] = ' ';
	char digits[32];

	snprintf(text + 1, 31, "%s", number_grouped((uint64_t)(number < 0 ? -number : number), digits));
	return text;
}

const char *age_text(const struct view *view, uint64_t age, char text[static 32])
{
	const double seconds = (double)age / 1e9;

	if (!view->has_times)
		snprintf(text, 32, "%" PRIu64, age);
	else if (seconds < 600)
		snprintf(text, 32, "%.1f s", seconds);
	else if (seconds < 36000)
		snprintf(text, 32, "%.0f min", seconds / 60);
	else
		snprintf(text, 32, "%.1f h", seconds / 3600);
	return text;
}

/* Writes to `text` the time from which on growth is counted: "since the start", "since the baseline, 12 s ago". Returns
 * `text`. */
static const char *since_text(const struct view *view, char text[static 64])
{
	if (view->has_baseline)
		snprintf(text, 64, "since the baseline, %.0f s ago",
			 (double)clock_ns(CLOCK_MONOTONIC) / 1e9 - view->baseline_at);
	else
		snprintf(text, 64, "since the start");
	return text;
}

void live_text(const struct view *view, struct buf *text)
{
	char bytes[32], blocks[32], grown[32], since[64];

	buf_printf(text, "%s: ", view_kind(view));
	if (view_has_bytes(view))
		buf_printf(text, "%s bytes in %s block%s", number_grouped(view->live.bytes, bytes),
			   number_grouped(view->live.calls, blocks), view->live.calls == 1 ? "" : "s");
	else
		buf_add_str(text, number_grouped(view->live.calls, blocks));
	if (view->has_intervals)
		buf_printf(text, " alive, %s bytes lost%s", number_grouped(view->lost.bytes, grown),
			   view->basis ? "; figures of stacks are estimates" : "");
	else
		buf_printf(text, " alive, %s %s", signed_text(view->grown, grown), since_text(view, since));
}

void processes_text(struct view *view, struct buf *text)
{
	pthread_mutex_lock(&view->lock);
	struct watched *const first = view->process_count ? view->processes[0] : NULL;
	const char *const name = first ? watched_program(first) : NULL;
	char ended[32], unseen[32];

	buf_printf(text, "%s, process %" PRIu32, name ? name : "waiting for the trace", first ? first->account.pid : 0);
	if (view->process_count > 1)
		buf_printf(text, " and %zu more", view->process_count - 1);
	if (view->ended)
		buf_printf(text, ", %s ended", number_grouped(view->ended, ended));
	if (view->unseen)
		buf_printf(text, ", %s not seen (this view was stopped, or too many files were open)",
			   number_grouped(view->unseen, unseen));
	pthread_mutex_unlock(&view->lock);
}

const char *row_pid_text(const struct view_row *row, char text[static 32])
{
	if (row->processes > 1)
		snprintf(text, 32, "%zu pids", row->processes);
	else
		snprintf(text, 32, "%" PRIu32, row->pid);
	return text;
}
