/* Blocks from before the trace, which no call of it has allocated, as if one had. */
#ifndef FT_ANALYSIS_PREEXISTING_H
#define FT_ANALYSIS_PREEXISTING_H

#include "analysis/stage.h"
#include "trace/event.h"

/* In the place of the function, for there is no stack either. */
#define BEFORE_NAME "[before the trace]"

static inline struct record_call preexisting_call(const struct record_baseline *baseline, uint32_t i)
{
	return (struct record_call){.kind = CALL_ALLOC,
				    .time_ns = TIME_NONE,
				    .resource = baseline->resource,
				    .function = BEFORE_NAME,
				    .id = baseline->blocks[i].id,
				    .size = baseline->blocks[i].size};
}

/* Such blocks, as they are collected. */
struct preexisting_blocks {
	struct baseline_block *items;
	size_t count, capacity;
};

void preexisting_blocks_add(struct preexisting_blocks *blocks, uint64_t id, uint64_t size);
/* Gives them to the stage in the order of their ids, and frees them. */
int preexisting_blocks_put(struct preexisting_blocks *blocks, uint32_t resource, struct stage *stage);

#endif
