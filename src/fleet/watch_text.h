/* A result of a watch as text. */
#ifndef FT_FLEET_WATCH_TEXT_H
#define FT_FLEET_WATCH_TEXT_H

#include "watch/interval.h"
#include "base/buf.h"

/* Appends the whole result, with at most `top` stacks. */
void watch_text_add(struct buf *out, const struct watch_interval *interval, size_t top);
/* Appends one line for a log, without a newline. */
void watch_text_add_line(struct buf *out, const struct watch_interval *interval);

#endif
