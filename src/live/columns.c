#include "config.h"
#include "live/columns.h"

enum row_figures { BYTES, GROWTH, FEW, ALL };

static enum row_figures figures_in(int width)
{
	return width < 48 ? BYTES : width < 72 ? GROWTH : width < 100 ? FEW : ALL;
}

#define PID_WIDTH 9

static const char *verdict_word_of(const struct site_estimate *estimate)
{
	static const char *const words[] = {[ESTIMATE_EXACT] = "",
					    [ESTIMATE_SOUND] = "no",
					    [ESTIMATE_GROWING] = "GROWS",
					    [ESTIMATE_FEW] = "few",
					    [ESTIMATE_UNRESOLVED] = "?"};

	return estimate ? words[estimate->verdict] : "";
}

static void put_interval_heads(int width, struct buf *line)
{
	switch (figures_in(width)) {
	case BYTES:
		buf_printf(line, "%13s", "bytes");
		break;
	case GROWTH:
		buf_printf(line, "%13s %13s %5s", "bytes", "an hour", "grows");
		break;
	case FEW:
		buf_printf(line, "%13s %13s %13s %5s", "bytes", "lost", "an hour", "grows");
		break;
	case ALL:
		buf_printf(line, "%13s %10s %12s  %-27s %14s %5s", "bytes", "blocks", "lost", "bytes, with 90 %",
			   "an hour", "grows");
		break;
	}
}

/* Writes the interval of confidence to `text`: "1,500,000 to 2,000,000". */
static const char *confidence_text(const struct site_estimate *estimate, char text[static 80])
{
	char low[32], high[32];

	*text = '\0';
	if (estimate && estimate->live_low >= 0 && estimate->live_high < 1e18)
		snprintf(text, 80, "%s to %s", number_grouped((uint64_t)estimate->live_low, low),
			 number_grouped((uint64_t)estimate->live_high, high));
	return text;
}

static void put_interval_row(const struct view_row *row, int width, struct buf *line)
{
	char live[32], blocks[32], grown[32], lost[32], text[80];
	const char *const verdict = verdict_word_of(row->estimate);

	number_grouped(row->live.bytes, live);
	number_grouped(row->lost.bytes, lost);
	if (row->estimate && row->estimate->verdict != ESTIMATE_FEW)
		signed_text(row->grown, grown);
	else
		*grown = '\0';
	switch (figures_in(width)) {
	case BYTES:
		buf_printf(line, "%13s", live);
		break;
	case GROWTH:
		buf_printf(line, "%13s %13s %5s", live, grown, verdict);
		break;
	case FEW:
		buf_printf(line, "%13s %13s %13s %5s", live, lost, grown, verdict);
		break;
	case ALL:
		buf_printf(line, "%13s %10s %12s  %-27s %14s %5s", live, number_grouped(row->live.calls, blocks), lost,
			   confidence_text(row->estimate, text), grown, verdict);
		break;
	}
}

const char *columns_since(const struct view *view)
{
	return view->has_intervals ? "an hour" : view->has_baseline ? "since base" : "since start";
}

void columns_put_heads(const struct view *view, int width, struct buf *line)
{
	const char *const since = columns_since(view), *const change = view->has_scan ? "lost" : since;

	if (view_has_several(view)) {
		buf_printf(line, "%*s ", PID_WIDTH - 1, "pid");
		width -= PID_WIDTH;
	}

	if (view->has_intervals) {
		put_interval_heads(width, line);
		buf_add_str(line, "  allocated by");
		return;
	}
	switch (figures_in(width)) {
	case BYTES:
		buf_printf(line, "%13s", "bytes");
		break;
	case GROWTH:
		buf_printf(line, "%13s %13s", "bytes", change);
		break;
	case FEW:
		buf_printf(line, "%13s %8s %13s %8s", "bytes", "blocks", change, "calls/s");
		break;
	case ALL:
		buf_printf(line, "%15s %10s %14s %14s %9s %9s", "bytes", "blocks", since,
			   view->has_scan ? "lost" : "since last", "calls/s", "oldest");
		break;
	}
	buf_add_str(line, "  allocated by");
}

void columns_put_row(const struct view *view, const struct view_row *row, int width, struct buf *line)
{
	char live[32], blocks[32], grown[32], last[32], lost[32], age[32], pid[32];
	const char *const bytes = view_has_bytes(view) ? number_grouped(row->live.bytes, live) : "-";

	number_grouped(row->live.calls, blocks);
	signed_text(row->grown, grown);
	signed_text(row->grown_last, last);
	number_grouped(view_has_bytes(view) ? row->lost.bytes : row->lost.calls, lost);
	const char *const change = view->has_scan ? lost : grown;

	if (view_has_several(view)) {
		buf_printf(line, "%*s ", PID_WIDTH - 1, row_pid_text(row, pid));
		width -= PID_WIDTH;
	}

	if (view->has_intervals) {
		put_interval_row(row, width, line);
		buf_add_str(line, "  ");
		return;
	}
	switch (figures_in(width)) {
	case BYTES:
		buf_printf(line, "%13s", bytes);
		break;
	case GROWTH:
		buf_printf(line, "%13s %13s", bytes, change);
		break;
	case FEW:
		buf_printf(line, "%13s %8s %13s %8.1f", bytes, blocks, change, row->calls);
		break;
	case ALL:
		buf_printf(line, "%15s %10s %14s %14s %9.1f %9s", bytes, blocks, grown, view->has_scan ? lost : last,
			   row->calls, row->is_before ? "before" : age_text(view, row->oldest, age));
		break;
	}
	buf_add_str(line, "  ");
}
