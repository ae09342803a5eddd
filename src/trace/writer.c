#include "config.h"
#include "trace/writer_state.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The buffer goes out when it holds this much. One record more fits behind without moving it. */
#ifndef WRITER_FLUSH_SIZE
#define WRITER_FLUSH_SIZE (64u << 10)
#endif

struct writer *writer_new(const struct encoding *encoding, int fd, const struct writer_options *options)
{
	if (!encoding->writer)
		return NULL;
	struct writer *writer = xmalloc(sizeof(*writer));

	*writer = (struct writer){.encoding = encoding, .fd = fd};
	if (options)
		writer->options = *options;
	writer->options.compat |= encoding->is_compat;
	buf_room(&writer->out, 2 * WRITER_FLUSH_SIZE);
	writer->state = encoding->writer->begin(writer);
	return writer;
}

/* As write_all, but waits where a descriptor does not block: the file description of a terminal
 * or a pipe is shared, and anyone may have set O_NONBLOCK on it. */
static int write_out(int fd, const unsigned char *data, size_t size, size_t *done)
{
	int error;

	*done = 0;
	for (;;) {
		size_t more;

		error = write_all(fd, data + *done, size - *done, &more);
		*done += more;
		if (error != -EAGAIN)
			return error;
		struct pollfd ready = {.fd = fd, .events = POLLOUT};

		if (poll(&ready, 1, -1) < 0 && errno != EINTR)
			return -errno;
	}
}

/* `done` bytes of the buffer are in the file: counts the whole calls among them, and returns where the last whole
 * record ends. */
static size_t count_written(struct writer *writer, size_t done)
{
	size_t whole = 0;

	for (size_t i = 0; i < writer->end_count && writer->ends[i].at <= done; i++) {
		whole = writer->ends[i].at;
		writer->calls += writer->ends[i].calls;
	}
	return whole;
}

/* `done` bytes of the buffer are in the file, `whole` of them are whole records. Only a
 * regular file that ends where we wrote can be cut: others may append to it too. */
static void cut_back(struct writer *writer, size_t done, size_t whole)
{
	struct stat st;

	if (whole == done || fstat(writer->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	const off_t position = lseek(writer->fd, 0, SEEK_CUR);

	if (position != st.st_size || position < (off_t)(done - whole))
		return;
	const off_t end = position - (off_t)(done - whole);

	if (ftruncate(writer->fd, end) == 0)
		lseek(writer->fd, end, SEEK_SET);
}

static int write_buffer(struct writer *writer)
{
	if (writer->out.size && !writer->error) {
		size_t done;

		writer->error = write_out(writer->fd, writer->out.data, writer->out.size, &done);
		const size_t whole = count_written(writer, done);

		if (writer->error)
			cut_back(writer, done, whole);
	}
	writer->out.size = 0;
	writer->end_count = 0;
	return writer->error;
}

static void note_end(struct writer *writer)
{
	const size_t last = writer->end_count ? writer->ends[writer->end_count - 1].at : 0;

	if (writer->out.size == last)
		return;
	ARRAY_GROW(writer->ends, writer->end_capacity, writer->end_count);
	writer->ends[writer->end_count++] = (struct record_end){(uint32_t)writer->out.size, writer->calls_put};
}

int writer_put(struct writer *writer, const struct record *record)
{
	if (writer->error)
		return writer->error;
	writer->calls_put = record->type == RECORD_CALL;
	writer->encoding->writer->put(writer, record);
	note_end(writer);
	if (writer->out.size >= WRITER_FLUSH_SIZE)
		return write_buffer(writer);
	/* A thread record only introduces the call that follows at once. */
	if (writer->options.line_buffered && record->type != RECORD_THREAD)
		return write_buffer(writer);
	return 0;
}

int writer_flush(struct writer *writer)
{
	const struct writer_ops *ops = writer->encoding->writer;

	if (ops->settle && !writer->error) {
		writer->calls_put = 0;
		ops->settle(writer);
		note_end(writer);
	}
	return write_buffer(writer);
}

uint64_t writer_calls(const struct writer *writer)
{
	return writer->calls;
}

uint64_t writer_cut_count(const struct writer *writer)
{
	return writer->cut_count;
}

uint64_t writer_lost_count(const struct writer *writer)
{
	return writer->lost_count;
}

const struct omissions *writer_omissions(const struct writer *writer)
{
	return &writer->omissions;
}

void writer_finish(struct writer *writer)
{
	const struct writer_ops *ops = writer->encoding->writer;

	if (!ops->finish || writer->finished || writer->error)
		return;
	writer->finished = true;
	writer->calls_put = 0;
	ops->finish(writer);
	note_end(writer);
}

int writer_close(struct writer *writer)
{
	writer_finish(writer);
	const int error = writer_flush(writer);

	writer->encoding->writer->end(writer);
	buf_free(&writer->out);
	free(writer->ends);
	free(writer);
	return error;
}
