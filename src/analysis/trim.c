#include "config.h"
#include "analysis/trim.h"

#include <stdlib.h>

struct trim {
	struct stage stage;
	uint32_t depth;
};

static int trim_put(struct stage *stage, const struct record *record)
{
	const uint32_t depth = ((const struct trim *)stage)->depth;
	struct record changed;

	if (record->type != RECORD_CALL || record->call.frame_count < depth)
		return stage_put(stage->next, record);
	changed = *record;
	changed.call.frame_count = depth;
	changed.call.end = STACK_WHOLE;
	return stage_put(stage->next, &changed);
}

static void trim_free(struct stage *stage)
{
	free(stage);
}

struct stage *trim_new(struct stage *next, uint32_t depth)
{
	struct trim *trim = xmalloc(sizeof(*trim));

	*trim = (struct trim){
		.stage = {.put = trim_put, .finish = stage_finish_next, .free = trim_free, .next = next},
		.depth = depth,
	};
	return &trim->stage;
}
