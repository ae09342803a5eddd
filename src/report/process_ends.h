/* How the processes of a profile ended, if not with status 0. */
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

#endif
