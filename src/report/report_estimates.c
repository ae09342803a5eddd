/* Writes what a report on a watch's estimates has instead of counts: totals, and for each stack the interval of
 * confidence and the growth. */
#include "config.h"
#include "report/report_parts.h"
#include "base/time_units.h"

#include <math.h>

/* Appends a number of bytes with three digits, because an estimate is no better: "14,200,000". */
static void lines_add_rough(struct lines *lines, double bytes, bool has_sign)
{
	double unit = 1;
	char number[32];

	while (fabs(bytes) / unit >= 999.5 && unit < 1e15)
		unit *= 10;
	const double rounded = (double)(uint64_t)(fabs(bytes) / unit + 0.5) * unit;

	lines_add(lines, "%s%s",
		  bytes < 0 && rounded > 0 ? "-"
		  : has_sign               ? "+"
					   : "",
		  number_grouped(rounded < 1e18 ? (uint64_t)rounded : UINT64_MAX, number));
}

static const char *verdict_text(enum estimate_verdict verdict)
{
	switch (verdict) {
	case ESTIMATE_GROWING:
		return "it GROWS";
	case ESTIMATE_FEW:
		return "too few windows or samples to say whether it grows";
	case ESTIMATE_UNRESOLVED:
		return "not resolvable: other blocks take the addresses too fast";
	case ESTIMATE_SOUND:
	case ESTIMATE_EXACT:
		break;
	}
	return "it does not grow";
}

void report_add_bytes(struct report *report, uint64_t bytes)
{
	char number[32];

	lines_add(&report->lines, "%s byte%s", number_grouped(bytes, number), bytes == 1 ? "" : "s");
}

void report_group_estimate(struct report *report, const struct profile_group *group)
{
	const struct site_estimate *const estimate = &group->estimate;
	struct lines *const lines = &report->lines;

	if (!group->is_estimated)
		return;
	lines_add(lines, "      estimated");
	if (isfinite(estimate->live_low) && isfinite(estimate->live_high)) {
		lines_add(lines, ": alive ");
		lines_add_rough(lines, estimate->live_low, false);
		lines_add(lines, " to ");
		lines_add_rough(lines, estimate->live_high, false);
		lines_add(lines, " bytes");
	}
	if (estimate->verdict != ESTIMATE_FEW && isfinite(estimate->growth) && isfinite(estimate->growth_low) &&
	    isfinite(estimate->growth_high)) {
		lines_add(lines, "; an hour ");
		lines_add_rough(lines, estimate->growth * SECONDS_PER_HOUR, true);
		lines_add(lines, " (");
		lines_add_rough(lines, estimate->growth_low * SECONDS_PER_HOUR, true);
		lines_add(lines, " to ");
		lines_add_rough(lines, estimate->growth_high * SECONDS_PER_HOUR, true);
		lines_add(lines, ")");
	}
	lines_add(lines, "; ");
	lines_colour(lines, COLOUR_FIGURE);
	lines_add(lines, "%s", verdict_text(estimate->verdict));
	lines_colour(lines, COLOUR_NONE);
	lines_end(lines);
}

void report_estimated_totals(struct report *report, const struct profile_resource *resource)
{
	struct lines *const lines = &report->lines;
	const bool has_lost = resource->scanned;

	report_add_label(report, resource->type);
	lines_colour(lines, COLOUR_FIGURE);
	report_add_tally(report, resource, &resource->live);
	lines_colour(lines, COLOUR_NONE);
	lines_add(lines, " alive at the end");
	lines_end(lines);
	report_add_label(report, "");
	lines_add(lines, "  ");
	report_add_tally(report, resource, &resource->before_live);
	lines_add(lines, " of these older than the watch, or of no stack that was seen");
	lines_end(lines);
	report_add_label(report, "");
	lines_add(lines, "  ");
	if (has_lost)
		report_add_bytes(report, resource->lost[LOST_DEFINITELY].bytes);
	lines_add(lines, has_lost ? " definitely lost: no pointer leads to them" : "how much is lost is unknown");
	lines_end(lines);
	report_add_label(report, "");
	report_add_tally(report, resource, &resource->peak);
	lines_add(lines, " at the end of the interval with the most");
	lines_end(lines);
}
