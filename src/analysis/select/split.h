/* The first stage for a trace of several processes: passes the records of each process to a chain of stages of its
 * own. */
#ifndef FT_ANALYSIS_SELECT_SPLIT_H
#define FT_ANALYSIS_SELECT_SPLIT_H

#include "analysis/stage.h"

/* Returns the key of a process. In a stream with hosts, several processes have the same pid: on different hosts, or on
 * one host at different times. */
uint64_t split_key_of(const struct record_process *process);

struct split_options {
	uint32_t pid; /* keep only this process; 0: all processes */
	/* Makes the chain of stages for a process and returns its first stage. The split stage does not free the chain.
	 * Returns NULL after a message if the output has no place for another process. */
	struct stage *(*begin)(void *context);
	void *context;
};

/* Makes the stage. A process record says to which process the following records belong. At a new process, the stage
 * makes a chain and passes the process record to it. Later process records of the same process are dropped, and so are
 * records before the first process record. */
struct stage *split_new(const struct split_options *options);

#endif
