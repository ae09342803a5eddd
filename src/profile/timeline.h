/* Records the amount of live resources over time: in a limited number of spans of equal length, and, for each site, at
 * a limited number of moments. When a limit is reached, the spans become twice as long, or the moments twice as far
 * apart, so a trace of any length fits. */
#ifndef FT_PROFILE_TIMELINE_H
#define FT_PROFILE_TIMELINE_H

#include "analysis/tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIMELINE_SPANS = 1024, TIMELINE_MOMENTS = 64 };

struct timeline_span {
	struct tally last;    /* live resources at the end of the span */
	uint64_t most_bytes;  /* largest number of live bytes in the span */
	uint64_t allocations; /* calls that allocate in the span */
};

struct timeline {
	uint64_t width; /* length of a span, in the units of struct moment's `since`; 0 before the first call */
	size_t count;   /* number of spans; all but the last have ended */
	struct timeline_span *spans;
	uint64_t moment_width; /* moment k is the time k * moment_width; calls at exactly that time come after it */
	size_t moment_count;   /* number of moments that have passed */
	uint64_t halvings;     /* number of times that every second moment was dropped */
	struct tally live;
};

/* A site's live resources from a moment on, until the next entry. */
struct site_entry {
	uint32_t moment;
	struct tally live;
};

struct site_history {
	struct site_entry *entries; /* by ascending moment; before the first entry the site has no live resources */
	uint32_t count, capacity;
	uint32_t moments;  /* number of moments that the entries cover */
	uint32_t halvings; /* how many of the timeline's halvings were applied */
};

/* Advances the time to `since`: begins new spans, and counts the moments that have passed. Call it before the changes
 * at that time. */
void timeline_advance(struct timeline *timeline, uint64_t since);
/* Records a change of the live resources; `live` is their amount after the change. */
void timeline_note(struct timeline *timeline, const struct tally *live, bool is_allocation);
void timeline_free(struct timeline *timeline);

/* Records that the site had `live` at all moments that have passed since the last call. Call it before the site's
 * `live` changes, and at the end. */
void site_history_note(struct site_history *history, const struct timeline *timeline, const struct tally *live);
/* Returns the site's live resources at a moment. */
struct tally site_history_at(const struct site_history *history, size_t moment);

#endif
