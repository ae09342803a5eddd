/* How the processes of a profile ended, if not with status 0, and whose traces have no end. */
#ifndef FT_REPORT_PROCESS_ENDS_H
#define FT_REPORT_PROCESS_ENDS_H

#include "profile/profile.h"

struct process_ends {
	char **items; /* "killed by signal 9 (Killed)"; of several processes, each with whose it is */
	size_t count, capacity;
	size_t left_out; /* that the accounts have only counted */
};

/* Those that were killed come first. */
void process_ends_collect(struct process_ends *ends, const struct profile *profile);
void process_ends_free(struct process_ends *ends);

/* Whose traces, those that it is compared to among them, have no end, in a clause: "the trace has no end (...)". The
 * caller frees it; NULL: all have theirs, or it is not known. */
char *process_ends_missing(const struct profile *profile);

#endif
