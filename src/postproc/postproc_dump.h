/* --dump, --expand-events, --show-format: print the raw messages or entries of a trace, without converting them to
 * records. */
#ifndef FT_POSTPROC_POSTPROC_DUMP_H
#define FT_POSTPROC_POSTPROC_DUMP_H

#include "postproc/postproc_input.h"
#include "analysis/trace_writer.h"

/* Writes each message of a trace as text to the output. postproc_input_begin() must have been called. sequence: as for
 * postproc_run(). Returns the exit status. Reports errors. */
int postproc_dump(const struct postproc_input *input, const struct postproc_options *options,
		  struct output_sequence *sequence);

/* Writes the entries of a StackTrack trace as XML, and closes the input. postproc_input_begin() must not have been
 * called. Returns the exit status. Reports errors. */
int postproc_expand(struct postproc_input *input, const struct postproc_options *options);

/* Prints the layout of StackTrack's entries to stdout. Returns the exit status. Reports errors. */
int postproc_show_format(void);

#endif
