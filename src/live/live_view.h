/* The live view: shows the live resources of processes and their growth, while their traces are still being written. */
#ifndef FT_LIVE_LIVE_VIEW_H
#define FT_LIVE_LIVE_VIEW_H

#include "symbols/names/names.h"
#include "trace/reader.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* The signal that asks the tracer for a scan. */
#define LIVE_SCAN_SIGNAL SIGUSR1

struct live_options {
	double interval; /* time between two updates, in seconds */
	/* number of updates after which the view ends; 0: without a terminal the view ends with the trace, on a
	 * terminal it ends when the user quits */
	uint32_t count;
	uint32_t top; /* rows that are shown without a terminal; 0: 10 */
	const char *sysroot;
	pid_t tracer; /* the process that writes the traces, and accepts requests for scans; 0: none */
	const struct names_options *names;
	const char *input_name;
	uint32_t pid; /* for live_run(): the process to show; 0: the trace has only one */
};

/* Reads a trace to its end in a thread, and shows it: as a table with key commands if standard output is a terminal
 * (and functrace was built with ncurses), else as lines. Returns 0, or EXIT_FAILURE after a message, also if the trace
 * was cut or lacks the process to show. Memory is proportional to the numbers of live resources and of distinct
 * stacks. */
int live_run(struct reader *reader, const struct live_options *options);
/* Like live_run(), but for all traces that arrive over a socket until the socket is closed, each as a struct
 * view_message with a descriptor. While the socket is open, leaves out ended processes if there are others. Returns
 * EXIT_FAILURE without a message if no trace was received. */
int live_run_all(int socket, const struct live_options *options);

#endif
