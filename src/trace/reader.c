#include "config.h"
#include "trace/reader_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_all_text(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] < ' ' && (!data[i] || !strchr("\t\n\r", data[i])))
			return false;
	return true;
}

static void describe_unknown(const struct reader *reader, char *error, size_t size)
{
	const size_t available = reader_available(reader);

	if (reader->input_status == -EBADMSG)
		snprintf(error, size, "the input cannot be unpacked: %s", input_error(reader->input));
	else if (reader->input_status < 0)
		snprintf(error, size, "the input cannot be read: %s", strerror(-reader->input_status));
	else if (!available)
		snprintf(error, size, "the input is empty: it contains no trace");
	else if (reader->encoding)
		snprintf(error, size,
			 "traces in the format %s can only be written; the formats that can be read are: %s",
			 encoding_name(reader->encoding), encoding_names(ENCODING_READ));
	else
		snprintf(error, size, "the input is no trace of a known format: it begins %s. Formats are: %s",
			 is_all_text(reader->data, available < READER_DETECT ? available : READER_DETECT)
				 ? "with other text than a trace's header"
				 : "with other bytes than a trace",
			 encoding_names(ENCODING_READ));
}

static void reader_free(struct reader *reader)
{
	input_free(reader->input);
	free(reader->data);
	free(reader);
}

struct reader *reader_new(int fd, const struct reader_options *options, char *error, size_t size)
{
	struct reader *reader = xcalloc(1, sizeof(*reader));

	reader->fd = fd;
	reader->input = input_new(fd, options && options->follow, options ? options->stop : NULL);
	if (options) {
		reader->complain = options->complain;
		reader->complain_context = options->complain_context;
		reader->map = options->map;
		reader->layout = options->layout;
	}
	const size_t available = reader_fill(reader, READER_DETECT);

	if (options && options->encoding)
		reader->encoding = options->encoding;
	else
		reader->encoding = encoding_detect(reader->data, available < READER_DETECT ? available : READER_DETECT);
	if (!available || !reader->encoding || !reader->encoding->reader) {
		describe_unknown(reader, error, size);
		reader_free(reader);
		return NULL;
	}
	reader->state = xcalloc(1, reader->encoding->reader->state_size);
	if (reader->encoding->reader->begin)
		reader->encoding->reader->begin(reader);
	return reader;
}

int reader_next(struct reader *reader, struct record *record)
{
	return reader->encoding->reader->next(reader, record);
}

int reader_dump(struct reader *reader, const struct dump_options *options, struct buf *out)
{
	const struct reader_ops *ops = reader->encoding->reader;

	if (ops->dump)
		return ops->dump(reader, options, out);
	snprintf(reader->message, sizeof(reader->message),
		 "--dump shows the messages of the formats %s, and this trace is %s; print it without --dump",
		 encoding_names(ENCODING_READ | ENCODING_DUMP), encoding_name(reader->encoding));
	return -ENOTSUP;
}

const char *reader_error(const struct reader *reader)
{
	return reader->message;
}

bool reader_is_compat(const struct reader *reader)
{
	const struct reader_ops *ops = reader->encoding->reader;

	return ops->is_compat && ops->is_compat(reader);
}

uint64_t reader_skipped(const struct reader *reader)
{
	return reader->skipped;
}

const struct encoding *reader_encoding(const struct reader *reader)
{
	return reader->encoding;
}

uint64_t reader_complaints(const struct reader *reader)
{
	return reader->complaints;
}

void reader_close(struct reader *reader)
{
	if (!reader)
		return;
	close(reader->fd);
	if (reader->encoding->reader->end)
		reader->encoding->reader->end(reader);
	free(reader->state);
	reader_free(reader);
}
