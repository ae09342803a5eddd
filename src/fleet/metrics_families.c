/* The names, units and meanings of all metrics of processes and stacks: see metrics_samples.h. The names follow the
 * OpenMetrics specification 1.0.0: base units, and a family with a unit ends in it. */
#include "config.h"
#include "fleet/metrics_samples.h"

#define BYTES      "bytes"
#define PER_SECOND "bytes_per_second"

static const struct metrics_family families[METRICS_FAMILIES] = {
	[METRICS_PROCESS] = {"functrace_process", METRICS_INFO, NULL, "The process that is watched, and how."},
	[METRICS_LIVE] = {"functrace_live_bytes", METRICS_GAUGE, BYTES,
			  "Estimate: live bytes of the blocks that were allocated since the watch began."},
	[METRICS_GROWTH] = {"functrace_growth_bytes_per_second", METRICS_GAUGE, PER_SECOND,
			    "Estimate: growth of the live bytes of all stacks."},
	[METRICS_LOST] = {"functrace_lost_bytes", METRICS_GAUGE, BYTES,
			  "Bytes to which no pointer leads, by the latest scan."},
	[METRICS_CALLS] = {"functrace_calls_seen", METRICS_COUNTER, NULL,
			   "Calls of allocating and releasing functions that were seen in windows."},
	[METRICS_UNSEEN] = {"functrace_calls_unseen", METRICS_COUNTER, NULL,
			    "Calls in windows that were not seen because records were lost."},
	[METRICS_WINDOWS] = {"functrace_windows", METRICS_COUNTER, NULL, "Windows of time in which calls were seen."},
	[METRICS_LOOKS] = {"functrace_looks", METRICS_COUNTER, NULL, "Looks at the heap."},
	[METRICS_WATCHED] = {"functrace_watched_work_ratio", METRICS_GAUGE, "ratio",
			     "Share of the work of the process that was done in windows."},
	[METRICS_BUDGET] = {"functrace_budget_ratio", METRICS_GAUGE, "ratio",
			    "Share of one CPU that the watch may take."},
	[METRICS_COST] = {"functrace_cost_ratio", METRICS_GAUGE, "ratio",
			  "Share of one CPU that the watch takes: from the target, and in functrace itself."},
	[METRICS_PAUSE] = {"functrace_longest_pause_seconds", METRICS_GAUGE, "seconds",
			   "Longest pause of the process that the watch has caused."},
	[METRICS_HEAP] = {"functrace_heap_bytes", METRICS_GAUGE, BYTES, "Bytes in use, by the data of the allocator."},
	[METRICS_HEAP_BLOCKS] = {"functrace_heap_blocks", METRICS_GAUGE, NULL,
				 "Blocks in use, by the data of the allocator."},
	[METRICS_BEFORE] = {"functrace_heap_before_bytes", METRICS_GAUGE, BYTES,
			    "Bytes that were in use when the watch began."},
	[METRICS_UNATTRIBUTED] = {"functrace_heap_unattributed_bytes", METRICS_GAUGE, BYTES,
				  "Bytes in use that are live bytes of no stack: older than the watch, or not seen."},
	[METRICS_STACK_COUNT] = {"functrace_stacks", METRICS_GAUGE, NULL,
				 "Stacks with live bytes, of which functrace_stack_info names the most important."},
	[METRICS_BEGAN] = {"functrace_watch_start_time_seconds", METRICS_GAUGE, "seconds",
			   "When the watch began, in seconds since the Epoch."},
	[METRICS_END] = {"functrace_interval_end_time_seconds", METRICS_GAUGE, "seconds",
			 "The time of all values of this process, in seconds since the Epoch."},
	[METRICS_STACK] = {"functrace_stack", METRICS_INFO, NULL,
			   "The function that allocates, and its callers from inside to outside."},
	[METRICS_STACK_LIVE] =
		{"functrace_stack_live_bytes", METRICS_GAUGE, BYTES,
		 "Estimate: live bytes of the blocks that this stack has allocated since the watch began."},
	[METRICS_STACK_LIVE_LOW] = {"functrace_stack_live_low_bytes", METRICS_GAUGE, BYTES,
				    "Lower end of the 90 % interval of functrace_stack_live_bytes."},
	[METRICS_STACK_LIVE_HIGH] = {"functrace_stack_live_high_bytes", METRICS_GAUGE, BYTES,
				     "Upper end of the 90 % interval of functrace_stack_live_bytes."},
	[METRICS_STACK_GROWTH] = {"functrace_stack_growth_bytes_per_second", METRICS_GAUGE, PER_SECOND,
				  "Estimate: growth of the live bytes of this stack."},
	[METRICS_STACK_GROWTH_LOW] = {"functrace_stack_growth_low_bytes_per_second", METRICS_GAUGE, PER_SECOND,
				      "Lower end of the 90 % interval of functrace_stack_growth_bytes_per_second."},
	[METRICS_STACK_GROWTH_HIGH] = {"functrace_stack_growth_high_bytes_per_second", METRICS_GAUGE, PER_SECOND,
				       "Upper end of the 90 % interval of functrace_stack_growth_bytes_per_second."},
	[METRICS_STACK_LOST] = {"functrace_stack_lost_bytes", METRICS_GAUGE, BYTES,
				"Estimate: live bytes of this stack to which no pointer leads."},
	[METRICS_STACK_GROWING] =
		{"functrace_stack_growing", METRICS_GAUGE, NULL,
		 "1 if the live bytes of this stack grow, 0 if nothing says so; absent while unknown."},
};

const struct metrics_family *metrics_family(enum metrics_family_id id)
{
	return &families[id];
}

const char *metrics_suffix(enum metrics_type type)
{
	return type == METRICS_COUNTER ? "_total" : type == METRICS_INFO ? "_info" : "";
}
