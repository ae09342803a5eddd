/* Formats the figures of a row in columns. On a narrow terminal there are fewer columns, so that names have space. */
#ifndef FT_LIVE_COLUMNS_H
#define FT_LIVE_COLUMNS_H

#include "live/view_rows.h"

#include "base/buf.h"

/* Returns the heading of the column for growth: since the start, since the baseline, or in an hour. */
const char *columns_since(const struct view *view);

/* Appends the headings of the columns for a terminal of this width. */
void columns_put_heads(const struct view *view, int width, struct buf *line);
/* Appends the figures of a row in the columns for a terminal of this width. */
void columns_put_row(const struct view *view, const struct view_row *row, int width, struct buf *line);

#endif
