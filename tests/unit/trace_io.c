/* Tests writes that fail, and input that is compressed, live, growing or damaged. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "long.h"
#include "trace_util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static const uint64_t frames[] = {0x400123, 0x7f0000000456, 0x7f0000000999};
static const struct call_arg args[] = {{"nmemb", "2"}, {"size", "12"}};

static const struct record process = {PROCESS_RECORD(.arch = "x86_64", .pointer_size = 8, .pid = 4242, .has_pid = true,
						     .start_sec = 1700000000, .has_depth = true, .depth = 10,
						     .name = "/bin/prog")};

static struct record make_call(uint64_t index)
{
	return (struct record){CALL_RECORD(.index = index, .time_ns = 80000 * UINT64_C(1000000000) + index * 1000000,
					   .resource = 1, .kind = CALL_ALLOC, .function = "calloc",
					   .id = 0x602010 + 16 * index, .size = 24, .frames = frames, .frame_count = 3,
					   .has_frames = true, .args = args, .arg_count = 2)};
}

/* Makes a trace of ten records of different kinds and `calls` calls. Encodings omit the records that they cannot
 * represent. */
static void make_trace(const char *encoding, bool compat, size_t calls, struct buf *out)
{
	const struct writer_options options = {.compat = compat};
	const size_t fixed = 10;
	struct record *records = calloc(fixed + calls, sizeof(*records));

	records[0] = process;
	records[1] = (struct record){.type = RECORD_MODULE, .module = {1, 1, 2, "memory"}};
	records[2] = (struct record){.type = RECORD_RESOURCE, .resource = {1, 0, "memory", "in bytes"}};
	records[3] = (struct record){.type = RECORD_CONTEXT, .context = {1, "a context"}};
	records[4] = (struct record){.type = RECORD_OBJECT, .object = {0x400000, 0x401000, "/bin/prog"}};
	records[5] = (struct record){.type = RECORD_BUILD_ID, .build_id = {0x400000, "00ff"}};
	records[6] = (struct record){.type = RECORD_THREAD, .thread = {4243, "worker"}};
	records[7] = (struct record){.type = RECORD_NOTE, .note = {"a note"}};
	for (size_t i = 0; i < calls; i++)
		records[8 + i] = make_call(i + 1);
	records[8 + calls] = (struct record){.type = RECORD_ATTACHMENT, .attachment = {"maps", "maps-0"}};
	records[9 + calls] = (struct record){.type = RECORD_HEAP, .heap = {.bottom = 1, .top = 2}};
	write_trace(encoding, &options, records, fixed + calls, out);
	free(records);
}

static const struct {
	const char *encoding;
	bool compat;
} forms[] = {{"rtrace", false}, {"rtrace", true}, {"text", false}, {"text", true}, {"swap", false}};

/* Conversions from binary to text and back, and from text to binary and back, keep all data that both formats can
 * represent. Compat binary cannot represent the build-id, text 1.4 not the start's microseconds. */
static void test_conversions_there_and_back_keep_the_trace(void **state)
{
	static const char build_id_line[] = "## build-id 0x400000 00ff\n";

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct buf trace = {0}, other = {0}, again = {0}, other_again = {0};
		const bool binary = !strcmp(forms[i].encoding, "rtrace");
		const char *to = binary ? "text" : "rtrace";

		make_trace(forms[i].encoding, forms[i].compat, 20, &trace);
		assert_int_equal(convert_trace(trace.data, trace.size, forms[i].encoding, forms[i].compat, &again), 0);
		assert_bytes("the same form", &again, &trace);
		again.size = 0;
		/* trace_swap tests the data that SWAP cannot represent. */
		if (!strcmp(forms[i].encoding, "swap")) {
			buf_free(&trace);
			buf_free(&again);
			continue;
		}
		assert_int_equal(convert_trace(trace.data, trace.size, to, forms[i].compat, &other), 0);
		assert_int_equal(convert_trace(other.data, other.size, forms[i].encoding, forms[i].compat, &again), 0);
		if (binary == forms[i].compat)
			assert_bytes("there and back", &again, &trace);
		else
			assert_int_equal(again.size, trace.size - (binary ? 0 : strlen(build_id_line)));
		assert_int_equal(convert_trace(again.data, again.size, to, forms[i].compat, &other_again), 0);
		assert_bytes("there, back and there", &other_again, &other);
		buf_free(&trace);
		buf_free(&other);
		buf_free(&again);
		buf_free(&other_again);
	}
}

/* Writes to a file that becomes full in the middle of a record. Fails unless the file ends with the last complete
 * record, and the writer keeps the error and writes nothing more. */
static void write_into_limit(const char *encoding, bool compat, rlim_t limit)
{
	const struct writer_options options = {.compat = compat};
	const struct rlimit small = {limit, RLIM_INFINITY};
	struct rlimit old;
	const int fd = memory_file("", 0);
	struct writer *writer = writer_new(encoding_find(encoding), fd, &options);
	struct buf got = {0}, dump = {0};

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(writer_put(writer, &process), 0);
	for (uint64_t i = 1; i <= 200; i++) {
		const struct record call = make_call(i);

		assert_int_equal(writer_put(writer, &call), 0);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(writer_flush(writer), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(writer_put(writer, &process), -EFBIG);
	assert_int_equal(writer_flush(writer), -EFBIG);
	const uint64_t calls = writer_calls(writer);

	assert_int_equal(writer_close(writer), -EFBIG);
	read_all(fd, &got);
	assert_true(got.size <= limit && got.size + 256 > limit);
	dump_trace(got.data, got.size, &dump);
	uint64_t found = 0;

	for (const char *at = buf_str(&dump); (at = strstr(at, "\ncall ")); at++)
		found++;
	assert_true(found > 0);
	assert_int_equal(calls, found);
	/* Complete records: the last call has its stack and its arguments. */
	const char *last = strstr(buf_str(&dump), "0 skipped=0\n");

	assert_non_null(last);
	while (last[-2] != '\n' && last - 2 > (char *)dump.data)
		last--;
	assert_non_null(strstr(last - 1, "[nmemb=2] [size=12] frames 400123 7f0000000456 7f0000000999\n"));
	close(fd);
	buf_free(&got);
	buf_free(&dump);
}

static void test_full_file_ends_with_a_complete_record(void **state)
{
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		for (rlim_t limit = 4000; limit < 4300; limit += test_is_long() ? 1 : 7)
			write_into_limit(forms[i].encoding, forms[i].compat, limit);
}

/* The process that reads the pipe has ended. */
static void test_broken_pipe_is_an_error(void **state)
{
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	const struct writer_options options = {.line_buffered = true};
	struct writer *writer = writer_new(encoding_find("text"), ends[1], &options);

	assert_int_equal(writer_put(writer, &process), -EPIPE);
	assert_int_equal(writer_put(writer, &process), -EPIPE);
	assert_int_equal(writer_close(writer), -EPIPE);
	close(ends[1]);
}

/* Reads the pipe to its end; returns the number of bytes. */
static void *drain(void *fd)
{
	char bytes[4096];
	size_t total = 0;
	ssize_t got;

	while ((got = read(*(int *)fd, bytes, sizeof(bytes))) > 0)
		total += (size_t)got;
	return (void *)total;
}

static void test_writer_waits_for_a_nonblocking_pipe(void **state)
{
	int ends[2];
	pthread_t thread;
	void *total;
	struct buf expected = {0};

	assert_int_equal(pipe2(ends, 0), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(pthread_create(&thread, NULL, drain, &ends[0]), 0);
	struct writer *writer = writer_new(encoding_find("rtrace"), ends[1], NULL);

	assert_int_equal(writer_put(writer, &process), 0);
	for (uint64_t i = 1; i <= 5000; i++) {
		const struct record call = make_call(i);

		assert_int_equal(writer_put(writer, &call), 0);
	}
	assert_int_equal(writer_close(writer), 0);
	close(ends[1]);
	pthread_join(thread, &total);
	close(ends[0]);
	/* The trace has the handshake, PINF, and the packets CALL, BTRC and ARGS for each call. */
	assert_int_equal((size_t)total, 16 + 36 + 5000 * (44 + 36 + 36));
	buf_free(&expected);
}

static void test_line_buffered_calls_are_written_at_once(void **state)
{
	const struct record thread = {.type = RECORD_THREAD, .thread = {1, "a"}};
	const struct record call = make_call(1);
	const struct writer_options options = {.line_buffered = true};
	const int fd = memory_file("", 0);
	struct writer *writer = writer_new(encoding_find("text"), fd, &options);
	struct stat before, after;

	assert_int_equal(writer_put(writer, &process), 0);
	assert_int_equal(fstat(fd, &before), 0);
	assert_true(before.st_size > 0);
	/* A thread's record is written together with the call that follows it. */
	assert_int_equal(writer_put(writer, &thread), 0);
	assert_int_equal(fstat(fd, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	assert_int_equal(writer_put(writer, &call), 0);
	assert_int_equal(fstat(fd, &after), 0);
	assert_true(after.st_size > before.st_size + 80);
	assert_int_equal(writer_close(writer), 0);
	close(fd);
}

/* Appends a gzip member. A file may consist of several members, and zeros may follow the last one, as on tapes. */
static void gzip(const struct buf *from, size_t at, size_t size, struct buf *to)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = from->data + at;
	z.avail_in = (uInt)size;
	z.next_out = buf_room(to, deflateBound(&z, size));
	z.avail_out = (uInt)deflateBound(&z, size);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	to->size += z.total_out;
	deflateEnd(&z);
}

static void zstd(const struct buf *from, size_t at, size_t size, struct buf *to)
{
	const size_t got = ZSTD_compress(buf_room(to, ZSTD_compressBound(size)), ZSTD_compressBound(size),
					 from->data + at, size, 1);

	assert_false(ZSTD_isError(got));
	to->size += got;
}

static void test_compressed_traces_are_read(void **state)
{
	void (*const packers[])(const struct buf *, size_t, size_t, struct buf *) = {gzip, zstd};

	for (size_t f = 0; f < ARRAY_SIZE(forms); f++)
		for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
			struct buf trace = {0}, packed = {0}, plain = {0}, got = {0};

			make_trace(forms[f].encoding, forms[f].compat, test_is_long() ? 30000 : 15000, &trace);
			dump_trace(trace.data, trace.size, &plain);
			packers[i](&trace, 0, trace.size / 2, &packed);
			packers[i](&trace, 0, 0, &packed);
			packers[i](&trace, trace.size / 2, trace.size - trace.size / 2, &packed);
			if (packers[i] == gzip) {
				memset(buf_room(&packed, 1000), 0, 1000);
				packed.size += 1000;
			}
			dump_trace(packed.data, packed.size, &got);
			assert_text(&got, buf_str(&plain));

			/* If the data are truncated, the reader returns all records that can be unpacked, then the
			 * error. */
			got.size = 0;
			dump_trace(packed.data, packed.size / 3, &got);
			assert_non_null(strstr(buf_str(&got), "\ncall 100 "));
			assert_non_null(strstr(buf_str(&got), "\n-74 skipped=0 the compressed data end too "
							      "early; the trace is readable up to byte "));
			/* If the second half is damaged, the reader returns the first half. */
			memset(packed.data + packed.size * 4 / 5, 0x55, 64);
			got.size = 0;
			dump_trace(packed.data, packed.size, &got);
			assert_non_null(strstr(buf_str(&got), "\ncall 100 "));
			assert_non_null(strstr(buf_str(&got), "\n-74 skipped=0 "));
			buf_free(&trace);
			buf_free(&packed);
			buf_free(&plain);
			buf_free(&got);
		}
}

/* A writer that was killed has flushed a zstd frame but not ended it. The reader returns all flushed data, although
 * these are more than the 256 KiB that it reads at a time. */
static void test_unended_frame_is_read_to_its_flushed_end(void **state)
{
	const size_t calls = 300000 / 14;
	struct buf trace = {0}, packed = {0}, got = {0};
	ZSTD_CCtx *zstd_context = ZSTD_createCCtx();

	buf_add_str(&trace, "version=1.4\n");
	for (size_t n = 0; n < calls; n++)
		buf_add_str(&trace, "1. free(0x1)\n\n");
	ZSTD_inBuffer in = {trace.data, trace.size, 0};
	ZSTD_outBuffer out = {buf_room(&packed, 65536), 65536, 0};

	assert_int_equal(ZSTD_compressStream2(zstd_context, &out, &in, ZSTD_e_flush), 0);
	assert_int_equal(in.pos, trace.size);
	packed.size = out.pos;
	assert_int_equal(convert_trace(packed.data, packed.size, "text", false, &got), -EBADMSG);
	assert_true(got.size == trace.size && !memcmp(got.data, trace.data, got.size));
	ZSTD_freeCCtx(zstd_context);
	buf_free(&trace);
	buf_free(&packed);
	buf_free(&got);
}

/* A text may have NUL bytes far after its beginning if the machine crashed. */
static void test_late_nul_byte_is_damage(void **state)
{
	struct buf trace = {0}, got = {0};

	buf_add_str(&trace, "version=1.4\n");
	for (size_t n = 0; n < 50000; n++)
		buf_add_str(&trace, "1. free(0x1)\n\n");
	memset(buf_room(&trace, 4096), 0, 4096);
	trace.size += 4096;
	dump_trace(trace.data, trace.size, &got);
	assert_non_null(strstr(buf_str(&got), "-74 skipped=0 the trace is damaged at byte 700012: a NUL byte"));
	assert_int_equal(got.size, strlen("process v1.4 arch=- p0 little start=0.000000/- name=- "
					  "origin=- filters=0\n") +
					   50000 * strlen("call 1 r=0 c=0 k=1 free id=1 size=0\n") +
					   strlen("-74 skipped=0 the trace is damaged at byte 700012: "
						  "a NUL byte, which no text has\n"));
	buf_free(&trace);
	buf_free(&got);
}

/* A pipe that gives a few bytes at a time. */
struct feeder {
	int fd;
	const struct buf *bytes;
};

static void *feed(void *arg)
{
	const struct feeder *feeder = arg;

	for (size_t at = 0; at < feeder->bytes->size;) {
		const size_t left = feeder->bytes->size - at, n = at % 13 + 1 < left ? at % 13 + 1 : left;

		write_all(feeder->fd, feeder->bytes->data + at, n, NULL);
		at += n;
	}
	close(feeder->fd);
	return NULL;
}

static void test_trace_from_a_slow_pipe_is_read(void **state)
{
	for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
		struct buf trace = {0}, plain = {0}, got = {0};
		struct record record;
		pthread_t thread;
		char error[256];
		int ends[2], status;

		make_trace(forms[f].encoding, forms[f].compat, 500, &trace);
		dump_trace(trace.data, trace.size, &plain);
		assert_int_equal(pipe(ends), 0);
		struct feeder feeder = {ends[1], &trace};

		assert_int_equal(pthread_create(&thread, NULL, feed, &feeder), 0);
		struct reader *reader = reader_new(ends[0], NULL, error, sizeof(error));

		assert_non_null(reader);
		while ((status = reader_next(reader, &record)) == 1)
			dump_record(&got, &record);
		buf_printf(&got, "%d skipped=0\n", status);
		assert_text(&got, buf_str(&plain));
		assert_int_equal(reader_offset(reader), trace.size);
		assert_int_equal(reader_is_compat(reader), forms[f].compat);
		reader_close(reader);
		pthread_join(thread, NULL);
		buf_free(&trace);
		buf_free(&plain);
		buf_free(&got);
	}
}

/* A file that a thread lets grow while the reader follows it. The reader must wait at the end of the file, return the
 * last call though nothing follows it, continue when the file grows, and end when a signal comes. */
struct grower {
	int fd;
	const struct buf *bytes;
	size_t at;
	pthread_t reader;
	volatile size_t seen;
};

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
	(void)signal;
	stopped = 1;
}

static void wait_for(const struct grower *grower, size_t calls)
{
	for (unsigned i = 0; grower->seen < calls && i < 6000; i++)
		poll(NULL, 0, 10);
	assert_int_equal(grower->seen, calls);
}

static void *grow(void *arg)
{
	struct grower *grower = arg;

	wait_for(grower, 5);
	/* The 7 bytes end within a record. */
	write_all(grower->fd, grower->bytes->data + grower->at, 7, NULL);
	poll(NULL, 0, 50);
	write_all(grower->fd, grower->bytes->data + grower->at + 7, grower->bytes->size - grower->at - 7, NULL);
	wait_for(grower, 10);
	poll(NULL, 0, 300);
	for (unsigned i = 0; grower->seen != SIZE_MAX && i < 6000; i++) {
		pthread_kill(grower->reader, SIGUSR1);
		poll(NULL, 0, 10);
	}
	return NULL;
}

static void check_following(const char *encoding, bool compat)
{
	const struct writer_options options = {.compat = compat};
	const struct reader_options following = {.follow = true, .stop = &stopped};
	struct record records[11] = {process};
	struct buf all = {0}, half = {0};
	struct record record;
	struct grower grower = {.bytes = &all, .reader = pthread_self()};
	pthread_t thread;
	char error[256], path[] = "/tmp/trace-follow-XXXXXX";
	int status;

	for (size_t i = 1; i <= 10; i++)
		records[i] = make_call(i);
	write_trace(encoding, &options, records, 11, &all);
	write_trace(encoding, &options, records, 6, &half);
	grower.at = half.size;
	grower.fd = mkstemp(path);
	assert_true(grower.fd >= 0);
	assert_int_equal(write_all(grower.fd, half.data, half.size, NULL), 0);
	struct reader *reader = reader_new(open(path, O_RDONLY | O_CLOEXEC), &following, error, sizeof(error));

	unlink(path);
	stopped = 0;
	assert_non_null(reader);
	assert_int_equal(pthread_create(&thread, NULL, grow, &grower), 0);
	while ((status = reader_next(reader, &record)) == 1)
		if (record.type == RECORD_CALL) {
			assert_int_equal(record.call.index, grower.seen + 1);
			assert_int_equal(record.call.frame_count, 3);
			assert_int_equal(record.call.arg_count, 2);
			grower.seen++;
		}
	assert_int_equal(status, 0);
	assert_int_equal(grower.seen, 10);
	grower.seen = SIZE_MAX;
	pthread_join(thread, NULL);
	reader_close(reader);
	close(grower.fd);
	buf_free(&all);
	buf_free(&half);
}

static void test_growing_file_is_followed(void **state)
{
	const struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &action, NULL);
	for (size_t f = 0; f < ARRAY_SIZE(forms); f++)
		check_following(forms[f].encoding, forms[f].compat);
}

/* From a live pipe the reader returns a call though nothing follows it. */
static void test_call_from_a_live_pipe_is_returned_at_once(void **state)
{
	const struct reader_options following = {.follow = true};

	for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
		const struct writer_options options = {.compat = forms[f].compat, .line_buffered = true};
		char error[256];
		struct record record;
		int ends[2];

		assert_int_equal(pipe(ends), 0);
		struct writer *writer = writer_new(encoding_find(forms[f].encoding), ends[1], &options);

		assert_int_equal(writer_put(writer, &process), 0);
		struct record call = make_call(1);

		assert_int_equal(writer_put(writer, &call), 0);
		struct reader *reader = reader_new(ends[0], &following, error, sizeof(error));

		assert_non_null(reader);
		assert_int_equal(reader_next(reader, &record), 1);
		for (uint64_t i = 1; i <= 3; i++) {
			assert_int_equal(reader_next(reader, &record), 1);
			/* SWAP has no resources, but its reader declares them. */
			if (record.type == RECORD_RESOURCE)
				assert_int_equal(reader_next(reader, &record), 1);
			assert_int_equal(record.type, RECORD_CALL);
			assert_int_equal(record.call.index, i);
			assert_int_equal(record.call.frame_count, 3);
			call = make_call(i + 1);
			assert_int_equal(writer_put(writer, &call), 0);
		}
		assert_int_equal(writer_close(writer), 0);
		close(ends[1]);
		assert_int_equal(reader_next(reader, &record), 1);
		assert_int_equal(reader_next(reader, &record), 0);
		reader_close(reader);
	}
}

/* The trace is truncated after each of its bytes: the reader returns all complete records, and reports the
 * truncation. */
static void test_truncation_after_any_byte_is_reported(void **state)
{
	for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
		struct buf trace = {0}, plain = {0}, got = {0};
		size_t lines = 0, whole = 0;

		make_trace(forms[f].encoding, forms[f].compat, 3, &trace);
		dump_trace(trace.data, trace.size, &plain);
		for (size_t size = 1; size < trace.size; size++) {
			got.size = 0;
			dump_trace(trace.data, size, &got);
			const char *text = buf_str(&got);
			const char *last = strstr(text, "skipped=");

			if (!last) {
				assert_memory_equal(text, "none: ", 6);
				continue;
			}
			while (last > text && last[-1] != '\n')
				last--;
			/* With more bytes the reader never returns fewer records. */
			size_t now = 0;

			for (const char *c = text; c < last; c++)
				now += *c == '\n';
			assert_true(now >= lines);
			lines = now;
			if (!strncmp(last, "0 ", 2)) {
				/* The trace ends between two records, or after a call whose stack is missing. */
				const char *stack = memmem(text, (size_t)(last - text), " size=", 6);

				for (const char *c = stack; c; c = strstr(c + 1, " size="))
					stack = c;
				assert_memory_equal(text, buf_str(&plain), (size_t)((stack ? stack : last) - text));
				whole++;
			} else {
				assert_non_null(strstr(last, "-74 skipped=0 the trace is cut off: it ends at "
							     "byte"));
			}
		}
		/* A truncated trace counts as whole if it ends after any record, or after any packet or line of a
		 * call. */
		const bool is_swap = !strcmp(forms[f].encoding, "swap"); /* SWAP cannot represent two of the records */

		assert_true(whole >= (is_swap ? 7 : 8) && lines >= (is_swap ? 8 : 9));
		buf_free(&trace);
		buf_free(&plain);
		buf_free(&got);
	}
}

/* Flips each seventh bit in turn, with CHECK_LONG each bit. The reader may return an end, an error or other records,
 * but it never crashes (the sanitizers would report this) or returns more records than the bytes can contain. */
static void test_any_flipped_bit_is_survived(void **state)
{
	for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
		struct buf trace = {0}, got = {0}, text = {0};

		make_trace(forms[f].encoding, forms[f].compat, 3, &trace);
		for (size_t bit = 0; bit < trace.size * 8; bit += test_is_long() ? 1 : 7) {
			trace.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
			got.size = 0;
			dump_trace(trace.data, trace.size, &got);
			if (memcmp(got.data, "none", 4)) {
				text.size = 0;
				convert_trace(trace.data, trace.size, bit & 1 ? "text" : "rtrace", bit & 2, &text);
				assert_true(text.size < 8 * trace.size);
			}
			trace.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		}
		buf_free(&trace);
		buf_free(&got);
		buf_free(&text);
	}
}

/* The reader skips an unknown packet of 4 GiB, which is a hole in the file, without much memory. */
static void test_huge_unknown_packet_is_skipped(void **state)
{
	static const unsigned char head[] = {'W', 'X', 'Y', 'Z', 0xf8, 0xff, 0xff, 0xff};
	struct record records[] = {process, make_call(1)};
	struct buf trace = {0};
	struct rusage usage;
	struct record record;
	char error[256];

	write_trace("rtrace", NULL, records, 1, &trace);
	buf_add(&trace, head, sizeof(head));
	const int fd = memory_file(trace.data, trace.size);
	const off_t after = (off_t)trace.size + 0xfffffff8;
	struct buf call = {0};

	write_trace("rtrace", NULL, records, 2, &call);
	if (pwrite(fd, call.data + 52, call.size - 52, after) < 0) {
		print_message("no file of 4 GiB can be made here: %s\n", strerror(errno));
		skip();
	}
	struct reader *reader = reader_new(fd, NULL, error, sizeof(error));

	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(record.type, RECORD_CALL);
	assert_int_equal(record.call.frame_count, 3);
	assert_int_equal(reader_skipped(reader), 1);
	assert_int_equal(reader_next(reader, &record), 0);
	assert_int_equal(reader_offset(reader), after + (off_t)call.size - 52);
	reader_close(reader);
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	assert_true(usage.ru_maxrss < 512 << 10);
	buf_free(&trace);
	buf_free(&call);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conversions_there_and_back_keep_the_trace),
		cmocka_unit_test(test_full_file_ends_with_a_complete_record),
		cmocka_unit_test(test_broken_pipe_is_an_error),
		cmocka_unit_test(test_writer_waits_for_a_nonblocking_pipe),
		cmocka_unit_test(test_line_buffered_calls_are_written_at_once),
		cmocka_unit_test(test_compressed_traces_are_read),
		cmocka_unit_test(test_unended_frame_is_read_to_its_flushed_end),
		cmocka_unit_test(test_late_nul_byte_is_damage),
		cmocka_unit_test(test_call_from_a_live_pipe_is_returned_at_once),
		cmocka_unit_test(test_trace_from_a_slow_pipe_is_read),
		cmocka_unit_test(test_growing_file_is_followed),
		cmocka_unit_test(test_truncation_after_any_byte_is_reported),
		cmocka_unit_test(test_any_flipped_bit_is_survived),
		cmocka_unit_test(test_huge_unknown_packet_is_skipped),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
