/* Blocks from before the trace, which no call of it has allocated, as if one had. */
#ifndef FT_ANALYSIS_PREEXISTING_H
#define FT_ANALYSIS_PREEXISTING_H

#include "analysis/stage.h"
#include "trace/event.h"

/* In the place of the function, for there is no stack either. */
#define BEFORE_NAME "[before the trace]"

static inline struct record_call before_call(const struct record_census *census, uint32_t i)
{
	return (struct record_call){.kind = CALL_ALLOC,
				    .time_ns = TIME_NONE,
				    .resource = census->resource,
				    .function = BEFORE_NAME,
				    .id = census->blocks[i].id,
				    .size = census->blocks[i].size};
}

/* Such blocks, as they are collected. */
struct census_blocks {
	struct census_block *items;
	size_t count, capacity;
};

void census_blocks_add(struct census_blocks *blocks, uint64_t id, uint64_t size);
/* Gives them to the stage in the order of their ids, and frees them. */
int census_blocks_put(struct census_blocks *blocks, uint32_t resource, struct stage *stage);

#endif
