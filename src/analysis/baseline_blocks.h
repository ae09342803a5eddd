/* Represents the blocks of a baseline, which are from before the trace, as if calls of the trace had allocated them. */
#ifndef FT_ANALYSIS_BASELINE_BLOCKS_H
#define FT_ANALYSIS_BASELINE_BLOCKS_H

#include "analysis/stage.h"
#include "trace/event.h"

/* The function name of blocks from before the trace, whose functions and stacks are unknown. */
#define BEFORE_NAME "[before the trace]"

/* Returns an allocation that represents block number `i` of a baseline. */
static inline struct record_call baseline_call(const struct record_baseline *baseline, uint32_t i)
{
	return (struct record_call){.kind = CALL_ALLOC,
				    .time_ns = TIME_NONE,
				    .resource = baseline->resource,
				    .function = BEFORE_NAME,
				    .id = baseline->blocks[i].id,
				    .size = baseline->blocks[i].size};
}

/* A list of blocks from before the trace. */
struct baseline_blocks {
	struct baseline_block *items;
	size_t count, capacity;
};

void baseline_blocks_add(struct baseline_blocks *blocks, uint64_t id, uint64_t size);
/* Passes the blocks to the stage as baseline records, in the order of their ids, and frees them. Return value as
 * stage_put(). */
int baseline_blocks_put(struct baseline_blocks *blocks, uint32_t resource, struct stage *stage);

#endif
