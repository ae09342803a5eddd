/* Tests the mpatrol format with known bytes and with damaged ones. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "trace_util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The records of a trace, which follow the header: two threads, names in the caches of functions and of files, a
 * reallocation. */
#define EXAMPLE                                                                                                        \
	"48 80a0d6aad5aa15 80a008"                                                                                     \
	"41 01 a0a5d6aad5aa15 64 01 816d61696e00 8170726f672e6300 0c"                                                  \
	"41 02 90a6d6aad5aa15 c801 02 82776f726b00 01 22"                                                              \
	"41 03 9080d8a2a3e21f 808008 01 01 00 00"                                                                      \
	"52 02 e0a7d6aad5aa15 a01f 02 02 01 23"                                                                        \
	"46 01 00000000"                                                                                               \
	"46 03 01010000"                                                                                               \
	"4d545243"

#define EXAMPLE_RECORDS                                                                                                \
	"resource 1 0 memory (memory allocation in bytes)\n"                                                           \
	"area 555555559000+135168\n"                                                                                   \
	"thread 1 \n"                                                                                                  \
	"call 1 r=1 c=0 k=2 malloc id=5555555592a0 size=100 frames 0{ in main() at prog.c:12}\n"                       \
	"thread 2 \n"                                                                                                  \
	"call 2 r=1 c=0 k=2 malloc id=555555559310 size=200 frames 0{ in work() at prog.c:34}\n"                       \
	"thread 1 \n"                                                                                                  \
	"call 3 r=1 c=0 k=2 malloc id=7f1234560010 size=131072 frames 0{ in main()}\n"                                 \
	"thread 2 \n"                                                                                                  \
	"call 4 r=1 c=0 k=1 realloc id=555555559310 size=0\n"                                                          \
	"call 5 r=1 c=0 k=2 realloc id=5555555593e0 size=4000 frames 0{ in work() at prog.c:35}\n"                     \
	"thread 0 \n"                                                                                                  \
	"call 6 r=1 c=0 k=1 free id=5555555592a0 size=0\n"                                                             \
	"thread 1 \n"                                                                                                  \
	"call 7 r=1 c=0 k=1 free id=7f1234560010 size=0 frames 0{ in main()}\n"                                        \
	"0 skipped=0\n"

static const struct {
	const char *header, *words;
} forms[] = {
	{"4d545243 0100000000000000 0529000000000000", "p8 little"},
	{"4d545243 0000000000000001 0000000000002905", "p8 big"},
	{"4d545243 01000000 05290000", "p4 little"},
	{"4d545243 00000001 00002905", "p4 big"},
};

static void test_example_is_read_and_written(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct buf bytes = {0}, dump = {0}, again = {0};
		char expected[2048];

		unhex(forms[i].header, &bytes);
		unhex(EXAMPLE, &bytes);
		dump_trace(bytes.data, bytes.size, &dump);
		snprintf(expected, sizeof(expected),
			 "process v1.5 arch=- %s start=0.000000/- name=- origin=mpatrol 1.5.1 filters=0 notimes\n%s",
			 forms[i].words, EXAMPLE_RECORDS);
		assert_text(&dump, expected);
		assert_int_equal(convert_trace(bytes.data, bytes.size, "mpatrol", false, &again), 0);
		assert_bytes(forms[i].words, &again, &bytes);
		buf_free(&bytes);
		buf_free(&dump);
		buf_free(&again);
	}
}

/* A trace that mpatrol's library has written. */
static void test_trace_of_mpatrols_library_is_read(void **state)
{
	static const char real64[] =
		"4d54524301000000000000000529000000000000498080cc8899fb1f808001498080cb8899fb1f808001498080ca8899fb1f"
		"8080014880a0cdd897c61580204980e0c78799fb1f808001410180a0cdd897c6150a0081776f726b00812e2e2f2e2e2f742e"
		"630004410290a0cdd897c6151500826d61696e0001054880c0a0cdd897c61580405201b0a0cdd897c6158827000201054103"
		"a5a0cdd897c615060002010546020002010546030002"
		"01054d545243";
	static const char real32[] =
		"4d545243010000000529 0000498 0c0d9bf0f80800149 80c0d8bf0f80800149 80c0d7bf0f8080014880e08ebd058020"
		"4980c0ccbe0f808001410180e08ebd050a0081776f726b00812e2e2f2e2e2f742e63000441028ce08ebd051500826d61696e"
		"000105 4880808fbd058040 5201a4e08ebd05882700020105 410380e08ebd050600020105 460200020105"
		"460300020105 4d545243";
	static const char *const traces[] = {real64, real32};

	for (size_t i = 0; i < ARRAY_SIZE(traces); i++) {
		struct buf bytes = {0}, dump = {0}, again = {0};
		char packed[1024];
		size_t length = 0;

		for (const char *c = traces[i]; *c; c++)
			if (*c != ' ')
				packed[length++] = *c;
		packed[length] = '\0';
		unhex(packed, &bytes);
		assert_int_equal(bytes.size, i ? 149 : 178);
		dump_trace(bytes.data, bytes.size, &dump);
		assert_non_null(strstr(buf_str(&dump), " internal\n"));
		assert_non_null(strstr(buf_str(&dump), " frames 0{ in work() at ../../t.c:4}\n"));
		assert_non_null(strstr(buf_str(&dump), "\n0 skipped=0\n"));
		assert_int_equal(convert_trace(bytes.data, bytes.size, "mpatrol", false, &again), 0);
		assert_bytes("as the library wrote it", &again, &bytes);
		buf_free(&bytes);
		buf_free(&dump);
		buf_free(&again);
	}
}

/* Before version 1.4.5 records did not name their source, and a reallocation was a second A record. */
static void test_trace_of_an_older_version_is_read(void **state)
{
	struct buf bytes = {0}, dump = {0};

	unhex("4d545243 00000001 0000283c 41 13 a001 0a 41 15 a002 0b 41 13 a003 0c 46 13 4d545243 ffff", &bytes);
	dump_trace(bytes.data, bytes.size, &dump);
	assert_text(&dump, "process v1.3 arch=- p4 big start=0.000000/- name=- origin=mpatrol 1.3.0 filters=0 notimes\n"
			   "resource 1 0 memory (memory allocation in bytes)\n"
			   "call 1 r=1 c=0 k=2 malloc id=a0 size=10 [#index=19]\n"
			   "call 2 r=1 c=0 k=2 malloc id=120 size=11 [#index=21]\n"
			   "call 3 r=1 c=0 k=1 realloc id=a0 size=0\n"
			   "call 4 r=1 c=0 k=2 realloc id=1a0 size=12\n"
			   "call 5 r=1 c=0 k=1 free id=1a0 size=0\n"
			   "0 skipped=0\n");
	dump.size = 0;
	/* Indexes with gaps are kept through other formats. */
	struct buf text = {0}, again = {0};

	assert_int_equal(convert_trace(bytes.data, bytes.size, "rtrace", false, &text), 0);
	assert_int_equal(convert_trace(text.data, text.size, "mpatrol", false, &again), 0);
	dump_trace(again.data, again.size, &dump);
	assert_non_null(strstr(buf_str(&dump), "id=120 size=11 [#index=21]\n"));
	buf_free(&bytes);
	buf_free(&dump);
	buf_free(&text);
	buf_free(&again);
}

static char said[512];

static void add_message(void *context, const char *clause)
{
	(void)context;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", clause);
}

/* Reads a trace to its end; returns the last status. `said` gets the reader's messages. */
static int read_through(const void *data, size_t size, uint64_t *calls, uint64_t *complaints, char *error)
{
	const struct reader_options options = {.complain = add_message};
	struct reader *reader = reader_new(memory_file(data, size), &options, error, 512);
	struct record record;
	int status;

	said[0] = '\0';
	*calls = 0;
	assert_non_null(reader);
	while ((status = reader_next(reader, &record)) == 1)
		*calls += record.type == RECORD_CALL;
	snprintf(error, 512, "%s", status ? reader_error(reader) : "");
	*complaints = reader_complaints(reader);
	reader_close(reader);
	return status;
}

/* A truncated trace is read as far as possible. A missing end mark is reported, and does not count as damage. */
static void test_truncated_trace_is_read_as_far_as_possible(void **state)
{
	struct buf bytes = {0};
	uint64_t calls, complaints, before = 0, whole = 0;
	char error[512];

	unhex(forms[0].header, &bytes);
	unhex(EXAMPLE, &bytes);
	for (size_t size = 4; size <= bytes.size; size++) {
		const int status = read_through(bytes.data, size, &calls, &complaints, error);

		assert_true(calls >= before);
		before = calls;
		assert_int_equal(complaints, 0);
		if (size == bytes.size)
			assert_string_equal(said, "");
		if (status) {
			assert_non_null(strstr(error, "the trace is cut off: it ends at byte "));
			continue;
		}
		whole += size < bytes.size;
		assert_string_equal(said, size < bytes.size ? "the trace has no end mark: the program that wrote it "
							      "was killed, or still runs\n"
							    : "");
	}
	assert_int_equal(before, 7);
	/* The trace is valid if it ends after the header, or after any of the seven records. */
	assert_int_equal(whole, 8);
	buf_free(&bytes);
}

static const struct {
	const char *hex;
	int status;
	uint64_t calls, complaints;
	const char *message;
} damaged[] = {
	{"4d545243 02000000 05290000", -EBADMSG, 0, 0,
	 "the trace is damaged at byte 4: the header's first word is not 1 in any size and byte order"},
	{"4d545243 01000000 68290000", -EBADMSG, 0, 0,
	 "the trace is damaged at byte 8: the format's version is 10600; versions below 10600 are known"},
	{"4d545243 01000000 05290000 58", -EBADMSG, 0, 0, "the trace is damaged at byte 12: no record has the type 58"},
	{"4d545243 01000000 05290000 4d545244", -EBADMSG, 0, 0,
	 "the trace is damaged at byte 12: neither a record nor the trailer begins here"},
	{"4d545243 01000000 05290000 4d54", -EBADMSG, 0, 0,
	 "the trace is cut off: it ends at byte 14 within an M record that begins at byte 12"},
	{"4d545243 01000000 05290000 48 ffffffffffffffffff02 00", -EBADMSG, 0, 0,
	 "the trace is damaged at byte 22: a number has more than 64 bits"},
	{"4d545243 01000000 05290000 48 8080808080808080808000 00", -EBADMSG, 0, 0,
	 "the trace is damaged at byte 23: a number has more than 64 bits"},
	{"4d545243 01000000 05290000 48 ffffffffffffffffff01 00 4d545243", 0, 0, 0, ""},
	/* The reader reports and counts a record about an unknown block, and continues. */
	{"4d545243 01000000 05290000 46 07 00000000 4d545243", 0, 0, 1,
	 "the F record at byte 12 is of block 7, which is not live\n"},
	{"4d545243 01000000 05290000 52 07 10 20 00000000 4d545243", 0, 1, 1,
	 "the R record at byte 12 is of block 7, which is not live\n"},
	/* If a record refers to a slot for names that no record has defined, there is no name. Slots 0 and 127 can be
	 * defined. */
	{"4d545243 01000000 05290000 41 01 10 20 00 05 06 07 41 02 11 20 00 806100 ff6200 01 4d545243", 0, 2, 0, ""},
};

static void test_damage_is_reported(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		struct buf bytes = {0};
		uint64_t calls, complaints;
		char error[512];

		unhex(damaged[i].hex, &bytes);
		const int status = read_through(bytes.data, bytes.size, &calls, &complaints, error);

		assert_string_equal(status ? error : said, damaged[i].message);
		assert_int_equal(status, damaged[i].status);
		assert_int_equal(calls, damaged[i].calls);
		assert_int_equal(complaints, damaged[i].complaints);
		buf_free(&bytes);
	}
}

static const struct record process = {.type = RECORD_PROCESS, .process = {.pointer_size = 8}};

static struct record call_at(const char *const *text, enum call_kind kind, const char *function, uint64_t id)
{
	static const uint64_t address[1];

	return (struct record){CALL_RECORD(.time_ns = TIME_NONE, .resource = 1, .kind = kind, .function = function,
					   .id = id, .size = 8, .frames = address, .frame_texts = text,
					   .frame_count = text ? 1 : 0, .has_frames = text)};
}

/* The writer has 32 slots for names, as mpatrol's library has: the 33rd name replaces the least recently used one. */
static void test_least_recently_used_name_loses_its_slot(void **state)
{
	char names[34][16];
	const char *texts[34];
	struct record records[37] = {process};
	struct buf bytes = {0};

	for (unsigned i = 0; i < 34; i++) {
		snprintf(names[i], sizeof(names[i]), " in f%u()", i);
		texts[i] = names[i];
	}
	for (unsigned i = 0; i < 32; i++)
		records[1 + i] = call_at(&texts[i], CALL_ALLOC, "malloc", 0x10 + i);
	records[33] = call_at(&texts[0], CALL_ALLOC, "malloc", 0x40);
	records[34] = call_at(&texts[32], CALL_ALLOC, "malloc", 0x41);
	records[35] = call_at(&texts[0], CALL_ALLOC, "malloc", 0x42);
	records[36] = call_at(&texts[1], CALL_ALLOC, "malloc", 0x43);
	write_trace("mpatrol", NULL, records, ARRAY_SIZE(records), &bytes);
	/* The last four records: f0 has a slot, f32 takes f1's slot, f0 still has its slot, f1 takes f2's. */
	static const unsigned char tail[] = "A!\x40\x08\0\x01\0\0"
					    "A\"\x41\x08\0\x82"
					    "f32\0\0\0"
					    "A#\x42\x08\0\x01\0\0"
					    "A$\x43\x08\0\x83"
					    "f1\0\0\0MTRC";

	assert_true(bytes.size > sizeof(tail));
	assert_memory_equal(bytes.data + bytes.size - (sizeof(tail) - 1), tail, sizeof(tail) - 1);
	buf_free(&bytes);
}

static size_t name_address(void *context, uint64_t address, const struct frame_name **names)
{
	static const struct frame_name inlined[] = {
		{.function = "inner", .file = "a.h", .line = 3, .inlined = true},
		{.function = "outer", .file = "a.c", .line = 9},
	};
	unsigned *asked = context;

	++*asked;
	*names = inlined;
	return address == 0x1005 ? 2 : 0;
}

/* The writer asks the namer once for each address. An address without a name is named by the object that contains the
 * address. */
static void test_each_address_is_named_once(void **state)
{
	static const uint64_t named = 0x1005, unnamed = 0x1107, nowhere = 0x5000;
	static const uint64_t *const frames[] = {&named, &unnamed, &named, &nowhere};
	unsigned asked = 0;
	const struct writer_options options = {.namer = name_address, .namer_context = &asked};
	struct record records[6] = {
		process, {.type = RECORD_OBJECT, .object = {.from = 0x1000, .to = 0x2000, .path = "/lib/liba.so"}}};
	struct buf bytes = {0}, dump = {0};

	for (unsigned i = 0; i < 4; i++) {
		records[2 + i] = call_at(NULL, CALL_ALLOC, "malloc", 0x10 + i);
		records[2 + i].call.frames = frames[i];
		records[2 + i].call.frame_count = 1;
		records[2 + i].call.has_frames = true;
	}
	write_trace("mpatrol", &options, records, ARRAY_SIZE(records), &bytes);
	assert_int_equal(asked, 3);
	dump_trace(bytes.data, bytes.size, &dump);
	assert_text(&dump, "process v1.5 arch=- p8 little start=0.000000/- name=- origin=mpatrol 1.5.1 filters=0 "
			   "notimes\nresource 1 0 memory (memory allocation in bytes)\n"
			   "call 1 r=1 c=0 k=2 malloc id=10 size=8 frames 0{ in inner() at a.h:3}\n"
			   "call 2 r=1 c=0 k=2 malloc id=11 size=8 frames 0{ in liba.so+0x107}\n"
			   "call 3 r=1 c=0 k=2 malloc id=12 size=8 frames 0{ in inner() at a.h:3}\n"
			   "call 4 r=1 c=0 k=2 malloc id=13 size=8\n"
			   "0 skipped=0\n");
	buf_free(&bytes);
	buf_free(&dump);
}

/* A name for which there is no room is truncated, and counted. */
static void test_long_name_is_truncated_and_counted(void **state)
{
	char name[2048] = " in ";
	const char *text = name;
	struct buf bytes = {0};

	memset(name + 4, 'x', 1500);
	const struct record records[] = {process, call_at(&text, CALL_ALLOC, "malloc", 0x10)};

	assert_int_equal(write_trace("mpatrol", NULL, records, ARRAY_SIZE(records), &bytes), 1);
	assert_int_equal(bytes.size, 20 + 6 + 1023 + 1 + 2 + 4);
	buf_free(&bytes);
}

/* A thread whose number has more than 32 bits gets another number, and its own number as its name. */
static void test_64_bit_threads_are_distinguished(void **state)
{
	struct buf bytes = {0}, dump = {0};

	unhex("4d545243 01000000 05290000 41 01 10 01 05 0000 00 41 02 11 01 8580808080 10 0000 00"
	      "41 03 12 01 05 0000 00 4d545243",
	      &bytes);
	dump_trace(bytes.data, bytes.size, &dump);
	assert_non_null(strstr(buf_str(&dump), "thread 5 \ncall 1"));
	assert_non_null(strstr(buf_str(&dump), "thread 1 0x8000000005\ncall 2"));
	assert_non_null(strstr(buf_str(&dump), "thread 5 \ncall 3"));
	buf_free(&bytes);
	buf_free(&dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example_is_read_and_written),
		cmocka_unit_test(test_trace_of_mpatrols_library_is_read),
		cmocka_unit_test(test_trace_of_an_older_version_is_read),
		cmocka_unit_test(test_truncated_trace_is_read_as_far_as_possible),
		cmocka_unit_test(test_damage_is_reported),
		cmocka_unit_test(test_least_recently_used_name_loses_its_slot),
		cmocka_unit_test(test_each_address_is_named_once),
		cmocka_unit_test(test_long_name_is_truncated_and_counted),
		cmocka_unit_test(test_64_bit_threads_are_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
