/* The live view: what processes have alive and what grows, while their traces are still written. */
#ifndef FT_LIVE_LIVE_VIEW_H
#define FT_LIVE_LIVE_VIEW_H

#include "symbols/names/names.h"
#include "trace/reader.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* By which the tracer is asked for a scan. */
#define LIVE_SCAN_SIGNAL SIGUSR1

struct live_options {
	double interval; /* seconds between two looks */
	uint32_t count;  /* so many looks, then it ends; 0: until the trace ends or the user does */
	uint32_t top;    /* rows of a look in plain lines; 0: 10 */
	const char *sysroot;
	pid_t tracer; /* that writes the traces, and can be asked for a scan; 0: none can */
	const struct names_options *names;
	const char *input_name;
};

/* Reads a trace to its end in a thread of its own. On a terminal it shows a table that takes keys (if it was built
 * with ncurses), else lines. 0, or EXIT_FAILURE after a message. Memory is bounded by the live resources and the
 * distinct stacks. */
int live_run(struct reader *reader, const struct live_options *options);
/* As live_run(), of all traces that come over a socket (struct view_message and a descriptor each) until it is closed,
 * together. Those of processes that have ended are left out while others go on. EXIT_FAILURE without a message if none
 * came. */
int live_run_all(int socket, const struct live_options *options);

#endif
