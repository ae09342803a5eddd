/* One input of functrace-postproc: a file or standard input, and the reader of its trace. */
#ifndef FT_POSTPROC_POSTPROC_INPUT_H
#define FT_POSTPROC_POSTPROC_INPUT_H

#include "postproc/postproc_options.h"
#include "base/long_work.h"
#include "trace/reader.h"

struct postproc_input {
	const char *path; /* NULL for standard input */
	const char *name; /* name for messages; belongs to the caller, like the path */
	int fd;           /* belongs to the reader once there is one */
	struct reader *reader;
	char *map; /* the text of INPUT.map; NULL if there is none */
	unsigned complaints;
	struct long_work work; /* progress of the reading */
	uint64_t size;         /* size of the file in bytes; 0 if unknown */
};

/* Reads the description of StackTrack's entries if the options name one (--raw-format). Returns false after a
 * message. */
bool postproc_layout_read(struct postproc_options *options);
/* Opens a file; "-" is standard input. Returns false after a message. */
bool postproc_input_open(struct postproc_input *input, const char *path);
/* Whether the input is a regular file, which can be read twice, and no pipe or device. */
bool postproc_input_is_file(const struct postproc_input *input);
/* Recognises the format and makes input->reader. From then on, Ctrl-C ends an input that is followed or live, and
 * not this program. Returns false after a message. */
bool postproc_input_begin(struct postproc_input *input, const struct postproc_options *options);
/* Makes Ctrl-C end the input and not this program, as postproc_input_begin() does for live input. */
void postproc_input_outlive_interrupt(void);
/* Reads the next record, as reader_next() does. If reading takes long, it shows the progress on the terminal; that
 * line is removed before the last record is returned. */
int postproc_input_next(struct postproc_input *input, struct record *record);
/* To be called after reading: returns whether the trace was sound as far as it could be read. If not, a message says
 * in how many places it is damaged. */
bool postproc_input_check(const struct postproc_input *input);
void postproc_input_close(struct postproc_input *input);

#endif
