/* --dump, --expand-events, --show-format: what a trace is made of, instead of what it means. */
#ifndef FT_POSTPROC_DUMP_H
#define FT_POSTPROC_DUMP_H

#include "postproc-options.h"
#include "trace/reader.h"

/* Writes each message as text to where the options say. input: the file that is read, which is not to be overwritten.
 * The exit status; what went wrong has been said. */
int postproc_dump(struct reader *reader, const struct postproc_options *options, int input, const char *input_name);

/* The entries of a StackTrack trace as XML; the arguments and the status as above. `input` is closed. */
int postproc_expand(const struct postproc_options *options, int input, const char *input_name);

/* What these entries are made of, to stdout. The exit status. */
int postproc_show_format(void);

#endif
