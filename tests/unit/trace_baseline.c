/* Tests the baseline in each format: all its blocks are read back, or counted as omitted. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "trace_util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 2050 /* two whole packets and two blocks */

static struct baseline_block blocks[BLOCKS];

static struct record records[] = {
	{.type = RECORD_PROCESS, .process = {.arch = "x86_64", .pointer_size = 8, .pid = 7, .has_pid = true}},
	{.type = RECORD_RESOURCE, .resource = {1, 0, "memory", "in bytes"}},
	{.type = RECORD_BASELINE, .baseline = {1, blocks, BLOCKS}},
	{CALL_RECORD(.index = 1, .time_ns = TIME_NONE, .resource = 1, .kind = CALL_RELEASE, .function = "free",
		     .id = 0x10)},
};

static int set_up(void **state)
{
	for (uint64_t i = 0; i < BLOCKS; i++)
		blocks[i] = (struct baseline_block){0x7f0000000010 + i * 32, i ? i : UINT64_C(1) << 40};
	return 0;
}

/* Fails unless the dump's lines about baseline blocks are those of `blocks`. */
static void assert_blocks(const struct buf *dump)
{
	struct buf wanted = {0}, got = {0};

	for (uint64_t i = 0; i < BLOCKS; i++)
		buf_printf(&wanted, "before 1 %" PRIx64 " %" PRIu64 "\n", blocks[i].id, blocks[i].size);
	for (const char *line = (const char *)dump->data; (line = strstr(line, "before ")); line++)
		buf_add(&got, line, strcspn(line, "\n") + 1);
	assert_string_equal(buf_str(&got), buf_str(&wanted));
	buf_free(&wanted);
	buf_free(&got);
}

/* A packet has 8 bytes of type and size, 8 bytes of resource and count, and 16 bytes for each block. */
static void test_packets_contain_all_blocks(void **state)
{
	const struct writer_options options = {0};
	struct buf trace = {0}, without = {0};
	size_t packets = 0;

	write_trace("rtrace", NULL, records, ARRAY_SIZE(records), &trace);
	write_trace("rtrace", &options, records, 2, &without);
	for (size_t i = 0; i + 4 <= trace.size; i++)
		packets += !memcmp(trace.data + i, "CENS", 4);
	assert_int_equal(packets, 3);
	assert_true(trace.size > without.size + 3 * 16 + 16 * BLOCKS &&
		    trace.size < without.size + 3 * 16 + 16 * BLOCKS + 64);
	assert_memory_equal(trace.data + without.size,
			    "CENS\x08\x40\0\0\x01\0\0\0\0\x04\0\0\x10\0\0\0\0\x7f\0\0\0\0\0\0\0\x01", 30);
	buf_free(&trace);
	buf_free(&without);
}

static void test_conversions_keep_all_blocks(void **state)
{
	static const char *const encodings[] = {"rtrace", "text", "stacktrack"};

	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++)
		for (size_t k = 0; k < ARRAY_SIZE(encodings); k++) {
			struct buf trace = {0}, other = {0}, dump = {0};

			write_trace(encodings[i], NULL, records, ARRAY_SIZE(records), &trace);
			assert_int_equal(convert_trace(trace.data, trace.size, encodings[k], false, &other), 0);
			dump_trace(other.data, other.size, &dump);
			assert_blocks(&dump);
			buf_free(&trace);
			buf_free(&other);
			buf_free(&dump);
		}
}

static void test_text_has_a_line_for_each_block(void **state)
{
	struct buf trace = {0};

	write_trace("text", NULL, records, ARRAY_SIZE(records), &trace);
	assert_non_null(strstr(buf_str(&trace), "\n## before <1> 0x7f0000000010 1099511627776\n"
						"## before <1> 0x7f0000000030 1\n"));
	buf_free(&trace);
}

static void check_omission(const char *encoding, bool compat)
{
	const struct writer_options options = {.compat = compat};
	const int fd = memory_file("", 0);
	struct writer *writer = writer_new(encoding_find(encoding), fd, &options);
	struct buf trace = {0};

	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		assert_int_equal(writer_put(writer, &records[i]), 0);
	assert_int_equal(writer_omissions(writer)->count[OMITTED_BASELINE], BLOCKS);
	assert_int_equal(writer_close(writer), 0);
	read_all(fd, &trace);
	assert_null(memmem(trace.data, trace.size, "before", 6));
	assert_null(memmem(trace.data, trace.size, "CENS", 4));
	buf_free(&trace);
}

static void test_omitted_blocks_are_counted(void **state)
{
	check_omission("rtrace", true);
	check_omission("text", true);
	check_omission("swap", false);
	check_omission("mpatrol", false);
}

/* The pipe is full, because its reader does not read, and functrace is asked to detach. The trace then ends after a
 * whole block of the baseline, not inside a block's data. */
static void test_trace_in_a_full_pipe_ends_with_a_whole_block(void **state)
{
	static const char *const encodings[] = {"rtrace", "text", "stacktrack"};

	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		int ends[2], asked[2];
		ssize_t got;
		struct buf trace = {0}, dump = {0};

		assert_int_equal(pipe(ends), 0);
		assert_int_equal(pipe(asked), 0);
		assert_int_equal(write(asked[1], "", 1), 1);
		assert_true(fcntl(ends[1], F_SETPIPE_SZ, 8192) >= 8192);
		const struct writer_options options = {.let_go = &asked[0]};
		struct writer *writer = writer_new(encoding_find(encodings[i]), ends[1], &options);
		int error = 0;

		for (size_t k = 0; k < ARRAY_SIZE(records) && !error; k++)
			error = writer_put(writer, &records[k]);
		assert_int_equal(error ? error : writer_flush(writer), -ETIME);
		writer_close(writer);
		close(ends[1]);
		while ((got = read(ends[0], buf_room(&trace, 4096), 4096)) > 0)
			trace.size += (size_t)got;
		close(ends[0]);
		dump_trace(trace.data, trace.size, &dump);
		if (!strstr(buf_str(&dump), "before 1 7f0000000030 1\n") || !strstr(buf_str(&dump), "\n0 skipped=0"))
			fail_msg("%s: %s", encodings[i], buf_str(&dump));
		close(asked[0]);
		close(asked[1]);
		buf_free(&trace);
		buf_free(&dump);
	}
}

/* A packet consists of its type, its size, the resource, the count and the blocks. */
static void test_damaged_packets_are_reported(void **state)
{
	assert_packet_is_read(records, 2, "43454e53 04000000 01000000",
			      "a CENS packet of 4 bytes is too short for what it holds");
	assert_packet_is_read(records, 2, "43454e53 08000000 01000000 01000000",
			      "a CENS packet of 8 bytes is too short for what it holds");
	assert_packet_is_read(records, 2, "43454e53 10000000 01000000 01000000 1000000000000000",
			      "a CENS packet of 16 bytes is too short for what it holds");
	assert_packet_is_read(records, 2, "43454e53 18000000 01000000 ffffffff 1000000000000000 0200000000000000",
			      "a CENS packet of 24 bytes is too short for what it holds");
	assert_packet_is_read(records, 2, "43454e53 18000000 01000000 01000000 1000000000000000 0200000000000000",
			      "before 1 10 2\n");
	assert_packet_is_read(records, 2, "43454e53 08000000 01000000 00000000", "resource 1 0 memory (in bytes)\n");
}

/* Lines that only look like lines of a baseline are read as notes. */
static void test_similar_lines_are_read_as_notes(void **state)
{
	static const char *const lines[] = {
		"## before <1> 0x10",    "## before <1> 0x10 -1",        "## before <1> 0x10 1 ",
		"## before 1 0x10 1",    "## before <1> 10 1",           "## before <x> 0x10 1",
		"## before <1> 0x10 1x", "## before <100000000> 0x10 1", "## before <1> 0x10 18446744073709551616"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_line_is_read(lines[i], "note before ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_contain_all_blocks),
		cmocka_unit_test(test_conversions_keep_all_blocks),
		cmocka_unit_test(test_text_has_a_line_for_each_block),
		cmocka_unit_test(test_omitted_blocks_are_counted),
		cmocka_unit_test(test_damaged_packets_are_reported),
		cmocka_unit_test(test_similar_lines_are_read_as_notes),
		cmocka_unit_test(test_trace_in_a_full_pipe_ends_with_a_whole_block),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
