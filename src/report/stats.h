/* --stats: what a trace comes to, as a report; on a terminal as wide as that. */
#ifndef FT_REPORT_STATS_H
#define FT_REPORT_STATS_H

#include "analysis/trace_writer.h"

struct stats_options {
	struct output_target target;
	struct names *names; /* names the top stacks; NULL none; the caller's */
};

/* A last stage: takes a trace and writes the report at its end. Memory is proportional to the live
 * resources and the distinct stacks and functions. */
struct stage *stats_new(const struct stats_options *options);

#endif
