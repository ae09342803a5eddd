/* The last stage for users of mpatrol. Writes what its program mptrace shows of a trace: the table of events with the
 * statistics, the Heap Allocation Trace Format, and a C program that makes the same calls again. */
#ifndef FT_ANALYSIS_MPATROL_MPATROL_OUTPUTS_H
#define FT_ANALYSIS_MPATROL_MPATROL_OUTPUTS_H

#include "analysis/trace_writer.h"

struct mpatrol_outputs_options {
	bool wants_table;
	struct output_target table;
	const char *hatf_path, *sim_path; /* "-": standard output; NULL: not wanted */
	const char *input_name;
	int input;           /* its fd, not to be overwritten */
	bool is_live;        /* each line is written as soon as it comes */
	struct names *names; /* -r; NULL: none; the caller's */
};

/* Makes the stage, which takes the records of any trace. It reports errors in messages. */
struct stage *mpatrol_outputs_new(const struct mpatrol_outputs_options *options);

#endif
