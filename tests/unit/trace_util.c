#include "config.h"
#include "unit_test.h"

#include "trace_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int memory_file(const void *data, size_t size)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, data, size, NULL), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

void read_all(int fd, struct buf *out)
{
	ssize_t got;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	while ((got = read(fd, buf_room(out, 65536), 65536)) > 0)
		out->size += (size_t)got;
	assert_int_equal(got, 0);
}

uint64_t write_trace(const char *encoding, const struct writer_options *options, const struct record *records,
		     size_t count, struct buf *out)
{
	const int fd = memory_file("", 0);
	struct writer *writer = writer_new(encoding_find(encoding), fd, options);

	for (size_t i = 0; i < count; i++)
		assert_int_equal(writer_put(writer, &records[i]), 0);
	const uint64_t cut = writer_cut_count(writer);

	assert_int_equal(writer_close(writer), 0);
	read_all(fd, out);
	close(fd);
	return cut;
}

static const char *text_or_dash(const char *text)
{
	return text ? text : "-";
}

static void dump_process(struct buf *out, const struct record_process *p)
{
	buf_printf(out, "process v%u.%u arch=%s p%u %s", p->version_major, p->version_minor, text_or_dash(p->arch),
		   p->pointer_size, p->big_endian ? "big" : "little");
	if (p->has_pid)
		buf_printf(out, " pid=%" PRIu32, p->pid);
	buf_printf(out, " start=%" PRId64 ".%06" PRIu32 "/%s", p->start_sec, p->start_usec,
		   text_or_dash(p->start_text));
	if (p->has_depth)
		buf_printf(out, " depth=%" PRIu32, p->depth);
	buf_printf(out, " name=%s origin=%s filters=%u%s%s\n", text_or_dash(p->name), text_or_dash(p->origin),
		   p->filters, p->no_timestamps ? " notimes" : "", p->is_attached ? " attached" : "");
}

static void dump_call(struct buf *out, const struct record_call *c)
{
	static const char *const ends[] = {"", " cut", " lost"};

	buf_printf(out, "call %" PRIu64, c->index);
	if (c->time_ns != TIME_NONE)
		buf_printf(out, " t=%" PRIu64, c->time_ns);
	buf_printf(out, " r=%" PRIu32 " c=%" PRIx32 " k=%d %s id=%" PRIx64 " size=%" PRIu64, c->resource, c->context,
		   (int)c->kind, c->function, c->id, c->size);
	for (uint32_t i = 0; i < c->arg_count; i++)
		buf_printf(out, " [%s=%s]", c->args[i].name, c->args[i].value);
	if (c->has_frames)
		buf_printf(out, " frames");
	for (uint32_t i = 0; i < c->frame_count; i++) {
		buf_printf(out, " %" PRIx64, c->frames[i]);
		if (c->frame_texts && c->frame_texts[i])
			buf_printf(out, "{%s}", c->frame_texts[i]);
	}
	buf_printf(out, "%s\n", ends[c->end]);
}

static void dump_heap(struct buf *out, const struct record_heap *h)
{
	buf_printf(out, "heap %" PRIx64 "-%" PRIx64 " %" PRIx64 "-%" PRIx64, h->bottom, h->top, h->lowest, h->highest);
	for (size_t i = 0; i < ARRAY_SIZE(h->info); i++)
		buf_printf(out, " %" PRIu64, h->info[i]);
	buf_printf(out, "\n");
}

void dump_record(struct buf *out, const struct record *r)
{
	switch (r->type) {
	case RECORD_PROCESS:
		dump_process(out, &r->process);
		return;
	case RECORD_MODULE:
		buf_printf(out, "module %" PRIx32 " %s %u.%u\n", r->module.id, r->module.name, r->module.version_major,
			   r->module.version_minor);
		return;
	case RECORD_RESOURCE:
		buf_printf(out, "resource %" PRIu32 " %" PRIx32 " %s (%s)\n", r->resource.id, r->resource.flags,
			   r->resource.type, r->resource.desc);
		return;
	case RECORD_CONTEXT:
		buf_printf(out, "context %" PRIx32 " %s\n", r->context.id, r->context.name);
		return;
	case RECORD_OBJECT:
		buf_printf(out, "object %" PRIx64 "-%" PRIx64 " %s\n", r->object.from, r->object.to, r->object.path);
		return;
	case RECORD_BUILD_ID:
		buf_printf(out, "build-id %" PRIx64 " %s\n", r->build_id.from, r->build_id.hex);
		return;
	case RECORD_THREAD:
		buf_printf(out, "thread %" PRIu32 " %s\n", r->thread.tid, r->thread.name);
		return;
	case RECORD_CALL:
		dump_call(out, &r->call);
		return;
	case RECORD_NOTE:
		buf_printf(out, "note %s\n", r->note.text);
		return;
	case RECORD_HEAP:
		dump_heap(out, &r->heap);
		return;
	case RECORD_ATTACHMENT:
		buf_printf(out, "attachment %s %s\n", r->attachment.name, r->attachment.path);
		return;
	case RECORD_COMMENT:
		buf_printf(out, "comment %s\n", r->comment.text);
		return;
	case RECORD_ESTIMATE:
		buf_printf(out, "estimate %.6g %.6g %.6g %d", r->estimate.live_bytes, r->estimate.live_blocks,
			   r->estimate.lost_bytes, r->estimate.verdict);
		dump_call(out, &r->estimate.call);
		return;
	case RECORD_INTERVAL:
		buf_printf(out, "interval %" PRIu64 " %.6g %.6g %.6g\n", r->interval.time_ns, r->interval.windows,
			   r->interval.unattributed, r->interval.lost_bytes);
		return;
	case RECORD_SCAN:
		buf_printf(out, "scan %" PRIu32 " %s\n", r->scan.resource, r->scan.reason);
		return;
	case RECORD_LOST:
		buf_printf(out, "lost %" PRIu32 " %" PRIx64 " %d\n", r->lost.resource, r->lost.id, (int)r->lost.kind);
		return;
	case RECORD_RESIDENT:
		buf_printf(out, "resident %" PRIu64 " %" PRIu64 "\n", r->resident.now, r->resident.peak);
		return;
	case RECORD_BASELINE: /* the format chooses how many are in one record */
		for (uint32_t i = 0; i < r->baseline.count; i++)
			buf_printf(out, "before %" PRIu32 " %" PRIx64 " %" PRIu64 "\n", r->baseline.resource,
				   r->baseline.blocks[i].id, r->baseline.blocks[i].size);
		return;
	case RECORD_AREA:
		buf_printf(out, "area %" PRIx64 "+%" PRIu64 "%s\n", r->area.from, r->area.size,
			   r->area.is_internal ? " internal" : "");
		return;
	}
	fail_msg("a record of type %d", (int)r->type);
}

void dump_trace(const void *data, size_t size, struct buf *out)
{
	char error[256];
	struct record record;
	struct reader *reader = reader_new(memory_file(data, size), NULL, error, sizeof(error));
	int status;

	if (!reader) {
		buf_printf(out, "none: %s\n", error);
		return;
	}
	while ((status = reader_next(reader, &record)) == 1)
		dump_record(out, &record);
	/* The reader returns the last status again. */
	assert_int_equal(reader_next(reader, &record), status);
	buf_printf(out, "%d skipped=%" PRIu64 "%s%s\n", status, reader_skipped(reader), status ? " " : "",
		   status ? reader_error(reader) : "");
	reader_close(reader);
}

int convert_trace(const void *data, size_t size, const char *encoding, bool compat, struct buf *out)
{
	const struct writer_options options = {.compat = compat};
	const int fd = memory_file("", 0);
	char error[256];
	struct record record;
	int status;
	struct reader *reader = reader_new(memory_file(data, size), NULL, error, sizeof(error));

	assert_non_null(reader);
	struct writer *writer = writer_new(encoding_find(encoding), fd, &options);

	while ((status = reader_next(reader, &record)) == 1)
		assert_int_equal(writer_put(writer, &record), 0);
	reader_close(reader);
	assert_int_equal(writer_close(writer), 0);
	read_all(fd, out);
	close(fd);
	return status;
}

void unhex(const char *hex, struct buf *out)
{
	for (; *hex; hex++) {
		unsigned byte;

		if (*hex == ' ' || *hex == '\n')
			continue;
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		buf_add_char(out, (char)byte);
		hex++;
	}
}

static void print_hex(const char *title, const struct buf *bytes)
{
	fprintf(stderr, "%s", title);
	for (size_t i = 0; i < bytes->size; i++)
		fprintf(stderr, "%s%02x", i % 4 ? "" : " ", bytes->data[i]);
	fprintf(stderr, "\n");
}

void assert_bytes(const char *what, const struct buf *got, const struct buf *expected)
{
	if (got->size == expected->size && (!got->size || !memcmp(got->data, expected->data, got->size)))
		return;
	print_hex("got     ", got);
	print_hex("expected", expected);
	fail_msg("%s: the bytes differ", what);
}

void assert_text(struct buf *got, const char *expected)
{
	if (!strcmp(buf_str(got), expected))
		return;
	fprintf(stderr, "--- got\n%s--- expected\n%s---\n", buf_str(got), expected);
	fail_msg("the text differs");
}

static void assert_dump_has(struct buf *trace, const char *what, const char *text)
{
	struct buf dump = {0};

	dump_trace(trace->data, trace->size, &dump);
	if (!strstr(buf_str(&dump), text))
		fail_msg("%s: %s", what, buf_str(&dump));
	buf_free(trace);
	buf_free(&dump);
}

void assert_packet_is_read(const struct record *records, size_t count, const char *packet, const char *text)
{
	struct buf trace = {0};

	write_trace("rtrace", NULL, records, count, &trace);
	unhex(packet, &trace);
	assert_dump_has(&trace, packet, text);
}

void assert_line_is_read(const char *line, const char *text)
{
	struct buf trace = {0};

	buf_printf(&trace, "version=1.4\n<1> : memory (in bytes)\n%s\n", line);
	assert_dump_has(&trace, line, text);
}
