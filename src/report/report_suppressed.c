#include "config.h"
#include "base/glob.h"
#include "profile/suppressions.h"
#include "report/report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Writes a line for each suppression that has matched. The lines do not name a kind of resource, because one
 * suppression may match resources of several kinds. */
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

/* Adds a line for a frame to a suppression. kind: "fun" if `text` is the name of a function, "obj" if it is the path of
 * an object. If `text` is NULL, the line matches any frame. */
static void report_suppressed_add_pattern(struct buf *entry, const char *kind, const char *text)
{
	char *pattern = text ? glob_quote(text) : NULL;

	/* A newline in the name would end the line. It is replaced by '?', which matches any character. */
	for (char *p = pattern; p && (p = strchr(p, '\n'));)
		*p = '?';
	buf_printf(entry, "   %s:%s\n", kind, pattern ? pattern : "*");
	free(pattern);
}

static void add_entry(struct buf *entry, const struct profile_group *group)
{
	const uint32_t count = report_frame_count(group);

	buf_add_str(entry, "{\n   <a name for it>\n   Memcheck:Leak\n");
	report_suppressed_add_pattern(entry, "fun", group->function);
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_frame *frame = group->frames[i];

		if (frame->function)
			report_suppressed_add_pattern(entry, "fun", frame->function);
		else
			report_suppressed_add_pattern(entry, "obj", frame->module);
	}
	buf_add_str(entry, "}");
}

static void write_lines(struct lines *lines, const char *text)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		LINE(lines, "%.*s", (int)strcspn(text, "\n"), text);
}

/* Writes a suppression entry for each group of leaks. Groups that differ only in source lines, or in addresses in an
 * object, have the same entry, which is written once. */
void report_gen_suppressions(struct report *report)
{
	const size_t columns = report->lines.columns;
	struct intern_pool entries = {0};
	struct hash written = {0};
	struct buf entry = {0};

	/* The user copies the entries to a file, so they are not shortened. */
	report->lines.columns = 0;
	report->section = &report_section_leaks;
	LINE(&report->lines, "%s", "");
	for (size_t i = 0; i < report->profile->group_count; i++) {
		const struct profile_group *group = report->profile->groups[i];

		if (!report_figure(report, group).calls)
			continue;
		entry.size = 0;
		add_entry(&entry, group);
		uint64_t *const is_written = hash_place(&written, (uintptr_t)string_intern(&entries, buf_str(&entry)));

		if (!*is_written)
			write_lines(&report->lines, buf_str(&entry));
		*is_written = true;
	}
	report->lines.columns = columns;
	buf_free(&entry);
	hash_free(&written);
	intern_pool_free(&entries);
}
