/* Writes the views of functrace-postproc: the report, the page, and exports. Most of them are made from a complete
 * profile. */
#ifndef FT_POSTPROC_POSTPROC_VIEWS_H
#define FT_POSTPROC_POSTPROC_VIEWS_H

#include "postproc/postproc_settings.h"
#include "analysis/trace_writer.h"
#include "profile/profile.h"
#include "profile/suppressions.h"

struct views {
	const struct postproc_options *options;
	struct profile *profile; /* profile of the processes of all inputs; NULL if no view needs one */
	struct suppressions suppressions;
	/* for traces that are shown one by one; NULL if all are shown together */
	struct output_sequence *sequence;
	bool reads_old; /* the current records belong to the older trace with which --diff compares */
};

/* Initialises *views. Must be called if view_options_want() returns true. Returns false after a message if a file of
 * suppressions cannot be read. views_free() must be called in either case. */
bool views_begin(struct views *views, const struct postproc_options *options);
/* Returns the last stage for the records of a process. names: finds the names of the process. clock: as in struct
 * account. target: where an export is written that needs no complete profile. The caller has to free the stage before
 * views_free(). */
struct stage *views_stage(struct views *views, struct names *names, const struct trace_clock *clock,
			  const struct output_target *target);
/* Must be called after the last input. Writes all wanted views. Returns false after a message. */
bool views_write(struct views *views);
/* Returns true if there are leaks, for --error-exitcode. Must be called after views_write(). */
bool views_found_leaks(const struct views *views);
/* Returns true after a message if --error-exitcode cannot be applied: for one kind of resource no scan has a result,
 * and no allocation was traced. */
bool views_know_nothing(const struct views *views);
void views_free(struct views *views);

#endif
