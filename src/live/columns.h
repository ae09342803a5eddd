/* The figures of a row, in columns: fewer on a narrow terminal, so that the names have room. */
#ifndef FT_LIVE_COLUMNS_H
#define FT_LIVE_COLUMNS_H

#include "live/view.h"

#include "base/buf.h"

/* The head of the column of what grew: since the start, or since the baseline. */
const char *columns_since(const struct view *view);

/* Appends what the columns of a terminal of that width are, and a row's figures in them. */
void columns_put_heads(const struct view *view, int width, struct buf *line);
void columns_put_row(const struct view *view, const struct view_row *row, int width, struct buf *line);

#endif
