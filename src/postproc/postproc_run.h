/* Passes the records of one trace through the stages that the options need, to the output. */
#ifndef FT_POSTPROC_POSTPROC_RUN_H
#define FT_POSTPROC_POSTPROC_RUN_H

#include "postproc/postproc_input.h"
#include "postproc/postproc_views.h"
#include "analysis/trace_writer.h"
#include "base/buf.h"

/* The results of reading one trace. */
struct postproc_outcome {
	bool sound;         /* the whole trace was read and written; if not, the reason was reported */
	bool found_leaks;   /* -l has found a lost block */
	bool is_incomplete; /* the end note of the trace is missing */
	/* sentences about filters that matched nothing in this trace, one per line */
	struct buf unmatched;
};

/* Reads the trace to its end, or as far as it can be read. postproc_input_begin() must have been called. sequence:
 * shared by all inputs whose outputs are written to one file; NULL: this is the only input. views: the views to which
 * the trace is added; NULL: no views. The caller frees outcome->unmatched. */
void postproc_run(struct postproc_input *input, const struct postproc_options *options,
		  struct output_sequence *sequence, struct views *views, struct postproc_outcome *outcome);

#endif
