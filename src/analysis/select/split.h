/* The first stage of a trace of several processes: each of them goes its own way. */
#ifndef FT_ANALYSIS_SELECT_SPLIT_H
#define FT_ANALYSIS_SELECT_SPLIT_H

#include "analysis/stage.h"

struct split_options {
	uint32_t pid; /* only this process; 0: all */
	/* Makes the first stage for a process, which stays the callee's; NULL: there is no place for another one, which
	 * has been said. */
	struct stage *(*begin)(void *context);
	void *context;
};

/* A process record says whose records follow: a process that is new begins a way of its own, the record of one that has
 * one is not handed on. Records before the first process record are dropped. */
struct stage *split_new(const struct split_options *options);

#endif
