/* The pipeline: a chain of stages through which the records of a trace are passed.
 *
 * A stage gets records one by one and passes them, changed or unchanged, to the next stage, or drops them. It may hold
 * records back; at the end it passes them on. The last stage is an output. A record's pointers are valid only while
 * put() runs (trace/event.h). */
#ifndef FT_ANALYSIS_STAGE_H
#define FT_ANALYSIS_STAGE_H

#include "base/util.h"
#include "trace/event.h"

struct stage {
	/* Processes one record. Returns 0, or the negative errno of the output, which ends the run. */
	int (*put)(struct stage *stage, const struct record *record);
	/* Called once at the end of the trace, or of its readable part: passes on records that were held back, then
	 * finishes the next stage. Return value as `put`. */
	int (*finish)(struct stage *stage);
	void (*free)(struct stage *stage);
	struct stage *next; /* the next stage, which is not owned; NULL for the last stage */
};

/* Returns `text`, a string of a record, or "" if it is NULL because the input does not contain the string. */
static inline const char *string_or_empty(const char *text)
{
	return text ? text : "";
}

static inline int stage_put(struct stage *stage, const struct record *record)
{
	return stage->put(stage, record);
}

static inline int stage_finish(struct stage *stage)
{
	return stage->finish(stage);
}

/* Finishes the next stage. A stage that holds no records back can use this function as its `finish`. */
static inline int stage_finish_next(struct stage *stage)
{
	return stage->next ? stage->next->finish(stage->next) : 0;
}

#endif
