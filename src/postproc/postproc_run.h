/* Passes one trace through the stages that the options ask for, to its output. */
#ifndef FT_POSTPROC_POSTPROC_RUN_H
#define FT_POSTPROC_POSTPROC_RUN_H

#include "postproc/postproc_input.h"
#include "postproc/postproc_views.h"
#include "analysis/trace_writer.h"
#include "base/buf.h"

/* The results of reading one trace. */
struct postproc_outcome {
	bool sound;           /* all was read and written; if not, messages have said why */
	bool found_leaks;     /* -l has shown a block */
	bool is_incomplete;   /* the trace should have an end, and has none */
	struct buf unmatched; /* filters that matched nothing in this trace, one sentence per line */
};

/* Reads the trace to its end, or as far as it is readable; postproc_input_begin() has been called for it.
 * `sequence`: shared by inputs whose outputs follow each other; NULL: this is the only input. `views`: the views to
 * which the trace belongs; NULL: none. The caller frees outcome->unmatched. */
void postproc_run(struct postproc_input *input, const struct postproc_options *options,
		  struct output_sequence *sequence, struct views *views, struct postproc_outcome *outcome);

#endif
