/* Tests compressed traces: frames, limits, errors, and a writer that compresses. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "trace_util.h"
#include "trace/compressor_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static const enum packing kinds[] = {PACKING_GZIP, PACKING_ZSTD};

static uint64_t noise_state = 4711;

static uint64_t noise(void)
{
	noise_state ^= noise_state << 13;
	noise_state ^= noise_state >> 7;
	noise_state ^= noise_state << 17;
	return noise_state;
}

/* Adds random bytes; unless `dense`, every other byte can be compressed. */
static void add_noise(struct buf *out, size_t size, bool dense)
{
	for (size_t i = 0; i < size; i++)
		buf_add_char(out, (char)(dense || i % 2 ? noise() : i >> 8));
}

/* Unpacks the compressed frame at `at` and appends its content; returns where the next frame begins. */
static size_t unpack_frame(enum packing packing, const struct buf *data, size_t at, struct buf *out)
{
	if (packing == PACKING_ZSTD) {
		const size_t size = ZSTD_findFrameCompressedSize(data->data + at, data->size - at);

		assert_false(ZSTD_isError(size));
		const unsigned long long content = ZSTD_getFrameContentSize(data->data + at, size);

		assert_true(content < 1u << 24);
		assert_int_equal(ZSTD_decompress(buf_room(out, content), content, data->data + at, size), content);
		out->size += content;
		return at + size;
	}
	z_stream z = {.next_in = data->data + at, .avail_in = (uInt)(data->size - at)};

	assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	buf_room(out, 1u << 24);
	z.next_out = out->data + out->size;
	z.avail_out = 1u << 24;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	out->size += z.total_out;
	const size_t next = data->size - z.avail_in;

	inflateEnd(&z);
	return next;
}

/* Each of several outputs gets only its data, in order; each piece becomes a compressed frame of its own. */
static void outputs_get_only_their_own_data(void **state)
{
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct packer *packer = packer_new(kinds[k]);
		struct packed *packed[3];
		struct buf put[3] = {0};
		int fds[3];

		assert_non_null(packer);
		for (size_t i = 0; i < 3; i++) {
			fds[i] = memory_file("", 0);
			packed[i] = packed_new(packer, fds[i], NULL);
		}
		for (size_t round = 0; round < 40; round++) {
			struct buf data = {0};
			const size_t i = noise() % 3;

			add_noise(&data, 1 + noise() % (round % 10 ? 5000 : 2 * PACKER_FRAME), round % 3);
			buf_add(&put[i], data.data, data.size);
			assert_int_equal(packed_put(packed[i], &data, 10), 0);
			assert_int_equal(data.size, 0);
			buf_free(&data);
		}
		for (size_t i = 0; i < 3; i++) {
			struct buf file = {0}, got = {0};
			size_t frames = 0;

			assert_int_equal(packed_wait(packed[i]), 0);
			lseek(fds[i], 0, SEEK_SET);
			read_all(fds[i], &file);
			for (size_t at = 0; at < file.size; frames++)
				at = unpack_frame(kinds[k], &file, at, &got);
			assert_bytes("output", &got, &put[i]);
			assert_int_equal(packed_calls(packed[i]), 10 * frames);
			packed_free(packed[i]);
			close(fds[i]);
			buf_free(&file);
			buf_free(&got);
			buf_free(&put[i]);
		}
		packer_free(packer);
	}
}

static void full_device_fails_only_its_output(void **state)
{
	struct packer *packer = packer_new(PACKING_ZSTD);
	const int full = open("/dev/full", O_WRONLY | O_CLOEXEC), sound = memory_file("", 0);
	struct packed *bad = packed_new(packer, full, NULL), *good = packed_new(packer, sound, NULL);
	struct buf data = {0};

	buf_add_str(&data, "a frame");
	packed_put(bad, &data, 1);
	buf_add_str(&data, "a frame");
	assert_int_equal(packed_put(good, &data, 1), 0);
	assert_int_equal(packed_wait(bad), -ENOSPC);
	buf_add_str(&data, "another");
	assert_int_equal(packed_put(bad, &data, 1), -ENOSPC);
	assert_int_equal(data.size, 0);
	assert_int_equal(packed_wait(good), 0);
	assert_int_equal(packed_calls(bad), 0);
	assert_int_equal(packed_calls(good), 1);
	packed_free(bad);
	packed_free(good);
	packer_free(packer);
	buf_free(&data);
	close(full);
	close(sound);
}

/* If only a part of a compressed frame fits into the file, the part is removed again, so that the file stays valid. */
static void partial_frame_is_removed(void **state)
{
	struct rlimit before;
	struct buf data = {0}, file = {0}, got = {0};
	size_t frames = 0;

	getrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 25000, .rlim_max = before.rlim_max});
	char name[] = "/tmp/functrace-packer-XXXXXX";
	const int fd = mkstemp(name);
	struct packer *packer = packer_new(PACKING_ZSTD);
	struct packed *packed = packed_new(packer, fd, NULL);

	unlink(name);
	for (int i = 0; i < 5; i++) {
		add_noise(&data, 10000, true);
		packed_put(packed, &data, 7);
	}
	assert_int_equal(packed_wait(packed), -EFBIG);
	assert_int_equal(packed_calls(packed), 14);
	setrlimit(RLIMIT_FSIZE, &before);
	lseek(fd, 0, SEEK_SET);
	read_all(fd, &file);
	for (size_t at = 0; at < file.size; frames++)
		at = unpack_frame(PACKING_ZSTD, &file, at, &got);
	assert_int_equal(frames, 2);
	assert_int_equal(got.size, 20000);
	packed_free(packed);
	packer_free(packer);
	close(fd);
	buf_free(&data);
	buf_free(&file);
	buf_free(&got);
}

struct putter {
	struct packed *packed;
	int end; /* the pipe's end, which the thread closes when all frames are written */
	atomic_int done;
};

#define PUTS 40

static void *put_many(void *context)
{
	struct putter *putter = context;
	struct buf data = {0};

	for (int i = 0; i < PUTS; i++) {
		add_noise(&data, PACKER_FRAME, true);
		packed_put(putter->packed, &data, 1);
		putter->done++;
	}
	packed_wait(putter->packed);
	close(putter->end);
	buf_free(&data);
	return NULL;
}

/* While the pipe is not read, the writer waits with a limited number of frames in memory. When the pipe is read, all
 * frames arrive. */
static void writer_waits_while_the_pipe_is_full(void **state)
{
	int ends[2];
	pthread_t thread;
	struct buf file = {0}, got = {0};

	assert_int_equal(pipe(ends), 0);
	struct packer *packer = packer_new(PACKING_ZSTD);
	struct putter putter = {.packed = packed_new(packer, ends[1], NULL), .end = ends[1]};

	assert_int_equal(pthread_create(&thread, NULL, put_many, &putter), 0);
	for (int last = 0, quiet = 0; quiet < 10; quiet = last && last == putter.done ? quiet + 1 : 0) {
		last = putter.done;
		poll(NULL, 0, 50);
	}
	/* The thread waits in packed_put() with the next frame. */
	assert_in_range(putter.done, 1, 8);
	ssize_t size;

	while ((size = read(ends[0], buf_room(&file, 65536), 65536)) > 0)
		file.size += (size_t)size;
	assert_int_equal(size, 0);
	pthread_join(thread, NULL);
	assert_int_equal(putter.done, PUTS);
	packed_free(putter.packed);
	size_t frames = 0;

	for (size_t at = 0; at < file.size; frames++) {
		got.size = 0;
		at = unpack_frame(PACKING_ZSTD, &file, at, &got);
		assert_int_equal(got.size, PACKER_FRAME);
	}
	assert_int_equal(frames, PUTS);
	packer_free(packer);
	close(ends[0]);
	buf_free(&file);
	buf_free(&got);
}

/* The packer's thread blocks the signals that are sent to the process. */
static void packer_thread_blocks_signals(void **state)
{
	struct packer *packer = packer_new(PACKING_ZSTD);
	char line[256], *path = NULL;
	FILE *found = NULL;

	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + UINT64_C(60) * 1000000000;

	while (!found && clock_ns(CLOCK_MONOTONIC) < until) {
		FILE *list = popen("grep -l ft-packer /proc/$PPID/task/*/comm", "r");

		if (fgets(line, sizeof(line), list)) {
			*strrchr(line, '/') = '\0';
			path = xasprintf("%s/status", line);
			found = fopen(path, "r");
		}
		pclose(list);
	}
	assert_non_null(found);
	unsigned long long blocked = 0;

	while (fgets(line, sizeof(line), found))
		if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
			break;
	/* Some signals that the process may be sent. The thread does not block SIGPIPE and SIGXFSZ, which its own
	 * writes raise. */
	static const int signals[] = {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		assert_true(blocked & 1ull << (signals[i] - 1));
	fclose(found);
	free(path);
	packer_free(packer);
}

static const uint64_t frames_of_call[] = {0x400123, 0x7f0000000456, 0x7f0000000999};

static struct record call(uint64_t index)
{
	return (struct record){CALL_RECORD(.index = index, .time_ns = index * 1000000, .resource = 1,
					   .kind = CALL_ALLOC, .function = "malloc", .id = 0x602010 + 16 * index,
					   .size = index % 1000, .frames = frames_of_call, .frame_count = 3,
					   .has_frames = true)};
}

static uint64_t write_calls(struct packer *packer, int fd, uint64_t count)
{
	const struct record process = {
		PROCESS_RECORD(.arch = "x86_64", .pointer_size = 8, .pid = 42, .has_pid = true, .name = "/bin/prog")};
	struct writer *writer = writer_new(encoding_find("rtrace"), fd, &(struct writer_options){.packer = packer});

	assert_int_equal(writer_put(writer, &process), 0);
	for (uint64_t i = 1; i <= count; i++) {
		const struct record record = call(i);

		assert_int_equal(writer_put(writer, &record), 0);
		if (i % 1000 == 0)
			assert_int_equal(writer_flush(writer), 0);
	}
	writer_finish(writer);
	assert_int_equal(writer_sync(writer), 0);
	const uint64_t calls = writer_calls(writer);

	assert_int_equal(writer_close(writer), 0);
	return calls;
}

/* An unpacked trace has the same bytes as a trace that was written without compression; every frame ends between
 * records. */
static void unpacked_trace_equals_the_uncompressed_one(void **state)
{
	const uint64_t count = 60000;
	const int plain = memory_file("", 0);
	struct buf expected = {0};

	assert_int_equal(write_calls(NULL, plain, count), count);
	lseek(plain, 0, SEEK_SET);
	read_all(plain, &expected);
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct packer *packer = packer_new(kinds[k]);
		struct buf file = {0}, got = {0}, dump = {0};
		const int fd = memory_file("", 0);

		assert_int_equal(write_calls(packer, fd, count), count);
		lseek(fd, 0, SEEK_SET);
		read_all(fd, &file);
		assert_true(file.size < expected.size / 8);
		for (size_t at = 0; at < file.size;) {
			at = unpack_frame(kinds[k], &file, at, &got);
			if (got.size > 1u << 20)
				continue;
			dump.size = 0;
			dump_trace(got.data, got.size, &dump);
			assert_non_null(strstr(buf_str(&dump), "\n0 skipped=0\n"));
		}
		assert_bytes("content", &got, &expected);
		packer_free(packer);
		close(fd);
		buf_free(&file);
		buf_free(&got);
		buf_free(&dump);
	}
	buf_free(&expected);
	close(plain);
}

static void suffix_chooses_the_compression(void **state)
{
	enum packing packing;

	assert_int_equal(packing_of_path("a.zst"), PACKING_ZSTD);
	assert_int_equal(packing_of_path("x/a.rtrace.gz"), PACKING_GZIP);
	assert_int_equal(packing_of_path("a.zst/b"), PACKING_NONE);
	assert_int_equal(packing_of_path(".zst"), PACKING_NONE);
	assert_int_equal(packing_of_path("gz"), PACKING_NONE);
	assert_true(packing_choose(NULL, NULL, &packing) && packing == PACKING_ZSTD);
	assert_true(packing_choose("a", NULL, &packing) && packing == PACKING_ZSTD);
	assert_true(packing_choose("a.gz", NULL, &packing) && packing == PACKING_GZIP);
	assert_true(packing_choose("a", "gz", &packing) && packing == PACKING_GZIP);
	assert_true(packing_choose("a.gz", "gz", &packing) && packing == PACKING_GZIP);
	assert_true(!packing_choose("a.zst", "gz", &packing) && packing == PACKING_ZSTD);
	assert_true(!packing_choose("a", "xz", &packing) && packing == PACKING_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_get_only_their_own_data),
		cmocka_unit_test(full_device_fails_only_its_output),
		cmocka_unit_test(partial_frame_is_removed),
		cmocka_unit_test(writer_waits_while_the_pipe_is_full),
		cmocka_unit_test(packer_thread_blocks_signals),
		cmocka_unit_test(unpacked_trace_equals_the_uncompressed_one),
		cmocka_unit_test(suffix_chooses_the_compression),
	};

	return cmocka_run_group_tests_name("trace_packer", tests, NULL, NULL);
}
