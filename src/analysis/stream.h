/* Writes to an output target through a stdio stream. */
#ifndef FT_ANALYSIS_STREAM_H
#define FT_ANALYSIS_STREAM_H

#include "analysis/trace_writer.h"

#include <stdio.h>

struct stream {
	FILE *out;
	char *name; /* for messages */
};

/* Opens the target; pid names the file in a folder. Returns 0, or a negative errno after a message. */
int stream_open(struct stream *stream, const struct output_target *target, uint32_t pid, const char *suffix);
/* Closes what is open. error: an error of the writing that was reported, or 0. Returns that error, or a negative errno
 * after a message if something could not be written. */
int stream_close(struct stream *stream, int error);

/* Opens the target, calls `write` and closes it. `write` need not check the stream for errors. Returns 0, or a negative
 * errno after a message. */
int stream_to_target(const struct output_target *target, uint32_t pid, const char *suffix,
		     int (*write)(void *context, FILE *out), void *context);

#endif
