/* --dump, --expand-events, --show-format: print the parts of a trace as they are, without their meaning. */
#ifndef FT_POSTPROC_POSTPROC_DUMP_H
#define FT_POSTPROC_POSTPROC_DUMP_H

#include "postproc/postproc_input.h"
#include "analysis/trace_writer.h"

/* Writes each message of a trace as text to where the options say; postproc_input_begin() has been called for it.
 * `sequence` as for postproc_run(). Returns the exit status; errors have been reported. */
int postproc_dump(const struct postproc_input *input, const struct postproc_options *options,
		  struct output_sequence *sequence);

/* Writes the entries of a StackTrack trace as XML. postproc_input_begin() has not been called for it. Closes the
 * input. Returns the exit status; errors have been reported. */
int postproc_expand(struct postproc_input *input, const struct postproc_options *options);

/* Prints to stdout how StackTrack's entries are laid out. Returns the exit status; errors have been reported. */
int postproc_show_format(void);

#endif
