/* The live view without a terminal: prints some lines at each update. */
#include "config.h"
#include "live/columns.h"
#include "live/row_labels.h"
#include "report/terminal_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS_DEFAULT = 10 };

#define COLUMNS_WIDTH 200 /* enough for all columns */

static void write_interval_row(struct view *view, struct lines *lines, const struct view_row *row,
			       const struct label *label)
{
	struct buf line = {0};

	columns_put_row(view, row, COLUMNS_WIDTH, &line);
	label_text(label, SIZE_MAX, &line);
	lines_add_name(lines, buf_str(&line));
	lines_end(lines);
	buf_free(&line);
}

static void write_row(struct view *view, struct lines *lines, const struct view_row *row, const struct label *label)
{
	char live[32], blocks[32], grown[32], last[32], age[32], pid[32];
	const bool bytes = view_has_bytes(view);
	struct buf name = {0};

	if (view->has_intervals) {
		write_interval_row(view, lines, row, label);
		return;
	}
	if (view_has_several(view))
		lines_add(lines, "  %8s", row_pid_text(row, pid));
	lines_add(lines, "  %15s %12s %15s %15s %9.1f %9s  ", bytes ? number_grouped(row->live.bytes, live) : "-",
		  number_grouped(row->live.calls, blocks), signed_text(row->grown, grown),
		  signed_text(row->grown_last, last), row->calls,
		  row->is_before ? "before" : age_text(view, row->oldest, age));
	label_text(label, SIZE_MAX, &name);
	lines_add_name(lines, buf_str(&name));
	lines_end(lines);
	buf_free(&name);
}

static void write_heads(const struct view *view, struct lines *lines)
{
	struct buf line = {0};

	if (view->has_intervals) {
		columns_put_heads(view, COLUMNS_WIDTH, &line);
		lines_add(lines, "%s", buf_str(&line));
		lines_end(lines);
		buf_free(&line);
		return;
	}
	if (view_has_several(view))
		lines_add(lines, "  %8s", "pid");
	lines_add(lines, "  %15s %12s %15s %15s %9s %9s  %s", view_has_bytes(view) ? "bytes" : "", "blocks",
		  columns_since(view), "since last", "calls/s", "oldest", "allocated by");
	lines_end(lines);
}

static void write_look(struct view *view, struct lines *lines)
{
	const size_t top = view->options->top ? view->options->top : ROWS_DEFAULT;
	char age[32], events[32], text[160];
	struct buf processes = {0}, live = {0};
	size_t count;

	if (view_has_several(view) || view->ended || view->unseen) {
		processes_text(view, &processes);
		LINE(lines, "%s", buf_str(&processes));
		buf_free(&processes);
	}
	live_text(view, &live);
	if (view->has_intervals)
		LINE(lines, "%s; %s calls seen; %s watched", buf_str(&live), number_grouped(view->events, events),
		     age_text(view, view->age, age));
	else
		LINE(lines, "%s; %s calls so far, %.1f a second; %s traced", buf_str(&live),
		     number_grouped(view->events, events), view->calls, age_text(view, view->age, age));
	buf_free(&live);
	if (view->left_out)
		LINE(lines, "  %s", left_out_text(view, text));
	write_heads(view, lines);
	struct label *const labels = labels_of(view, 0, top, &count);

	for (size_t i = 0; i < count; i++)
		write_row(view, lines, &view->rows[i], &labels[i]);
	labels_free(labels, count);
	if (view->row_count > top)
		LINE(lines, "  and %zu more", view->row_count - top);
	LINE(lines, "%s", "");
	fflush(lines->out);
}

static void sleep_for(double seconds)
{
	struct timespec left = {.tv_sec = (time_t)seconds};

	left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

int live_lines(struct view *view)
{
	struct lines lines = {.out = stdout};
	uint64_t last = clock_ns(CLOCK_MONOTONIC);
	const char *reason = NULL;
	bool ended = false;

	for (uint32_t looks = 0; !ended && (!view->options->count || looks < view->options->count); looks++) {
		/* If the trace ends meanwhile, the last update shows all of it. */
		for (double waited = 0; !ended && waited < view->options->interval; waited += 0.1) {
			sleep_for(0.1);
			ended = view_has_ended(view, &reason);
		}
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		view_update(view, (double)(now - last) / 1e9);
		last = now;
		write_look(view, &lines);
		if (ferror(stdout))
			break;
	}
	if (ended)
		LINE(&lines, "The trace has ended%s%s.", reason ? ": " : "", reason ? reason : "");
	buf_free(&lines.line);
	return ferror(stdout) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
