/* What has grown of late. The estimates of a watch are of all the time since it began: after weeks, a leak that begins
 * would have to go on for weeks to be seen in them, and one that has ended would seem to go on. So the growth is also
 * estimated from the last 50 to 100 windows alone, and the two estimates are joined.
 *
 *	windows:  1 ... 50 | 51 ... 100 | 101 ... 150 | 151 ...
 *	older:    begins   |            | ends
 *	younger:           | begins     | is the older one now | ends
 *	its next:                       | begins               | ... */
#ifndef FT_WATCH_RECENT_H
#define FT_WATCH_RECENT_H

#include "watch/watch.h"

struct watch_recent;

/* now, work: as in watch_window_begin(). The caller frees the result by watch_recent_free(). */
struct watch_recent *watch_recent_new(uint64_t seed, uint64_t now, uint64_t work);
void watch_recent_free(struct watch_recent *recent);

/* These get what the functions of watch.h with such names get. */
void watch_recent_window_begin(struct watch_recent *recent, uint64_t now, uint64_t work);
void watch_recent_window_end(struct watch_recent *recent, uint64_t now, uint64_t work, const struct watch_heap *heap);
void watch_recent_allocated(struct watch_recent *recent, uint64_t now, uint64_t address, uint64_t size,
			    uint32_t size_class, uint32_t stack);
void watch_recent_released(struct watch_recent *recent, uint64_t now, uint64_t address, uint32_t size_class);
void watch_recent_look(struct watch_recent *recent, uint64_t now, uint64_t work, const struct watch_heap *heap);

/* Corrects the growth and the verdicts of a result of the whole watch. now: the time of the result. Does nothing before
 * there are enough windows since the watch began. */
void watch_recent_apply(const struct watch_recent *recent, uint64_t now, struct watch_result *whole);

#endif
