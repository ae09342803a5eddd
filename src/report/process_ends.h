/* Finds the processes of a profile that did not exit with status 0, and those whose traces have no end. */
#ifndef FT_REPORT_PROCESS_ENDS_H
#define FT_REPORT_PROCESS_ENDS_H

#include "profile/profile.h"

struct process_ends {
	/* texts such as "killed by signal 9 (Killed)"; with several processes, each begins with the process's number
	 * and name */
	char **items;
	size_t count, capacity;
	size_t left_out; /* number of further ends, which the accounts have only counted */
};

/* Collects the ends of processes, those of killed processes first. */
void process_ends_collect(struct process_ends *ends, const struct profile *profile);
void process_ends_free(struct process_ends *ends);

/* Returns a clause about the traces without an end: "the trace has no end (...)". Older traces for comparison are
 * included. The caller frees the text. Returns NULL if all traces have an end, or if this is unknown. */
char *process_ends_missing(const struct profile *profile);

#endif
