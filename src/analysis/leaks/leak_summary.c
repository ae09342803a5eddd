#include "config.h"
#include "analysis/leaks/leak_summary.h"
#include "analysis/baseline_blocks.h"
#include "analysis/leaks/leaks.h"
#include "analysis/leaks/min_count.h"
#include "analysis/resources.h"
#include "analysis/resource_words.h"
#include "analysis/tally.h"
#include "base/buf.h"
#include "trace/note_end.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct summary {
	struct stage stage;
	struct trace_end end;
	struct resources resources;
	uint64_t count;
	struct summary_sources sources;
};

static void count_call(struct summary *summary, const struct record_call *call)
{
	struct resource_state *resource = resources_of(&summary->resources, call->resource);
	struct tally *total = resource->user;

	if (!total)
		total = resource->user = xcalloc(1, sizeof(*total));
	tally_add(total, call->size);
	summary->count++;
}

static void count_baseline(struct summary *summary, const struct record_baseline *baseline)
{
	for (uint32_t i = 0; i < baseline->count; i++) {
		const struct record_call call = baseline_call(baseline, i);

		count_call(summary, &call);
	}
}

static int leak_summary_put(struct stage *stage, const struct record *record)
{
	struct summary *summary = (struct summary *)stage;

	trace_end_put(&summary->end, record);
	if (record->type == RECORD_CALL)
		count_call(summary, &record->call);
	else if (record->type == RECORD_BASELINE)
		count_baseline(summary, &record->baseline);
	else if (record->type == RECORD_RESOURCE)
		resources_declare(&summary->resources, &record->resource);
	return stage_put(stage->next, record);
}

static int leak_summary_put_line(struct summary *summary, struct buf *line)
{
	const struct record record = {.type = RECORD_COMMENT, .comment = {.text = buf_str(line)}};
	const int error = stage_put(summary->stage.next, &record);

	line->size = 0;
	return error;
}

static int put_total(struct summary *summary, const struct resource_state *resource, struct buf *line)
{
	const struct tally none = {0}, *total = resource->user ? resource->user : &none;

	if (resource->declared)
		buf_printf(line, "# Resource - %s (%s):", resource->type, resource->desc);
	else
		buf_printf(line, "# Resource - %" PRIu32 " (not declared in the trace):", resource->id);
	const int error = leak_summary_put_line(summary, line);

	if (error)
		return error;
	buf_add_str(line, "# ");
	words_count(line, resource, total->calls);
	buf_printf(line, " %s", words_left(resource));
	if (words_have_size(resource, total->bytes))
		buf_printf(line, " with total size of %" PRIu64 " bytes", total->bytes);
	return leak_summary_put_line(summary, line);
}

/* Adds a comment with the number of ids that were allocated again before a release was seen, like functrace's own
 * summary. */
static int put_unseen(struct summary *summary, struct buf *line)
{
	const uint64_t unseen = summary->sources.leaks ? leaks_unseen(summary->sources.leaks) : 0;

	if (!unseen)
		return 0;
	buf_printf(line, "# %" PRIu64 " id(s) were allocated again before a release was seen", unseen);
	return leak_summary_put_line(summary, line);
}

static int put_incomplete(struct summary *summary, struct buf *line)
{
	if (!trace_end_is_missing(&summary->end))
		return 0;
	buf_add_str(line, "# incomplete: the trace has no end " TRACE_END_MISSING);
	return leak_summary_put_line(summary, line);
}

static int leak_summary_put_lines(struct summary *summary, struct buf *line)
{
	struct buf lines = {0};
	int error = 0;

	if (summary->sources.are_all)
		leaks_not_shown(summary->sources.leaks, &lines);
	if (summary->sources.min_count)
		min_count_not_shown(summary->sources.min_count, &lines);
	if (summary->sources.lines)
		summary->sources.lines(summary->sources.lines_context, &lines);
	for (const char *p = buf_str(&lines); *p && !error; p += strcspn(p, "\n"), p += *p == '\n') {
		buf_printf(line, "# %.*s", (int)strcspn(p, "\n"), p);
		error = leak_summary_put_line(summary, line);
	}
	buf_free(&lines);
	return error;
}

static int leak_summary_finish(struct stage *stage)
{
	struct summary *summary = (struct summary *)stage;
	struct buf line = {0};
	int error = 0;

	for (size_t i = 0; i < summary->resources.count && !error; i++) {
		const struct resource_state *resource = summary->resources.items[i];

		if (!(resource->flags & RESOURCE_CALL))
			error = put_total(summary, resource, &line);
	}
	if (!error)
		error = put_incomplete(summary, &line);
	if (!error)
		error = put_unseen(summary, &line);
	if (!error)
		error = leak_summary_put_lines(summary, &line);
	buf_free(&line);
	return error ? error : stage_finish_next(stage);
}

static void summary_free(struct stage *stage)
{
	resources_free(&((struct summary *)stage)->resources);
	free(stage);
}

struct summary_sources *summary_sources(struct stage *stage)
{
	return &((struct summary *)stage)->sources;
}

uint64_t summary_count(const struct stage *stage)
{
	return ((const struct summary *)stage)->count;
}

struct stage *summary_new(struct stage *next)
{
	struct summary *summary = xmalloc(sizeof(*summary));

	*summary = (struct summary){
		.stage = {.put = leak_summary_put, .finish = leak_summary_finish, .free = summary_free, .next = next}};
	return &summary->stage;
}
