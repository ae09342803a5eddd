/* Collects how the processes of a profile ended, if not with status 0, and whose traces have no end. */
#ifndef FT_REPORT_PROCESS_ENDS_H
#define FT_REPORT_PROCESS_ENDS_H

#include "profile/profile.h"

struct process_ends {
	char **items; /* "killed by signal 9 (Killed)"; after the process's number and name, if there are several */
	size_t count, capacity;
	size_t left_out; /* ends that the accounts have only counted */
};

/* Collects the ends. Those of processes that were killed come first. */
void process_ends_collect(struct process_ends *ends, const struct profile *profile);
void process_ends_free(struct process_ends *ends);

/* Returns a clause about the traces that have no end: "the trace has no end (...)". Older traces that are compared
 * count too. The caller frees it. Returns NULL if all traces have an end, or it is unknown. */
char *process_ends_missing(const struct profile *profile);

#endif
