/* Writes the report of --stats: the sums of a trace. Its lines are not wider than the terminal. */
#ifndef FT_REPORT_STATS_REPORT_H
#define FT_REPORT_STATS_REPORT_H

#include "analysis/trace_writer.h"
#include "base/buf.h"
#include "profile/account.h"

struct stats_options {
	struct output_target target;
	/* names of the account's objects, owned by the caller; NULL: frames have the names in the trace */
	struct names *names;
	const struct buf *selection; /* the options that have selected the calls, as words; may be empty */
};

/* Writes the report of an account, and sorts the account's lists for it. options: a struct stats_options. Can be used
 * as `done` in struct profile_stage_options. Returns 0, or a negative errno after a message. */
int stats_report(void *options, struct account *account);

#endif
