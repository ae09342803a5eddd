/* A watch as bytes, so that it goes on when functrace is started anew. */
#ifndef FT_WATCH_STATE_H
#define FT_WATCH_STATE_H

#include "base/buf.h"
#include "watch/watch.h"

/* Appends the watch, between two windows. */
void watch_save(const struct watch *w, struct buf *out);
/* Makes a watch from all of the bytes. stacks: samples have only stacks below this number. Returns NULL if the bytes
 * are damaged, or were written by another build of functrace. The caller frees the result by watch_free(). */
struct watch *watch_load(const void *bytes, size_t size, const struct watch_options *options, uint32_t stacks);

#endif
