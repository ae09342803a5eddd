/* The last stage for users of mpatrol. Writes the outputs of mpatrol's program mptrace: the table of events with the
 * statistics, a file in the Heap Allocation Trace Format, and a C program that repeats the allocations. */
#ifndef FT_ANALYSIS_MPATROL_MPATROL_OUTPUTS_H
#define FT_ANALYSIS_MPATROL_MPATROL_OUTPUTS_H

#include "analysis/trace_writer.h"

struct mpatrol_outputs_options {
	bool wants_table;
	struct output_target table;
	const char *hatf_path, *sim_path; /* "-" for standard output; NULL if the file is not wanted */
	const char *input_name;
	int input;           /* descriptor of the input, which must not be overwritten */
	bool is_live;        /* the input is live: flush after each line */
	struct names *names; /* -r: names of functions, owned by the caller; NULL if not wanted */
};

/* Makes the stage, for traces of any format. The stage prints a message before it returns an error. */
struct stage *mpatrol_outputs_new(const struct mpatrol_outputs_options *options);

#endif
