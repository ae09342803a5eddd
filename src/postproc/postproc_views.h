/* Writes the views of functrace-postproc: the report, the page, and exports, which are made from whole profiles. */
#ifndef FT_POSTPROC_POSTPROC_VIEWS_H
#define FT_POSTPROC_POSTPROC_VIEWS_H

#include "postproc/postproc_options.h"
#include "analysis/trace_writer.h"
#include "profile/profile.h"
#include "profile/suppressions.h"

struct views {
	const struct postproc_options *options;
	struct profile *profile; /* the processes of all inputs; NULL if no view needs a profile */
	struct suppressions suppressions;
	struct output_sequence *sequence; /* for traces that are shown one by one; NULL: all are shown together */
	bool reads_old;                   /* the records are of the older trace, with which --diff compares */
};

/* Initialises *views. To be called once, if view_options_want(). Returns false, after a message, if a file of
 * suppressions cannot be read. */
bool views_begin(struct views *views, const struct postproc_options *options);
/* Returns the last stage for a process's records. names: those of the process; clock: as in struct account. The
 * caller frees the stage before views_free(). */
struct stage *views_stage(struct views *views, struct names *names, const struct trace_clock *clock,
			  const struct output_target *target);
/* To be called after the last input: writes all wanted views. Returns false after a message. */
bool views_write(struct views *views);
/* Whether blocks are alive that --error-exitcode counts. To be called after views_write(). */
bool views_found_leaks(const struct views *views);
/* Whether --error-exitcode cannot tell if there are leaks, which a message then says: for one kind, no process has a
 * scan, and no allocation was traced. */
bool views_know_nothing(const struct views *views);
void views_free(struct views *views);

#endif
