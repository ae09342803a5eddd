/* --stats: a report of the sums of a trace; on a terminal, as wide as that. */
#ifndef FT_REPORT_STATS_H
#define FT_REPORT_STATS_H

#include "analysis/trace_writer.h"

struct stats_options {
	struct output_target target;
	struct names *names; /* for the top stacks; NULL: none; the caller's */
};

/* Makes a last stage, which writes the report at the end of the trace. Memory is proportional to the live resources and
 * the distinct stacks and functions. */
struct stage *stats_new(const struct stats_options *options);

#endif
