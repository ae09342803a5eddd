/* What functrace-postproc makes of whole profiles: the report, the page, files for other tools. */
#ifndef FT_POSTPROC_POSTPROC_VIEWS_H
#define FT_POSTPROC_POSTPROC_VIEWS_H

#include "postproc/postproc_options.h"
#include "analysis/trace_writer.h"
#include "profile/profile.h"
#include "profile/suppressions.h"

struct views {
	const struct postproc_options *options;
	struct profile *profile; /* of all processes of all inputs; NULL: none is needed */
	struct suppressions suppressions;
	struct output_sequence *sequence; /* of the traces that are each by itself; NULL: all are together */
	bool reads_old;                   /* what is read now is what the profile is compared to (--diff) */
};

/* To be called once, if view_options_want(). False after a message: a file of suppressions cannot be read. */
bool views_begin(struct views *views, const struct postproc_options *options);
/* The last stage of a process's records, whose names are `names`; clock: as in struct account.
 * The caller frees it before views_free(). */
struct stage *views_stage(struct views *views, struct names *names, const struct trace_clock *clock,
			  const struct output_target *target);
/* After the last input: writes all that is wanted. False after a message. */
bool views_write(struct views *views);
/* Whether anything is alive that --error-exitcode counts; after views_write(). */
bool views_found_leaks(const struct views *views);
/* Whether --error-exitcode has nothing to go by, which is reported: of no process is it known what is lost, and
 * none has allocated anything that was traced. */
bool views_know_nothing(const struct views *views);
void views_free(struct views *views);

#endif
