/* The readers of traces must reach an end or an error on any bytes, in bounded memory; and the records that they return
 * are written, read and written again without a difference. FUZZ_ENCODING in the environment is the encoding that is
 * read; without it the encoding is recognised, and .gz and .zst are unpacked. */
#include "config.h"
#include "base/buf.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "fuzz.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Limits the records of one trace, because a few bytes of input may become far too many records. */
#define RECORDS_MAX 100000

static int memory_file(const void *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write_all(fd, data, size, NULL) || lseek(fd, 0, SEEK_SET) < 0)
		abort();
	return fd;
}

/* Reads a trace and writes it to `out` in the encoding `to`. Returns 0 at the end of the trace, the reader's error if
 * the bytes are damaged, or 1 if the bytes are no trace, or only a part of them was read. */
static int convert(const void *data, size_t size, const struct encoding *from, const char *to, int *compat,
		   struct buf *out)
{
	const struct reader_options reader_options = {.encoding = from};
	struct writer_options options = {0};
	struct writer *writer = NULL;
	struct record record;
	char error[256];
	size_t records = 0, processes = 0;
	int status;
	const int in = memory_file(data, size), fd = memory_file("", 0);
	struct reader *reader = reader_new(in, &reader_options, error, sizeof(error));

	out->size = 0;
	if (!reader) {
		close(in);
		close(fd);
		return 1;
	}
	while ((status = reader_next(reader, &record)) == 1 && records++ < RECORDS_MAX) {
		if (!writer) {
			check(record.type == RECORD_PROCESS, "a trace begins with its process");
			if (*compat < 0)
				*compat = reader_is_compat(reader);
			options.compat = *compat;
			writer = writer_new(encoding_find(to), fd, &options);
		}
		/* Stops at the second trace of a stream: only the first one is converted. */
		if (record.type == RECORD_PROCESS && processes++)
			break;
		check(writer_put(writer, &record) == 0, "a record can be written");
	}
	check(status == 1 || status == 0 || *reader_error(reader), "an error is described");
	check(status >= 0 || status == -EBADMSG, "bytes are damaged, or they are not");
	check(status == 1 || reader_next(reader, &record) == status, "an end stays one");
	reader_close(reader);
	if (writer) {
		const off_t end = (check(writer_close(writer) == 0, "closing"), lseek(fd, 0, SEEK_CUR));

		lseek(fd, 0, SEEK_SET);
		check(read(fd, buf_room(out, (size_t)end), (size_t)end) == end, "reading back");
		out->size = (size_t)end;
	}
	close(fd);
	return status;
}

static bool bytes_are_equal(const struct buf *a, const struct buf *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

/* Checks that a written trace can be read, and that it is the same bytes when it is written again. */
static void check_stable(const unsigned char *data, size_t size, const struct encoding *from, const char *to,
			 int compat)
{
	const struct encoding *encoding = encoding_find(to);
	/* If the input is in functrace's own form, `first` and `second` must be the same. A trace in the format of
	 * mpatrol or StackTrack may be by another program, and has functrace's form only after functrace has written it
	 * once. */
	const bool own_form =
		from == encoding && compat < 0 && strcmp(to, "mpatrol") != 0 && strcmp(to, "stacktrack") != 0;
	struct buf first = {0}, second = {0}, third = {0};

	if (convert(data, size, from, to, &compat, &first) <= 0 && first.size) {
		check(convert(first.data, first.size, encoding, to, &compat, &second) == 0,
		      "what was written can be read");
		check(convert(second.data, second.size, encoding, to, &compat, &third) == 0,
		      "what was written again can be read");
		check(bytes_are_equal(&second, &third), "what is read is written as it was");
		check(!own_form || bytes_are_equal(&first, &second),
		      "what is read is written as it was, the first time too");
	}
	buf_free(&first);
	buf_free(&second);
	buf_free(&third);
}

/* Dumps the trace's messages. Checks that their text is not far too long, and that an error is described. */
static void check_dump(const unsigned char *data, size_t size, const struct encoding *from)
{
	const struct reader_options reader_options = {.encoding = from};
	const struct dump_options options = {(uint32_t)(size & 3), (uint32_t)(size >> 2 & 3)};
	struct buf out = {0};
	char error[256];
	int status;
	const int in = memory_file(data, size);
	struct reader *reader = reader_new(in, &reader_options, error, sizeof(error));

	if (!reader) {
		close(in);
		return;
	}
	while ((status = reader_dump(reader, &options, &out)) == 1)
		check(out.size < 1000 * (size + 100), "what is shown of a few bytes is not far too much");
	check(status == 0 || *reader_error(reader), "an error is described");
	reader_close(reader);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const char *name = getenv("FUZZ_ENCODING");
	const struct encoding *from = name ? encoding_find(name) : NULL;

	check(!name || from, "FUZZ_ENCODING is an encoding");
	check_dump(data, size, from);
	check_stable(data, size, from, "text", -1);
	check_stable(data, size, from, "rtrace", -1);
	check_stable(data, size, from, "mpatrol", -1);
	check_stable(data, size, from, "swap", 0);
	check_stable(data, size, from, "stacktrack", -1);
	check_stable(data, size, from, "text", size & 1);
	check_stable(data, size, from, "rtrace", size & 1);
	return 0;
}
