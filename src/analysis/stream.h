/* An output target as a stream of stdio's. */
#ifndef FT_ANALYSIS_STREAM_H
#define FT_ANALYSIS_STREAM_H

#include "analysis/trace_writer.h"

#include <stdio.h>

struct stream {
	FILE *out;
	char *name; /* for messages */
};

/* Opens the target; pid names the file in a folder. 0 or a negative errno after a message. */
int stream_open(struct stream *stream, const struct output_target *target, uint32_t pid, const char *suffix);
/* Closes what is open. `error`: that what was written had, which has been said, or 0. Returns that, or a negative errno
 * after a message: something could not be written. */
int stream_close(struct stream *stream, int error);

/* Opens the target, calls `write` and closes it. 0 or a negative errno after a message; errors of the stream need
 * not be looked for by `write`. */
int stream_to_target(const struct output_target *target, uint32_t pid, const char *suffix,
		     int (*write)(void *context, FILE *out), void *context);

#endif
