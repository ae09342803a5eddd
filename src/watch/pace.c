#include "config.h"
#include "watch/pace.h"
#include "base/time_units.h"

#define INTERVALS_MOST 10
#define WAIT_MOST_NS   (300 * NS_PER_SECOND) /* for shorter intervals */

uint64_t pace_cost(uint64_t expected_ns, uint64_t measured_ns)
{
	return expected_ns ? expected_ns / 2 + measured_ns / 2 : measured_ns;
}

uint64_t pace_scan_wait(uint64_t cost_ns, double share, uint64_t interval_ns)
{
	const double wait = (double)cost_ns / share;
	uint64_t most = interval_ns * INTERVALS_MOST;

	if (most < WAIT_MOST_NS)
		most = WAIT_MOST_NS;
	if (wait < (double)interval_ns)
		return interval_ns;
	return wait < (double)most ? (uint64_t)wait : most;
}
