/* --stats: a report of a trace's sums; on a terminal, lines are not wider than the terminal. */
#ifndef FT_REPORT_STATS_H
#define FT_REPORT_STATS_H

#include "analysis/trace_writer.h"

struct stats_options {
	struct output_target target;
	struct names *names; /* names for the stacks; owned by the caller; NULL: none */
};

/* Returns the last stage of a chain, which writes the report at the end of the trace. Memory is proportional to the
 * numbers of live resources and of distinct stacks and functions. */
struct stage *stats_new(const struct stats_options *options);

#endif
