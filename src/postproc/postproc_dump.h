/* --dump, --expand-events, --show-format: what a trace is made of, instead of what it means. */
#ifndef FT_POSTPROC_POSTPROC_DUMP_H
#define FT_POSTPROC_POSTPROC_DUMP_H

#include "postproc/postproc_input.h"
#include "analysis/trace_writer.h"

/* Writes each message of a trace, which has begun, as text to where the options say. `sequence` as for postproc_run().
 * The exit status; what went wrong has been said. */
int postproc_dump(const struct postproc_input *input, const struct postproc_options *options,
		  struct output_sequence *sequence);

/* The entries of a StackTrack trace, of which no reader was made, as XML; the status as above. Closes the input. */
int postproc_expand(struct postproc_input *input, const struct postproc_options *options);

/* What these entries are made of, to stdout. The exit status. */
int postproc_show_format(void);

#endif
