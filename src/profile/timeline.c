#include "config.h"
#include "profile/timeline.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Doubles the length of the spans: joins each pair of spans into one span, which has the live resources at the end of
 * the second one, the greater most_bytes of both, and the sums of their allocations. */
static void join_spans(struct timeline *timeline)
{
	const size_t count = (timeline->count + 1) / 2;

	for (size_t i = 0; i < count; i++) {
		const struct timeline_span *first = &timeline->spans[2 * i];
		struct timeline_span joined = *first;

		if (2 * i + 1 < timeline->count) {
			const struct timeline_span *second = first + 1;

			joined.last = second->last;
			if (second->most_bytes > joined.most_bytes)
				joined.most_bytes = second->most_bytes;
			joined.allocations += second->allocations;
		}
		timeline->spans[i] = joined;
	}
	timeline->count = count;
	timeline->width *= 2;
}

/* Drops every second moment: moments 0, 2, 4... become 0, 1, 2... */
static void halve_moments(struct timeline *timeline)
{
	timeline->moment_count = (timeline->moment_count + 1) / 2;
	timeline->moment_width *= 2;
	timeline->halvings++;
}

static void timeline_begin(struct timeline *timeline)
{
	timeline->spans = xcalloc(TIMELINE_SPANS, sizeof(*timeline->spans));
	timeline->width = timeline->moment_width = 1;
	timeline->count = 1;
}

void timeline_advance(struct timeline *timeline, uint64_t since)
{
	if (!timeline->width)
		timeline_begin(timeline);
	while (since / timeline->width >= TIMELINE_SPANS)
		join_spans(timeline);
	for (; timeline->count <= since / timeline->width; timeline->count++)
		timeline->spans[timeline->count] =
			(struct timeline_span){.last = timeline->live, .most_bytes = timeline->live.bytes};
	while (since / timeline->moment_width >= TIMELINE_MOMENTS) {
		timeline->moment_count = TIMELINE_MOMENTS;
		halve_moments(timeline);
	}
	if (timeline->moment_count <= since / timeline->moment_width)
		timeline->moment_count = since / timeline->moment_width + 1;
}

void timeline_note(struct timeline *timeline, const struct tally *live, bool is_allocation)
{
	struct timeline_span *span = &timeline->spans[timeline->count - 1];

	timeline->live = span->last = *live;
	if (live->bytes > span->most_bytes)
		span->most_bytes = live->bytes;
	span->allocations += is_allocation;
}

void timeline_free(struct timeline *timeline)
{
	free(timeline->spans);
}

static struct tally timeline_last_of(const struct site_history *history)
{
	return history->count ? history->entries[history->count - 1].live : (struct tally){0};
}

/* Applies the timeline's halvings to a history. An entry for moment m then begins at the first kept moment that is not
 * before m. If two entries begin at the same moment, the later one is kept. */
static void timeline_catch_up(struct site_history *history, const struct timeline *timeline)
{
	for (; history->halvings < timeline->halvings; history->halvings++) {
		uint32_t count = 0;

		for (uint32_t i = 0; i < history->count; i++) {
			const uint32_t moment = (history->entries[i].moment + 1) / 2;

			if (count && history->entries[count - 1].moment == moment)
				count--;
			history->entries[count] = history->entries[i];
			history->entries[count++].moment = moment;
		}
		history->count = count;
		history->moments = (history->moments + 1) / 2;
	}
}

void site_history_note(struct site_history *history, const struct timeline *timeline, const struct tally *live)
{
	timeline_catch_up(history, timeline);
	if (history->moments >= timeline->moment_count)
		return;
	const struct tally last = timeline_last_of(history);

	if (last.calls != live->calls || last.bytes != live->bytes) {
		if (history->count == history->capacity) {
			history->capacity = history->capacity ? history->capacity * 2 : 2;
			history->entries =
				xreallocarray(history->entries, history->capacity, sizeof(*history->entries));
		}
		history->entries[history->count++] = (struct site_entry){.moment = history->moments, .live = *live};
	}
	history->moments = (uint32_t)timeline->moment_count;
}

struct tally site_history_at(const struct site_history *history, size_t moment)
{
	const size_t before = COUNT_UP_TO(history->entries, history->count, .moment, moment);

	return before ? history->entries[before - 1].live : (struct tally){0};
}
