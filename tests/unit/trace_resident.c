/* Tests the records of resident memory in each format: they are read back, or counted as omitted. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "trace_util.h"

#include <string.h>

static const struct record records[] = {
	{.type = RECORD_PROCESS, .process = {.arch = "x86_64", .pointer_size = 8, .pid = 7, .has_pid = true}},
	{.type = RECORD_RESOURCE, .resource = {1, 0, "memory", "in bytes"}},
	{.type = RECORD_RESIDENT, .resident = {4096, UINT64_C(6) << 32}},
	{CALL_RECORD(.index = 1, .time_ns = TIME_NONE, .resource = 1, .kind = CALL_RELEASE, .function = "free",
		     .id = 0x10)},
	{.type = RECORD_RESIDENT, .resident = {0, 1}},
};

static void test_conversions_keep_resident_memory(void **state)
{
	static const char *const encodings[] = {"rtrace", "text", "stacktrack"};

	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++)
		for (size_t k = 0; k < ARRAY_SIZE(encodings); k++) {
			struct buf trace = {0}, other = {0}, dump = {0};

			write_trace(encodings[i], NULL, records, ARRAY_SIZE(records), &trace);
			assert_int_equal(convert_trace(trace.data, trace.size, encodings[k], false, &other), 0);
			dump_trace(other.data, other.size, &dump);
			const char *const first = strstr(buf_str(&dump), "resident 4096 25769803776\n");
			const char *const call = strstr(buf_str(&dump), "call 1 ");
			const char *const last = strstr(buf_str(&dump), "resident 0 1\n");

			if (!first || !call || !last || first > call || call > last)
				fail_msg("%s to %s: %s", encodings[i], encodings[k], buf_str(&dump));
			buf_free(&trace);
			buf_free(&other);
			buf_free(&dump);
		}
}

/* A reader that knows only the format's document can skip the packet RESI by its size, and the line "## resident" as a
 * comment. */
static void test_packet_and_line_can_be_skipped(void **state)
{
	struct buf binary = {0}, text = {0};

	write_trace("rtrace", NULL, records, ARRAY_SIZE(records), &binary);
	write_trace("text", NULL, records, ARRAY_SIZE(records), &text);
	assert_non_null(memmem(binary.data, binary.size, "RESI\x10\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\x06\0\0\0", 24));
	assert_non_null(strstr(buf_str(&text), "\n## resident 4096 25769803776\n"));
	buf_free(&binary);
	buf_free(&text);
}

static void check_omission(const char *encoding, bool compat)
{
	const struct writer_options options = {.compat = compat};
	const int fd = memory_file("", 0);
	struct writer *writer = writer_new(encoding_find(encoding), fd, &options);
	struct buf trace = {0};

	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		assert_int_equal(writer_put(writer, &records[i]), 0);
	assert_int_equal(writer_omissions(writer)->count[OMITTED_RESIDENT], 2);
	assert_int_equal(writer_close(writer), 0);
	read_all(fd, &trace);
	assert_null(memmem(trace.data, trace.size, "resident", 8));
	assert_null(memmem(trace.data, trace.size, "RESI", 4));
	buf_free(&trace);
}

/* The tracer calls encoding_can() before it reads the resident memory from the status file. */
static void test_omitted_records_are_counted(void **state)
{
	static const struct {
		const char *name;
		bool can, compat_can;
	} rows[] = {{"rtrace", true, false},
		    {"text", true, false},
		    {"stacktrack", true, true},
		    {"swap", false, false},
		    {"mpatrol", false, false}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct encoding *const encoding = encoding_find(rows[i].name);
		const struct encoding *const compat = encoding_compat(encoding);

		assert_int_equal(encoding_can(encoding, ENCODING_RESIDENT), rows[i].can);
		if (compat)
			assert_int_equal(encoding_can(compat, ENCODING_RESIDENT), rows[i].compat_can);
		if (!rows[i].can)
			check_omission(rows[i].name, false);
		if (compat && !rows[i].compat_can)
			check_omission(rows[i].name, true);
	}
}

static void test_damaged_packets_are_reported(void **state)
{
	assert_packet_is_read(records, 2, "52455349 00000000",
			      "a RESI packet of 0 bytes is too short for what it holds");
	assert_packet_is_read(records, 2, "52455349 0c000000 0100000000000000 02000000",
			      "a RESI packet of 12 bytes is too short for what it holds");
	assert_packet_is_read(records, 2, "52455349 10000000 0100000000000000 0200000000000000", "resident 1 2\n");
}

/* Lines that only look like lines of resident memory are read as notes. */
static void test_similar_lines_are_read_as_notes(void **state)
{
	static const char *const lines[] = {"## resident ",    "## resident 1",    "## resident 1 ",
					    "## resident 1 -", "## resident 1 2 ", "## resident 1 18446744073709551616",
					    "## resident x 2", "## resident 1  2", "## resident memory is large"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_line_is_read(lines[i], "note resident ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conversions_keep_resident_memory),
		cmocka_unit_test(test_packet_and_line_can_be_skipped),
		cmocka_unit_test(test_omitted_records_are_counted),
		cmocka_unit_test(test_damaged_packets_are_reported),
		cmocka_unit_test(test_similar_lines_are_read_as_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
