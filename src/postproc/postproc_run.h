/* One trace of functrace-postproc: through the stages that the options ask for, to its output. */
#ifndef FT_POSTPROC_POSTPROC_RUN_H
#define FT_POSTPROC_POSTPROC_RUN_H

#include "postproc/postproc_input.h"
#include "postproc/postproc_views.h"
#include "analysis/trace_writer.h"
#include "base/buf.h"

/* What came of it. */
struct postproc_outcome {
	bool sound;           /* all was read and written; if not, messages said what was wrong */
	bool found_leaks;     /* -l has shown a block */
	bool is_incomplete;   /* the trace has no end, as far as that is known */
	struct buf unmatched; /* choices of the command line that match nothing in this trace: a sentence a line */
};

/* Reads the trace of `input`, which has begun, to its end, or as far as it goes. `sequence`: of the inputs whose
 * outputs stand one behind the other; NULL: this is the only one. `views`: what the trace becomes a part of; NULL none.
 * The caller frees outcome->unmatched. */
void postproc_run(struct postproc_input *input, const struct postproc_options *options,
		  struct output_sequence *sequence, struct views *views, struct postproc_outcome *outcome);

#endif
