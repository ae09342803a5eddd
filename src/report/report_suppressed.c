#include "config.h"
#include "base/glob.h"
#include "profile/suppressions.h"
#include "report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>

/* Resources of several kinds may be suppressed by one entry: their sizes say nothing together. */
void report_suppressed(struct report *report)
{
	const struct suppressions *suppressions = report->profile->suppressions;
	struct lines *lines = &report->lines;
	char used[SUPPRESSION_USED_MAX];
	bool has_title = false;

	for (size_t i = 0; suppressions && i < suppressions->count; i++) {
		const struct suppression *item = &suppressions->items[i];

		if (!item->used.calls)
			continue;
		if (!has_title) {
			LINE(lines, "%s", "");
			lines_colour(lines, COLOUR_TITLE);
			LINE(lines, "suppressed");
			has_title = true;
		}
		lines_add(lines, "     %s: ", suppression_used_text(&item->used, used));
		lines_add_name(lines, item->name);
		if (item->file)
			lines_add(lines, " (%s:%u)", item->file, item->line);
		lines_end(lines);
	}
}

/* `text` NULL: any. */
static void write_pattern(struct lines *lines, const char *kind, const char *text)
{
	char *pattern = text ? glob_quote(text) : NULL;

	LINE(lines, "   %s:%s", kind, pattern ? pattern : "*");
	free(pattern);
}

static void write_entry(struct report *report, const struct profile_group *group)
{
	struct lines *lines = &report->lines;
	const uint32_t count = report_frame_count(group);

	LINE(lines, "{");
	LINE(lines, "   <a name for it>");
	LINE(lines, "   Memcheck:Leak");
	write_pattern(lines, "fun", group->function);
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_frame *frame = group->frames[i];

		if (frame->function)
			write_pattern(lines, "fun", frame->function);
		else
			write_pattern(lines, "obj", frame->module);
	}
	LINE(lines, "}");
}

void report_gen_suppressions(struct report *report)
{
	const size_t columns = report->lines.columns;

	/* They are for a file. */
	report->lines.columns = 0;
	LINE(&report->lines, "%s", "");
	for (size_t i = 0; i < report->profile->group_count; i++)
		if (report_figure(report, report->profile->groups[i]).calls)
			write_entry(report, report->profile->groups[i]);
	report->lines.columns = columns;
}
