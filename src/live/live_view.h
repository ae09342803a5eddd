/* The live view: shows what processes have alive and what grows, while their traces are still written. */
#ifndef FT_LIVE_LIVE_VIEW_H
#define FT_LIVE_LIVE_VIEW_H

#include "symbols/names/names.h"
#include "trace/reader.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Asks the tracer for a scan. */
#define LIVE_SCAN_SIGNAL SIGUSR1

struct live_options {
	double interval; /* seconds between two looks */
	uint32_t count;  /* looks after which it ends; 0: it ends with the trace, or by the user */
	uint32_t top;    /* rows of a look without a terminal; 0: 10 */
	const char *sysroot;
	pid_t tracer; /* that writes the traces and can be asked for a scan; 0: none */
	const struct names_options *names;
	const char *input_name;
};

/* Reads a trace to its end in a thread of its own, and shows it: on a terminal (if it was built with ncurses) as a
 * table that takes keys, else as lines. Returns 0, or EXIT_FAILURE after a message. Memory is bounded by the live
 * resources and the distinct stacks. */
int live_run(struct reader *reader, const struct live_options *options);
/* The same for all traces that come over a socket until it is closed; each comes as a struct view_message and a
 * descriptor. Processes that have ended are left out while others go on. Returns EXIT_FAILURE without a message if no
 * trace came. */
int live_run_all(int socket, const struct live_options *options);

#endif
