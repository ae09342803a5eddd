/* Records how much was alive at which time: a bounded number of spans of equal length, and of moments at which each
 * site's live blocks are known. When their number is reached, their length doubles, so a trace of any length fits. */
#ifndef FT_PROFILE_TIMELINE_H
#define FT_PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIMELINE_SPANS = 1024, TIMELINE_MOMENTS = 64 };

struct tally {
	uint64_t calls, bytes;
};

static inline void tally_add(struct tally *tally, uint64_t bytes)
{
	tally->calls++;
	tally->bytes = bytes > UINT64_MAX - tally->bytes ? UINT64_MAX : tally->bytes + bytes;
}

static inline void tally_take(struct tally *tally, uint64_t bytes)
{
	tally->calls--;
	/* A saturated sum cannot be reduced exactly. */
	tally->bytes = tally->bytes > bytes ? tally->bytes - bytes : 0;
}

static inline void tally_join(struct tally *to, const struct tally *more)
{
	to->calls += more->calls;
	to->bytes = more->bytes > UINT64_MAX - to->bytes ? UINT64_MAX : to->bytes + more->bytes;
}

struct timeline_span {
	struct tally last;        /* alive when the span ended */
	uint64_t most_bytes;      /* the most that were alive at once */
	uint64_t allocations;     /* calls in the span */
	uint64_t allocated_bytes; /* bytes of these calls */
};

struct timeline {
	uint64_t width; /* of a span, in the units of struct moment's `since`; 0 before the first call */
	size_t count;   /* spans, all but the last of which have ended */
	struct timeline_span *spans;
	uint64_t moment_width; /* moment k is at k * moment_width, before the calls of that time */
	size_t moment_count;   /* moments that have passed */
	uint64_t halvings;     /* how often every other moment was dropped */
	struct tally live;
};

/* What a site had alive from a moment on, until its next entry. */
struct site_entry {
	uint32_t moment;
	struct tally live;
};

struct site_history {
	struct site_entry *entries; /* ascending; before the first one nothing was alive */
	uint32_t count, capacity;
	uint32_t moments;  /* moments that the entries cover */
	uint32_t halvings; /* halvings of the timeline that were applied */
};

/* Advances the time to `since`: ends spans and passes moments. Call it before the changes of that time. */
void timeline_advance(struct timeline *timeline, uint64_t since);
/* Notes a change of what is alive; `live` is what the resource has after it. bytes: of the allocation, if it is one. */
void timeline_note(struct timeline *timeline, const struct tally *live, bool is_allocation, uint64_t bytes);
void timeline_free(struct timeline *timeline);

/* Call it before the site's live tally changes, or at the end: the site had `live` at all moments that have passed
 * since the last call. */
void site_history_note(struct site_history *history, const struct timeline *timeline, const struct tally *live);
/* Returns what the site had alive at a moment. */
struct tally site_history_at(const struct site_history *history, size_t moment);

#endif
