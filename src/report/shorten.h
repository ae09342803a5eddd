/* Shortens names of functions for a narrow place. */
#ifndef FT_REPORT_SHORTEN_H
#define FT_REPORT_SHORTEN_H

#include "base/buf.h"

/* Shortens the name from `begin` to `end` of a line by `by` bytes, if it is long enough, and moves up what follows it.
 * The longest template arguments become "<...>", then the parameters "(...)", then the middle of the name "...".
 * Characters of several bytes stay whole. Returns the new end. */
size_t shorten_name(struct buf *line, size_t begin, size_t end, size_t by);

#endif
