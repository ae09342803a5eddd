/* The text that monitoring systems read: the latest interval of each process, in OpenMetrics 1.0.0 or in Prometheus'
 * text format 0.0.4. All functions may be called by several threads at a time. */
#ifndef FT_FLEET_METRICS_TEXT_H
#define FT_FLEET_METRICS_TEXT_H

#include "base/buf.h"
#include "watch/interval.h"

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS };

/* More processes than this are not in the text, which then has their number. */
#define METRICS_PROCESSES_MAX 256

struct metrics_text;

/* stacks_max: number of stacks of each process in the text; at least 1. The caller frees the result by
 * metrics_text_free(). */
struct metrics_text *metrics_text_new(size_t stacks_max);
void metrics_text_free(struct metrics_text *text);

/* Replaces the interval of interval->pid. Keeps no pointer of it. Returns false if there are METRICS_PROCESSES_MAX
 * other processes: the interval is not kept, and counts as omitted. */
bool metrics_text_set(struct metrics_text *text, const struct watch_interval *interval);
/* Removes a process that has ended. Does nothing if it is unknown. */
void metrics_text_forget(struct metrics_text *text, pid_t pid);

/* Appends the whole text. */
void metrics_text_write(struct metrics_text *text, enum metrics_format format, struct buf *out);
/* Returns the Content-Type of the format. */
const char *metrics_text_type(enum metrics_format format);

#endif
