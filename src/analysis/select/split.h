/* The first stage for a trace of several processes: gives each process a chain of stages. */
#ifndef FT_ANALYSIS_SELECT_SPLIT_H
#define FT_ANALYSIS_SELECT_SPLIT_H

#include "analysis/stage.h"

struct split_options {
	uint32_t pid; /* only this process; 0: all */
	/* Makes the first stage for a process, which the callee owns. Returns NULL after a message if there is no place
	 * for another process. */
	struct stage *(*begin)(void *context);
	void *context;
};

/* Makes the stage. A process record says whose records follow. The first record of a process makes its chain; further
 * ones of this process are not passed on. Records before the first process record are dropped. */
struct stage *split_new(const struct split_options *options);

#endif
