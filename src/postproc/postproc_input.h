/* One input of functrace-postproc: a file or standard input, and the reader of its trace. */
#ifndef FT_POSTPROC_POSTPROC_INPUT_H
#define FT_POSTPROC_POSTPROC_INPUT_H

#include "postproc/postproc_options.h"
#include "base/long_work.h"
#include "trace/reader.h"

struct postproc_input {
	const char *path; /* NULL: standard input */
	const char *name; /* for messages; the caller's, as the path */
	int fd;           /* the reader's, once there is one */
	struct reader *reader;
	char *map; /* the text of the file beside it; NULL none */
	unsigned complaints;
	struct long_work work; /* reading it */
	uint64_t size;         /* of a file, in bytes; 0: unknown */
};

/* Reads the description of StackTrack's entries that the options name, if they do. False after a message. */
bool postproc_layout_read(struct postproc_options *options);
/* Opens the file of that name, "-" standard input. False after a message. */
bool postproc_input_open(struct postproc_input *input, const char *path);
/* Whether it is a file that can be read twice, and is no pipe or device. */
bool postproc_input_is_file(const struct postproc_input *input);
/* Recognises the trace; makes input->reader. Ctrl-C is then the end of what is followed or read live. False after a
 * message. */
bool postproc_input_begin(struct postproc_input *input, const struct postproc_options *options);
/* As it does for a trace that is read live. */
void postproc_input_outlive_interrupt(void);
/* The next record of its reader, as reader_next(). Shows on a terminal how much has been read, if that takes long; what
 * is written to the terminal behind the last record finds no line there. */
int postproc_input_next(struct postproc_input *input, struct record *record);
/* After reading: whether the trace was sound as far as it could be read; if not, a message says where it was
 * damaged. */
bool postproc_input_check(const struct postproc_input *input);
void postproc_input_close(struct postproc_input *input);

#endif
