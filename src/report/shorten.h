/* Names of functions, shortened for a narrow place. */
#ifndef FT_REPORT_SHORTEN_H
#define FT_REPORT_SHORTEN_H

#include "base/buf.h"

/* Shortens the name in the bytes from `begin` to `end` of a line by as much as is asked for, if its
 * length allows that, and moves up what is behind it: the longest template arguments become
 * "<...>", then the parameters "(...)", then its middle "...". Characters of several bytes stay
 * whole. Returns the new end. */
size_t shorten_name(struct buf *line, size_t begin, size_t end, size_t by);

#endif
