#include "config.h"
#include "trace/fd_write.h"
#include "trace/compressor_thread.h"
#include "trace/writer_state.h"
#include "base/time_units.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

/* Size at which the buffer is written, in bytes. The buffer's capacity is twice this size, so that one more record does
 * not require a reallocation. */
#ifndef WRITER_FLUSH_SIZE
#define WRITER_FLUSH_SIZE (64u << 10)
#endif

/* Interval at which a compressed trace with line_buffered is written. */
#define PACKED_WAIT NS_PER_SECOND

struct writer *writer_new(const struct encoding *encoding, int fd, const struct writer_options *options)
{
	if (!encoding->writer)
		return NULL;
	struct writer *writer = xmalloc(sizeof(*writer));

	*writer = (struct writer){.encoding = encoding, .fd = fd};
	if (options)
		writer->options = *options;
	writer->options.compat |= encoding->is_compat;
	if (writer->options.packer)
		writer->packed = packed_new(writer->options.packer, fd, writer->options.let_go);
	else
		buf_room(&writer->out, 2 * WRITER_FLUSH_SIZE);
	writer->state = xcalloc(1, encoding->writer->state_size);
	if (encoding->writer->begin)
		encoding->writer->begin(writer);
	return writer;
}

/* Adds the number of calls that are completely in the first `done` bytes of the buffer to writer->calls. Returns the
 * end of the last whole record in these bytes. */
static size_t count_written(struct writer *writer, size_t done)
{
	size_t whole = 0;

	for (size_t i = 0; i < writer->end_count && writer->ends[i].at <= done; i++) {
		whole = writer->ends[i].at;
		writer->calls += writer->ends[i].calls;
	}
	return whole;
}

/* Passes the buffer as one frame to the packer; the packer's thread compresses and writes it. */
static int hand_over(struct writer *writer)
{
	const uint64_t before = writer->calls;

	count_written(writer, writer->out.size);
	const uint64_t calls = writer->calls - before;

	writer->calls = before;
	writer->flushed_at = clock_ns(CLOCK_MONOTONIC);
	return packed_put(writer->packed, &writer->out, calls);
}

/* Returns the number of bytes to write next, from offset `done` on: as many whole records as fit in PIPE_BUF, but at
 * least one record. */
static size_t next_part(const struct writer *writer, size_t done)
{
	size_t end = done;

	for (size_t i = 0; i < writer->end_count && (end == done || writer->ends[i].at <= done + PIPE_BUF); i++)
		if (writer->ends[i].at > done)
			end = writer->ends[i].at;
	return (end > done ? end : writer->out.size) - done;
}

static int write_plain(struct writer *writer)
{
	const int *const let_go = writer->options.let_go;
	size_t done = 0, more;
	int error = 0;

	while (!error && done < writer->out.size) {
		const size_t part = let_go ? next_part(writer, done) : writer->out.size - done;

		error = fd_write(writer->fd, writer->out.data + done, part, &more, let_go);
		done += more;
	}
	const size_t whole = count_written(writer, done);

	if (error)
		fd_take_back(writer->fd, done - whole);
	return error;
}

/* Removes the first `done` bytes, which were written, from the buffer. */
static void drop_written(struct writer *writer, size_t done)
{
	size_t left = 0;

	for (size_t i = 0; i < writer->end_count; i++)
		if (writer->ends[i].at > done)
			writer->ends[left++] =
				(struct record_end){writer->ends[i].at - (uint32_t)done, writer->ends[i].calls};
	writer->end_count = left;
	if (done)
		memmove(writer->out.data, writer->out.data + done, writer->out.size - done);
	writer->out.size -= done;
}

static int write_what_fits(struct writer *writer)
{
	size_t done;
	const int error = write_all(writer->fd, writer->out.data, writer->out.size, &done);

	count_written(writer, done);
	drop_written(writer, done);
	writer->waiting = writer->out.size;
	return error == -EAGAIN ? 0 : error;
}

static int write_buffer(struct writer *writer)
{
	if (writer->options.never_waits && !writer->is_last) {
		if (writer->out.size && !writer->error)
			writer->error = write_what_fits(writer);
		return writer->error;
	}
	if (writer->out.size && !writer->error)
		writer->error = writer->packed ? hand_over(writer) : write_plain(writer);
	writer->out.size = 0;
	writer->end_count = 0;
	return writer->error;
}

static void writer_note_end(struct writer *writer)
{
	const size_t last = writer->end_count ? writer->ends[writer->end_count - 1].at : 0;

	if (writer->out.size == last)
		return;
	ARRAY_GROW(writer->ends, writer->end_capacity, writer->end_count);
	writer->ends[writer->end_count++] = (struct record_end){(uint32_t)writer->out.size, writer->calls_put};
}

/* Returns true if the buffer should be written after this record because a reader follows the trace. */
static bool is_awaited(const struct writer *writer, const struct record *record)
{
	/* A thread record need not be written alone, because its call follows at once. */
	if (!writer->options.line_buffered || record->type == RECORD_THREAD)
		return false;
	/* A compressed frame for a single call would be larger than the call, so write one frame per interval. */
	return !writer->packed || clock_ns(CLOCK_MONOTONIC) - writer->flushed_at >= PACKED_WAIT;
}

#define BASELINE_PART 32 /* blocks in a part; they take at most PIPE_BUF bytes in each format (StackTrack: 120 each) */

/* Puts a long baseline as several records, because a trace that breaks off in a pipe must end with a whole record, and
 * a pipe takes at most PIPE_BUF bytes as a whole. Only baselines have unlimited length. */
static int put_in_parts(struct writer *writer, const struct record *record)
{
	struct record part = *record;
	uint32_t left = record->baseline.count;
	int error = 0;

	for (; left && !error; left -= part.baseline.count, part.baseline.blocks += part.baseline.count) {
		part.baseline.count = left < BASELINE_PART ? left : BASELINE_PART;
		error = writer_put(writer, &part);
	}
	return error;
}

void writer_put_record(struct writer *writer, const struct record *record)
{
	const struct writer_ops *const ops = writer->encoding->writer;

	if (!writer->options.compat || !(ops->not_in_compat >> record->type & 1))
		switch (record->type) {
#define PUT(type, member)                                                                                              \
	case RECORD_##type:                                                                                            \
		if (!ops->put.member)                                                                                  \
			break;                                                                                         \
		ops->put.member(writer, &record->member);                                                              \
		return;
			RECORD_TYPES(PUT)
#undef PUT
		}
	omissions_add(&writer->omissions, record);
}

int writer_put(struct writer *writer, const struct record *record)
{
	const struct writer_ops *const ops = writer->encoding->writer;

	if (writer->error)
		return writer->error;
	if (record->type == RECORD_BASELINE && writer->options.let_go && record->baseline.count > BASELINE_PART)
		return put_in_parts(writer, record);
	if (ops->needs_process && !writer->has_process && record->type != RECORD_PROCESS)
		return 0;
	writer->calls_put = record->type == RECORD_CALL;
	(ops->around ? ops->around : writer_put_record)(writer, record);
	writer->has_process |= record->type == RECORD_PROCESS;
	writer_note_end(writer);
	/* While bytes wait for the reader, do not try to write before WRITER_FLUSH_SIZE more bytes have come or
	 * writer_flush() is called, to save system calls. */
	if (writer->waiting && writer->out.size - writer->waiting < WRITER_FLUSH_SIZE)
		return 0;
	if (writer->out.size >= (writer->packed ? PACKER_FRAME : WRITER_FLUSH_SIZE) || is_awaited(writer, record))
		return write_buffer(writer);
	return 0;
}

int writer_flush(struct writer *writer)
{
	const struct writer_ops *ops = writer->encoding->writer;

	if (ops->settle && !writer->error) {
		writer->calls_put = 0;
		ops->settle(writer);
		writer_note_end(writer);
	}
	return write_buffer(writer);
}

size_t writer_waiting(const struct writer *writer)
{
	return writer->waiting;
}

void writer_drop_rest(struct writer *writer)
{
	writer->drops_rest = true;
}

int writer_sync(struct writer *writer)
{
	writer->is_last = !writer->drops_rest;
	const int error = writer_flush(writer);

	if (error || !writer->packed)
		return error;
	writer->error = packed_wait(writer->packed);
	return writer->error;
}

uint64_t writer_calls(const struct writer *writer)
{
	return writer->packed ? packed_calls(writer->packed) : writer->calls;
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
	writer_note_end(writer);
}

int writer_close(struct writer *writer)
{
	writer_finish(writer);
	const int error = writer_sync(writer);

	if (writer->packed)
		packed_free(writer->packed);
	if (writer->encoding->writer->end)
		writer->encoding->writer->end(writer);
	free(writer->state);
	buf_free(&writer->out);
	free(writer->ends);
	free(writer);
	return error;
}
