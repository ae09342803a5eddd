/* The last stage where mpatrol's users want what its mptrace program shows of a trace: the table of events with the
 * statistics, the Heap Allocation Trace Format, and a C program that makes the same calls again. */
#ifndef FT_ANALYSIS_MPATROL_MPATROL_OUTPUTS_H
#define FT_ANALYSIS_MPATROL_MPATROL_OUTPUTS_H

#include "analysis/trace_writer.h"

struct mpatrol_outputs_options {
	bool wants_table;
	struct output_target table;
	const char *hatf_path, *sim_path; /* "-": standard output; NULL: not wanted */
	const char *input_name;
	int input;           /* not to be overwritten */
	bool is_live;        /* each line is wanted when it comes */
	struct names *names; /* -r; NULL none; the caller's */
};

/* Takes the records of any trace. An error has been reported in a message. */
struct stage *mpatrol_outputs_new(const struct mpatrol_outputs_options *options);

#endif
