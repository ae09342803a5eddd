/* Shortens names of functions that are too long for a line. */
#ifndef FT_REPORT_SHORTEN_H
#define FT_REPORT_SHORTEN_H

#include "base/buf.h"

/* Shortens the name from `begin` to `end` in a line by `by` bytes, or as far as possible, and moves the text after it.
 * First the longest template arguments are replaced by "<...>", then the parameters by "(...)", then the middle of the
 * name by "...". Multi-byte characters are not split. Returns the new end of the name. */
size_t shorten_name(struct buf *line, size_t begin, size_t end, size_t by);

#endif
