/* --dump: the messages of a trace, instead of what they mean. */
#ifndef FT_POSTPROC_DUMP_H
#define FT_POSTPROC_DUMP_H

#include "postproc-options.h"
#include "trace/reader.h"

/* Writes each message as text to where the options say. input: the file that is read, which is not to be overwritten.
 * The exit status; what went wrong has been said. */
int postproc_dump(struct reader *reader, const struct postproc_options *options, int input, const char *input_name);

#endif
