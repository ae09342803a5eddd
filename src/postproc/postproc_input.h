/* One input of functrace-postproc: a file or standard input, and the reader of its trace. */
#ifndef FT_POSTPROC_POSTPROC_INPUT_H
#define FT_POSTPROC_POSTPROC_INPUT_H

#include "postproc/postproc_settings.h"
#include "base/long_work.h"
#include "trace/reader.h"

struct postproc_input {
	const char *path; /* path of the file; NULL for standard input */
	const char *name; /* name for messages; the caller owns it and the path */
	int fd;           /* the descriptor; `reader` closes it, unless `reader` is NULL */
	struct reader *reader;
	char *map; /* the text of the file INPUT.map; NULL if there is no such file */
	unsigned complaints;
	struct long_work work; /* progress of reading, for the terminal */
	uint64_t size;         /* size of the file in bytes; 0 if unknown */
};

/* With --raw-format, reads the description of StackTrack's entries. Returns false after a message. */
bool postproc_layout_read(struct postproc_options *options);
/* Opens a file, or standard input for "-". Returns false after a message. */
bool postproc_input_open(struct postproc_input *input, const char *path);
/* Returns true if the input is a regular file, which can be read twice. */
bool postproc_input_is_file(const struct postproc_input *input);
/* Recognises the format and creates input->reader. From then on, if the input is followed or no regular file, the first
 * Ctrl-C ends the input instead of this program. Returns false after a message. */
bool postproc_input_begin(struct postproc_input *input, const struct postproc_options *options);
/* Makes the first Ctrl-C end the input instead of this program, as postproc_input_begin() does for an input that is
 * followed or no regular file. */
void postproc_input_outlive_interrupt(void);
/* Reads the next record, as reader_next() does. If reading takes long, shows the progress on the terminal, in a line
 * that is removed at the end of the trace. */
int postproc_input_next(struct postproc_input *input, struct record *record);
/* Must be called after reading. Returns true if no damage was found. Otherwise prints a message with the number of
 * damaged places. */
bool postproc_input_check(const struct postproc_input *input);
void postproc_input_close(struct postproc_input *input);

#endif
