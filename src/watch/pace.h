/* How often a watch may do what costs much. */
#ifndef FT_WATCH_PACE_H
#define FT_WATCH_PACE_H

#include <stdint.h>

/* Returns the cost to be expected, in ns, from the one expected so far (0: none) and a new measurement. One measurement
 * on a busy machine says little, so it counts half. */
uint64_t pace_cost(uint64_t expected_ns, uint64_t measured_ns);
/* Returns the time in ns from one scan to the next: an interval, or as long as scans of this cost need to take no more
 * than this share of a CPU. It is at most ten intervals or five minutes, whichever is more, because the cost may be
 * another one by then. */
uint64_t pace_scan_wait(uint64_t cost_ns, double share, uint64_t interval_ns);

#endif
