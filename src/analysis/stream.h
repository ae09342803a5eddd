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
/* Closes the stream, also after an error of stream_open(), and zeroes it; it may be zero. error: an earlier error of
 * writing, which was reported, or 0. Returns that error; if it is 0 and not all could be written, a negative errno
 * after a message. */
int stream_close(struct stream *stream, int error);

/* Opens the target, calls write(), and closes the target. write() need not check the stream for errors. Returns 0, or a
 * negative errno after a message. */
int stream_to_target(const struct output_target *target, uint32_t pid, const char *suffix,
		     int (*write)(void *context, FILE *out), void *context);

#endif
