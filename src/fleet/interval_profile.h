/* An interval of a watch as a profile for pprof. */
#ifndef FT_FLEET_INTERVAL_PROFILE_H
#define FT_FLEET_INTERVAL_PROFILE_H

#include "watch/interval.h"

#include <stdio.h>

/* Writes the interval, compressed by gzip. Each row is a sample with the values
 *
 *	inuse_space, inuse_objects    live bytes and blocks at the end of the interval
 *	alloc_space, alloc_objects    bytes and blocks that were allocated in the interval
 *	growth                        bytes per hour
 *	lost_space                    lost bytes
 *
 * and the labels verdict (a text), live_low, live_high, growth_low and growth_high. Bytes of the heap that belong to no
 * row, if they are known, are samples of a function "[...]" that says why. Comments say that the values are estimates.
 * An address is the offset from the first byte of its object, so that it is the same in all processes.
 * is_unsigned: for systems whose values have no sign; growth below 0 becomes 0. Returns 0, or -ENOMEM; the caller finds
 * errors of `out` by ferror(). */
int interval_profile_write(const struct watch_interval *interval, bool is_unsigned, FILE *out);

#endif
