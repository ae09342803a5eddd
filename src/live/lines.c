/* The live view where there is no terminal: some lines at each look. */
#include "config.h"
#include "live/view.h"
#include "report/lines.h"
#include "report/pretty.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS_DEFAULT = 10 };

static void add_frame(struct view *view, struct lines *lines, const struct site *site)
{
	const struct profile_frame *frame = view_frame_of(view, site);
	struct buf name = {0};

	if (frame && frame->function)
		pretty_name(&name, frame->function);
	else if (frame)
		buf_printf(&name, "0x%" PRIx64, frame->module ? frame->offset : frame->address);
	else
		buf_add_str(&name, "(no stack)");
	lines_add_name(lines, buf_str(&name));
	if (frame && frame->file)
		lines_add(lines, " at %s:%u", path_name(frame->file), frame->line);
	else if (frame && frame->module)
		lines_add(lines, " from %s", path_name(frame->module));
	buf_free(&name);
}

static void write_row(struct view *view, struct lines *lines, const struct row *row)
{
	char live[32], blocks[32], grown[32], last[32], age[32];
	const bool bytes = view_has_bytes(view);

	lines_add(lines, "  %15s %12s %15s %15s %9.1f %9s  ", bytes ? number_grouped(row->live.bytes, live) : "-",
		  number_grouped(row->live.calls, blocks), signed_text(row->grown, grown),
		  signed_text(row->grown_last, last), row->calls,
		  row->site->is_before ? "before" : age_text(view, row->oldest, age));
	add_frame(view, lines, row->site);
	lines_end(lines);
}

static void write_look(struct view *view, struct lines *lines)
{
	const struct resource_state *which = view_resource(view);
	const size_t top = view->options->top ? view->options->top : ROWS_DEFAULT;
	char age[32], live[32], blocks[32], grown[32], events[32];

	lines_add(lines, "%s: %s alive in %s, %s since the start; %s calls so far, %.1f a second; %s",
		  which && which->type ? which->type : "?", number_grouped(view->live.bytes, live),
		  number_grouped(view->live.calls, blocks), signed_text(view->grown, grown),
		  number_grouped(view->events, events), view->calls, age_text(view, view->account.last.since, age));
	lines_end(lines);
	lines_add(lines, "  %15s %12s %15s %15s %9s %9s  %s", view_has_bytes(view) ? "bytes" : "", "blocks",
		  "since start", "since last", "calls/s", "oldest", "allocated by");
	lines_end(lines);
	for (size_t i = 0; i < view->row_count && i < top; i++)
		write_row(view, lines, &view->rows[i]);
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

static bool has_ended(struct view *view)
{
	pthread_mutex_lock(&view->lock);
	const bool ended = view->has_ended;

	pthread_mutex_unlock(&view->lock);
	return ended;
}

int live_lines(struct view *view)
{
	struct lines lines = {.out = stdout};
	bool ended = false;

	for (uint32_t looks = 0; !ended && (!view->options->count || looks < view->options->count); looks++) {
		/* What has ended by now is shown whole. */
		for (double waited = 0; !ended && waited < view->options->interval; waited += 0.1) {
			sleep_for(0.1);
			ended = has_ended(view);
		}
		view_look(view, view->options->interval);
		write_look(view, &lines);
		if (ferror(stdout))
			break;
	}
	if (ended)
		LINE(&lines, "The trace has ended%s%s.", view->reason ? ": " : "", view->reason ? view->reason : "");
	buf_free(&lines.line);
	return ferror(stdout) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
