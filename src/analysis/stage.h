/* The pipeline: a chain of stages, through which the records of a trace stream.
 *
 * A stage takes records one by one, and passes those that it lets through to the next stage, changed or not. At the end
 * it passes on what it had to hold back. The last stage is an output. A record's pointers are valid only during the
 * call, as everywhere (trace/event.h). */
#ifndef FT_ANALYSIS_STAGE_H
#define FT_ANALYSIS_STAGE_H

#include "base/util.h"
#include "trace/event.h"

struct stage {
	/* Takes one record. Returns 0, or the output's negative errno, which ends the run. */
	int (*put)(struct stage *stage, const struct record *record);
	/* The trace has ended, or what is readable of it: passes on what is held back, then finishes the next stage.
	 * Called once; errors as put. */
	int (*finish)(struct stage *stage);
	void (*free)(struct stage *stage);
	struct stage *next; /* not owned; NULL for the last */
};

/* A string in a record is NULL if the input does not have it. */
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

/* The `finish` of a stage that holds nothing back: finishes the next one. */
static inline int stage_finish_next(struct stage *stage)
{
	return stage->next ? stage->next->finish(stage->next) : 0;
}

#endif
