/* Writes the intervals of a watch as rows of JSON into a file. src/export/row_line.h has the columns. */
#ifndef FT_FLEET_ROWS_H
#define FT_FLEET_ROWS_H

#include "base/buf.h"
#include "watch/interval.h"

#define ROWS_NAME     "rows.jsonl"
#define ROWS_OLD_NAME "rows.old.jsonl"

/* Appends a line for each stack of the interval, in its order, and after them the line of the scope "interval". */
void rows_add(struct buf *out, const struct watch_interval *interval);

/* The file FOLDER/rows.jsonl. When it would have more than `limit` bytes, it is renamed to rows.old.jsonl, and the
 * former file of that name is lost. A single interval with more bytes has a file of its own.
 *
 * The file has only whole lines before its last one. If functrace is killed during a write, only the last interval
 * can be incomplete; the next one removes the half line at its end. Several watches may write to one
 * folder, also in different processes. */
struct rows_file;

/* Returns the file, which the caller frees by rows_file_close(). The folder has to exist. Returns NULL after a message
 * if the file cannot be written. */
struct rows_file *rows_file_open(const char *folder, uint64_t limit);
/* Appends the rows of an interval. Waits at most some seconds for other watches. Returns 0; -errno if the rows are not
 * in the file, or not all. The first such interval after a success causes a message, and each one is counted. */
int rows_file_append(struct rows_file *file, const struct watch_interval *interval);
/* Frees the file. Prints a message if intervals are missing in it. NULL is permitted. */
void rows_file_close(struct rows_file *file);

#endif
