/* Writes to an output target through a stdio stream. */
#ifndef FT_ANALYSIS_STREAM_H
#define FT_ANALYSIS_STREAM_H

#include "analysis/trace_writer.h"

#include <stdio.h>

struct stream {
	FILE *out;
	char *name; /* name of the output, for messages */
};

/* Opens the target. pid and suffix: for the name of the file, if the target is a folder. Returns 0, or a negative errno
 * after a message. */
int stream_open(struct stream *stream, const struct output_target *target, uint32_t pid, const char *suffix);
/* Closes and zeroes the stream, which may be zeroed already, or be the result of a failed stream_open(). error: 0, or
 * the error of an earlier write, which the caller has reported. Returns `error` if it is not 0. Otherwise returns 0, or
 * a negative errno after a message if not all could be written. */
int stream_close(struct stream *stream, int error);

/* Opens the target, calls write(), and closes the target. write() need not check the stream for errors. Returns 0, or a
 * negative errno after a message. */
int stream_to_target(const struct output_target *target, uint32_t pid, const char *suffix,
		     int (*write)(void *context, FILE *out), void *context);

#endif
