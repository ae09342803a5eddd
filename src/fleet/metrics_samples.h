/* The samples of one interval, as lines of OpenMetrics and of Prometheus' text format: in both they are the same. */
#ifndef FT_FLEET_METRICS_SAMPLES_H
#define FT_FLEET_METRICS_SAMPLES_H

#include "base/buf.h"
#include "watch/interval.h"

/* The families of metrics that describe a process or one of its stacks. metrics_family() describes each. */
enum metrics_family_id {
	METRICS_PROCESS,
	METRICS_LIVE,
	METRICS_GROWTH,
	METRICS_LOST,
	METRICS_CALLS,
	METRICS_UNSEEN,
	METRICS_WINDOWS,
	METRICS_LOOKS,
	METRICS_WATCHED,
	METRICS_BUDGET,
	METRICS_COST,
	METRICS_PAUSE,
	METRICS_HEAP,
	METRICS_HEAP_BLOCKS,
	METRICS_BEFORE,
	METRICS_UNATTRIBUTED,
	METRICS_STACK_COUNT,
	METRICS_BEGAN,
	METRICS_END,
	METRICS_STACK,
	METRICS_STACK_LIVE,
	METRICS_STACK_LIVE_LOW,
	METRICS_STACK_LIVE_HIGH,
	METRICS_STACK_GROWTH,
	METRICS_STACK_GROWTH_LOW,
	METRICS_STACK_GROWTH_HIGH,
	METRICS_STACK_LOST,
	METRICS_STACK_GROWING,
	METRICS_FAMILIES,
};

enum metrics_type { METRICS_GAUGE, METRICS_COUNTER, METRICS_INFO };

struct metrics_family {
	const char *name; /* of the family; that of its samples may have a suffix */
	enum metrics_type type;
	const char *unit; /* the last part of the name; NULL: none */
	const char *help; /* a sentence without backslashes, quotation marks and newlines */
};

/* Returns the description, which is valid for ever. */
const struct metrics_family *metrics_family(enum metrics_family_id id);
/* Returns what the samples of a family of this type have after the family's name: "", "_total" or "_info". */
const char *metrics_suffix(enum metrics_type type);

/* Appends a label, with a comma before it unless the buffer ends in '{': name="text". The text is cut to `max` bytes,
 * invalid UTF-8 and control characters become U+FFFD, and what the formats reserve is escaped. NULL is the empty
 * text. */
void metrics_add_label(struct buf *out, const char *name, const char *text, size_t max);

/* Appends the lines of one interval, each to the buffer of its family. Values that are unknown (WATCH_UNKNOWN, not
 * finite) have no line. Of the stacks, at most stacks_max have lines: half of these are the stacks with the most live
 * bytes, the others those that are growing, by growth, then those with lost bytes. Rows with equal ids are added up. */
void metrics_add_samples(struct buf samples[METRICS_FAMILIES], const struct watch_interval *interval,
			 size_t stacks_max);

#endif
