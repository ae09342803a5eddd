/* --dump: the messages of a trace, instead of what they mean. */
#ifndef FT_POSTPROC_DUMP_H
#define FT_POSTPROC_DUMP_H

#include "analysis/output.h"
#include "trace/reader.h"

/* Writes each message as text. is_live: as soon as it comes. 0; else a negative errno, which has been reported. */
int postproc_dump(struct reader *reader, const struct dump_options *options, const struct output_target *target,
		  bool is_live);

#endif
