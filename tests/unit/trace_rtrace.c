/* Tests the rtrace binary format byte by byte. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "trace_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum sample {
	PROCESS,
	MODULE,
	RESOURCE,
	CONTEXT,
	OBJECT,
	BUILD_ID,
	THREAD,
	NOTE,
	COMMENT,
	SAMPLE_ALLOC,
	SAMPLE_RELEASE,
	SAMPLE_COPY,
	SAMPLE_HUGE,
	RESOURCE_2,
	SAMPLE_TYPED,
	HEAP,
	ATTACHMENT,
	SAMPLES,
};
enum { V14 = 0, COMPAT = 1, P4 = 4, P8 = 8, LITTLE = 0, BIG = 1 };

static const struct golden {
	enum sample sample;
	int dialect, pointer, order;
	const char *hex;
} golden[] = {
#include "trace_rtrace_bytes.h"
};

static uint64_t frames[2];
static const struct call_arg args[] = {{"nmemb", "2"}, {"", "12"}};

#define TIME UINT64_C(3661001999999) /* 01:01:01.001 */

/* Makes the records that the golden bytes contain. */
static void make_samples(struct record *r, int pointer, int order)
{
	static const char *const archs[2][2] = {{"i686", "ppc"}, {"x86_64", "ppc64"}};
	const uint64_t high = pointer == P8 ? 0x7f0000000456 : 0xf7000456;

	frames[0] = 0x400123;
	frames[1] = high;
	r[PROCESS] = (struct record){
		PROCESS_RECORD(.arch = archs[pointer == P8][order], .pointer_size = (unsigned)pointer,
			       .big_endian = order == BIG, .pid = 4242, .has_pid = true, .start_sec = 1700000000,
			       .start_usec = 123456, .depth = 10, .has_depth = true, .name = "/bin/prog")};
	r[MODULE] = (struct record){.type = RECORD_MODULE, .module = {1, 1, 2, "memory"}};
	r[RESOURCE] =
		(struct record){.type = RECORD_RESOURCE, .resource = {1, 0, "memory", "memory allocation in bytes"}};
	r[RESOURCE_2] =
		(struct record){.type = RECORD_RESOURCE, .resource = {2, RESOURCE_REFCOUNT | RESOURCE_CALL, "fd", ""}};
	r[CONTEXT] = (struct record){.type = RECORD_CONTEXT, .context = {2, "2nd context"}};
	r[OBJECT] = (struct record){.type = RECORD_OBJECT, .object = {0x400000, 0x401000, "/bin/prog"}};
	r[BUILD_ID] = (struct record){.type = RECORD_BUILD_ID, .build_id = {0x400000, "0badcafe"}};
	r[THREAD] = (struct record){.type = RECORD_THREAD, .thread = {4243, "io"}};
	r[NOTE] = (struct record){.type = RECORD_NOTE, .note = {"exit 0"}};
	r[COMMENT] = (struct record){.type = RECORD_COMMENT, .comment = {"only for text"}};
	r[SAMPLE_ALLOC] = (struct record){CALL_RECORD(.index = 1, .time_ns = TIME, .resource = 1, .kind = CALL_ALLOC,
						      .function = "malloc", .id = 0x602010, .size = 100)};
	/* Midnight is written as one millisecond later, because 0 means no time. */
	r[SAMPLE_RELEASE] = (struct record){CALL_RECORD(.index = 2, .time_ns = UINT64_C(86400000000000), .context = 3,
							.kind = CALL_RELEASE, .function = "free", .id = 0x602010,
							.frames = frames, .frame_count = 2, .has_frames = true)};
	r[SAMPLE_COPY] =
		(struct record){CALL_RECORD(.index = 3, .time_ns = TIME_NONE, .resource = 1, .kind = CALL_COPY,
					    .function = "memcpy", .size = 8, .frames = frames + 1, .frame_count = 1,
					    .has_frames = true, .end = STACK_CUT, .args = args, .arg_count = 2)};
	r[SAMPLE_HUGE] = (struct record){CALL_RECORD(.index = 4, .time_ns = TIME, .resource = 1, .kind = CALL_ALLOC,
						     .function = "mmap", .id = 0x10, .size = UINT64_C(0x100000001),
						     .has_frames = true)};
	r[SAMPLE_TYPED] = (struct record){CALL_RECORD(.index = 5, .time_ns = TIME, .resource = 2, .kind = CALL_ALLOC,
						      .function = "open", .id = 4, .size = 1)};
	r[HEAP] = (struct record){
		.type = RECORD_HEAP,
		.heap = {0x602000, 0x623000, {0x21000, 1, 2, 3, 4, 5, 6, 7, 8, UINT64_C(1) << 32}, 0, 0}};
	r[ATTACHMENT] = (struct record){.type = RECORD_ATTACHMENT, .attachment = {"pagemap", "4242-pagemap-0"}};
}

static void check_golden_writing(const struct golden *want, int dialect, int pointer, int order)
{
	const struct writer_options options = {.compat = dialect == COMPAT};
	const int fd = memory_file("", 0);
	struct writer *writer = writer_new(encoding_find("rtrace"), fd, &options);
	struct record records[SAMPLES];
	struct buf all = {0};
	size_t written = 0, compared = 0;

	make_samples(records, pointer, order);
	for (size_t i = 0; i < SAMPLES; i++) {
		struct buf got = {0}, expected = {0};

		assert_int_equal(writer_put(writer, &records[i]), 0);
		assert_int_equal(writer_flush(writer), 0);
		all.size = 0;
		read_all(fd, &all);
		buf_add(&got, all.data + written, all.size - written);
		written = all.size;
		for (const struct golden *g = want; g < golden + ARRAY_SIZE(golden); g++) {
			char what[80];

			if (g->sample != i || g->dialect != dialect || g->pointer != pointer || g->order != order)
				continue;
			snprintf(what, sizeof(what), "sample %zu, %s, %d-byte pointers, %s endian", i,
				 dialect == COMPAT ? "compat" : "1.4", pointer, order == BIG ? "big" : "little");
			unhex(g->hex, &expected);
			assert_bytes(what, &got, &expected);
			compared++;
		}
		buf_free(&got);
		buf_free(&expected);
	}
	assert_int_equal(compared, SAMPLES);
	/* The compat dialect cannot represent mmap's size of more than 4 GiB. In both dialects HINF cannot represent
	 * the heap's last figure, 2^32. */
	assert_int_equal(writer_cut_count(writer), dialect == COMPAT ? 2 : 1);
	assert_int_equal(writer_close(writer), 0);
	close(fd);
	buf_free(&all);
}

static void test_golden_bytes_are_written(void **state)
{
	for (int dialect = V14; dialect <= COMPAT; dialect++)
		for (int pointer = P4; pointer <= P8; pointer += P8 - P4)
			for (int order = LITTLE; order <= BIG; order++)
				check_golden_writing(golden, dialect, pointer, order);
}

/* The records that the reader returns for the samples. A time that is more than an hour before the last one is the next
 * day's. */
static const char *const read_14 =
	"process v1.4 arch=%s p%d %s pid=4242 start=1700000000.123456/- depth=10 name=/bin/prog"
	" origin=- filters=0\n"
	"module 1 memory 1.2\n"
	"resource 1 0 memory (memory allocation in bytes)\n"
	"context 2 2nd context\n"
	"object 400000-401000 /bin/prog\n"
	"build-id 400000 0badcafe\n"
	"thread 4243 io\n"
	"note exit 0\n"
	"call 1 t=90061001999000 r=1 c=0 k=2 malloc id=602010 size=100\n"
	"call 2 t=172800001000000 r=1 c=3 k=1 free id=602010 size=0 frames 400123 %llx\n"
	"call 3 r=1 c=0 k=3 memcpy id=0 size=8 [nmemb=2] [=12] frames %llx lost\n"
	"call 4 t=176461001999000 r=1 c=0 k=2 mmap id=10 size=4294967297 frames\n"
	"resource 2 3 fd ()\n"
	"call 5 t=176461001999000 r=2 c=0 k=2 open id=4 size=1\n"
	"heap 602000-623000 0-0 135168 1 2 3 4 5 6 7 8 4294967295\n"
	"attachment pagemap 4242-pagemap-0\n"
	"0 skipped=0\n";

static const char *const read_compat =
	"process v2.0 arch=%s p%d %s pid=4242 start=1700000000.123456/- depth=10 name=/bin/prog"
	" origin=- filters=0\n"
	"module 1 memory 1.2\n"
	"resource 1 0 memory (memory allocation in bytes)\n"
	"context 2 2nd context\n"
	"object 400000-401000 /bin/prog\n"
	"call 1 t=3661001000000 r=1 c=0 k=2 malloc id=602010 size=100 frames\n"
	"call 2 t=86400001000000 r=1 c=3 k=1 free id=602010 size=0 frames 400123 %llx\n"
	"call 3 r=1 c=0 k=2 memcpy id=0 size=8 [nmemb=2] [=12] frames %llx\n"
	"call 4 t=90061001000000 r=1 c=0 k=2 mmap id=10 size=4294967295 frames\n"
	"resource 2 1 fd ()\n"
	"call 5 t=90061001000000 r=2 c=0 k=2 open id=4 size=1 frames\n"
	"heap 602000-623000 0-0 135168 1 2 3 4 5 6 7 8 4294967295\n"
	"attachment pagemap 4242-pagemap-0\n"
	"0 skipped=0\n";

static void check_golden_reading(int dialect, int pointer, int order)
{
	static const char *const archs[2][2] = {{"i686", "ppc"}, {"x86_64", "ppc64"}};
	const unsigned long long high = pointer == P8 ? 0x7f0000000456 : 0xf7000456;
	struct buf bytes = {0}, got = {0}, expected = {0};

	for (int sample = 0; sample < SAMPLES; sample++)
		for (size_t i = 0; i < ARRAY_SIZE(golden); i++)
			if ((int)golden[i].sample == sample && golden[i].dialect == dialect &&
			    golden[i].pointer == pointer && golden[i].order == order)
				unhex(golden[i].hex, &bytes);
	dump_trace(bytes.data, bytes.size, &got);
	buf_printf(&expected, dialect == COMPAT ? read_compat : read_14, archs[pointer == P8][order], pointer,
		   order == BIG ? "big" : "little", high, high);
	assert_text(&got, buf_str(&expected));
	buf_free(&bytes);
	buf_free(&got);
	buf_free(&expected);
}

static void test_golden_bytes_are_read(void **state)
{
	for (int dialect = V14; dialect <= COMPAT; dialect++)
		for (int pointer = P4; pointer <= P8; pointer += P8 - P4)
			for (int order = LITTLE; order <= BIG; order++)
				check_golden_reading(dialect, pointer, order);
}

static void expect_reading(const char *hex, const char *expected)
{
	struct buf bytes = {0}, got = {0};

	unhex(hex, &bytes);
	dump_trace(bytes.data, bytes.size, &got);
	assert_text(&got, expected);
	buf_free(&bytes);
	buf_free(&got);
}

#define HANDSHAKE_2 "f00e0200 06783836 5f363400 08000000 "
#define PINF_2      "50494e46 1c000000 92100000 00f15365 40e20100 0a000000 0a002f62 696e2f70 726f6700 "
#define PROCESS_2                                                                                                      \
	"process v2.0 arch=x86_64 p8 little pid=4242 start=1700000000.123456/- depth=10 "                              \
	"name=/bin/prog origin=- filters=0\n"

/* The sp-rtrace 2.0 tools write OCFG into the file, FILE between a call and its stack, NLIB, an HINF with 4-byte
 * addresses, and types that even the document does not have. */
static void test_packets_of_sp_rtrace_are_read(void **state)
{
	expect_reading(HANDSHAKE_2 "4f434647 10000000 0a002f74 6d702f6f 75740000 02000000 " PINF_2
				   "4e4c4942 04000000 02002a00 "
				   "4d494e46 10000000 00000000 00000100 06006d61 696e0000 "
				   "43414c4c 24000000 01000000 00000000 c9dc3700 02000000 06006d61 6c6c6f63 "
				   "64000000 10206000 00000000 "
				   "41524753 1c000000 02000000 06006e6d 656d6200 02003200 06007369 7a650000 "
				   "02003132 "
				   "46494c45 0c000000 02006100 06006200 00000000 "
				   "58595a57 02000000 ffff"
				   "42545243 14000000 02000000 23014000 00000000 56040000 007f0000 "
				   "48494e46 30000000 00206000 00306200 00100200 01000000 02000000 03000000 "
				   "04000000 05000000 06000000 07000000 08000000 09000000",
		       PROCESS_2 "module 0 main 1.0\n"
				 "attachment a b\n"
				 "call 1 t=3661001000000 r=1 c=0 k=2 malloc id=602010 size=100 [nmemb=2] "
				 "[size=12] frames 400123 7f0000000456\n"
				 "heap 602000-623000 0-0 135168 1 2 3 4 5 6 7 8 9\n"
				 "0 skipped=1\n");
}

/* Before sp-rtrace 2.0 a packet began with its size, which includes the type. Version 1.1 has neither the depth nor the
 * flags.
 */
static void test_older_versions_are_read(void **state)
{
	expect_reading("f00e0101 06783836 5f363400 08000000 "
		       "1c000000 50494e46 92100000 00f15365 40e20100 0a002f62 696e2f70 726f6700 "
		       "14000000 52455352 01000000 06006d65 6d6f7279 02000000 "
		       "28000000 43414c4c 01000000 00000000 c9dc3700 02000000 06006d61 6c6c6f63 "
		       "64000000 10206000 00000000 "
		       "10000000 42545243 01000000 23014000 00000000",
		       "process v1.1 arch=x86_64 p8 little pid=4242 start=1700000000.123456/- "
		       "name=/bin/prog origin=- filters=0\n"
		       "resource 1 0 memory ()\n"
		       "call 1 t=3661001000000 r=1 c=0 k=2 malloc id=602010 size=100 frames 400123\n"
		       "0 skipped=0\n");
	/* A size of 3 does not include the type. */
	expect_reading("f00e0101 06783836 5f363400 08000000 "
		       "1c000000 50494e46 92100000 00f15365 40e20100 0a002f62 696e2f70 726f6700 "
		       "03000000 52455352",
		       "process v1.1 arch=x86_64 p8 little pid=4242 start=1700000000.123456/- "
		       "name=/bin/prog origin=- filters=0\n"
		       "-74 skipped=0 the trace is damaged at byte 48: a packet's size is 3, less "
		       "than the 4 bytes of its type\n");
}

#define AT_52 PROCESS_2 "-74 skipped=0 the trace is damaged at byte 52: "

static void test_hostile_packets_are_reported(void **state)
{
	const struct {
		const char *packet, *expected;
	} cases[] = {
		{"43414c4c ffffffff 00000000",
		 AT_52 "a CALL packet says that it has 4294967295 bytes, which no such packet has\n"},
		{"42545243 08000000 ffffffff 00000000", PROCESS_2 "0 skipped=1\n"},
		{"43414c4c 24000000 01000000 00000000 c9dc3700 02000000 06006d61 6c6c6f63 64000000 "
		 "10206000 00000000 42545243 08000000 ffffffff 00000000",
		 PROCESS_2 "call 1 t=3661001000000 r=1 c=0 k=2 malloc id=602010 size=100\n"
			   "-74 skipped=0 the trace is damaged at byte 96: a BTRC packet of 8 "
			   "bytes says that it has 4294967295 frames\n"},
		{"43414c4c 24000000 01000000 00000000 c9dc3700 02000000 06006d61 6c6c6f63 64000000 "
		 "10206000 00000000 41524753 0c000000 ffffffff 00000000 00000000",
		 PROCESS_2 "call 1 t=3661001000000 r=1 c=0 k=2 malloc id=602010 size=100\n"
			   "-74 skipped=0 the trace is damaged at byte 96: an ARGS packet of 12 "
			   "bytes says that it has 4294967295 arguments\n"},
		{"43414c4c 24000000 01000000 00000000 c9dc3700 02000000 ffff6d61 6c6c6f63 64000000 "
		 "10206000 00000000",
		 AT_52 "a CALL packet of 36 bytes has a string that goes beyond its end\n"},
		{"43414c4c 24000000 01000000 00000000 c9dc3700 02000000 10006d61 6c6c6f63 64000000 "
		 "10206000 00000000",
		 AT_52 "a CALL packet of 36 bytes is too short for what it holds\n"},
		{"43414c4c 24000000 01000000 00000000 c9dc3700 09000000 06006d61 6c6c6f63 64000000 "
		 "10206000 00000000",
		 AT_52 "a CALL packet of 36 bytes is neither an allocation nor a release\n"},
		{"43414c4c 0c000000 01000000 00000000 c9dc3700",
		 AT_52 "a CALL packet of 12 bytes is too short for what it holds\n"},
		{"58595a57 fcffffff 00000000",
		 PROCESS_2 "-74 skipped=1 the trace is damaged at byte 64: the trace ends here, "
			   "within a XYZW packet of 4294967292 bytes\n"},
		{"4d4d4150 04000000 00000000", AT_52 "a MMAP packet of 4 bytes is too short for what it holds\n"},
		{"01020304 00000000", AT_52 "no packet has the type 01 02 03 04\n"},
		{HANDSHAKE_2, AT_52 "a second trace begins here; split the file\n"},
		{"43414c4c 24000000 0100",
		 PROCESS_2 "-74 skipped=0 the trace is cut off: it ends at byte 62 within a CALL "
			   "packet that begins at byte 52\n"},
		{"4341", PROCESS_2 "-74 skipped=0 the trace is cut off: it ends at byte 54 within a "
				   "packet that begins at byte 52\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char hex[512];

		snprintf(hex, sizeof(hex), "%s%s", HANDSHAKE_2 PINF_2, cases[i].packet);
		expect_reading(hex, cases[i].expected);
	}
}

static void test_hostile_handshakes_are_reported(void **state)
{
	expect_reading("", "none: the input is empty: it contains no trace\n");
	expect_reading("f0", "-74 skipped=0 the trace is cut off: it ends at byte 1 within the "
			     "handshake that begins at byte 0\n");
	expect_reading("f00e0200 06783836 5f363400 08000000",
		       "-74 skipped=0 the trace is cut off: it ends at byte 16 within the handshake "
		       "or the first packet that begins at byte 0\n");
	expect_reading("f00e0200 ff783836 5f363400 08000000 50494e46 1c000000",
		       "-74 skipped=0 the trace is damaged at byte 0: the handshake is too short for "
		       "its content\n");
	expect_reading("f00e0300 06783836 5f363400 08000000 50494e46 1c000000",
		       "-74 skipped=0 the trace is damaged at byte 2: the format's version is 3.0; "
		       "versions before 3 are known\n");
	expect_reading("f00e0200 06783836 5f363402 08000000 50494e46 1c000000",
		       "-74 skipped=0 the trace is damaged at byte 11: byte order 2 and pointers of "
		       "8 bytes are unknown\n");
	expect_reading("f00e0104 06783836 5f363400 08000000 00000000 00000000",
		       "-74 skipped=0 the trace is damaged at byte 16: no packet begins here\n");
	expect_reading("4d5a9000 00000000",
		       "none: the input is no trace of a known format: it begins with other bytes than a "
		       "trace. Formats are: rtrace, text, mpatrol, stacktrack, swap, rows\n");
}

/* Writes a note of `length` bytes, of which `kept` are expected in the trace; `cut` is the expected number of truncated
 * values. */
static void expect_note(size_t length, size_t kept, uint64_t cut)
{
	struct record records[2] = {{.type = RECORD_PROCESS, .process = {.pointer_size = 8}}, {.type = RECORD_NOTE}};
	char *text = malloc(length + 1);
	struct buf bytes = {0}, got = {0}, expected = {0};

	memset(text, 'x', length);
	text[length] = '\0';
	records[1].note.text = text;
	assert_int_equal(write_trace("rtrace", NULL, records, 2, &bytes), cut);
	dump_trace(bytes.data, bytes.size, &got);
	if (cut)
		memcpy(text + kept - 3, "...", 4);
	buf_printf(&expected,
		   "process v1.4 arch=- p8 little start=0.000000/- depth=0 name=- origin=- filters=0\n"
		   "note %s\n0 skipped=0\n",
		   text);
	assert_text(&got, buf_str(&expected));
	buf_free(&bytes);
	buf_free(&got);
	buf_free(&expected);
	free(text);
}

static void test_long_strings_are_truncated(void **state)
{
	expect_note(0, 0, 0);
	expect_note(65531, 65531, 0);
	expect_note(65532, 65531, 1);
	expect_note(200000, 65531, 1);
}

/* No packet of the compat dialect is longer than its readers' buffer; none of 1.4 is longer than 64 KiB. */
static void test_packets_stay_within_their_limits(void **state)
{
	static uint64_t many[9000];
	static struct call_arg long_args[40];
	static char value[60000];
	struct buf bytes = {0}, got = {0};
	struct record records[2] = {
		{.type = RECORD_PROCESS, .process = {.pointer_size = 8}},
		{CALL_RECORD(.index = 1, .time_ns = TIME_NONE, .kind = CALL_ALLOC, .function = value, .frames = many,
			     .frame_count = ARRAY_SIZE(many), .has_frames = true, .args = long_args,
			     .arg_count = ARRAY_SIZE(long_args))}};

	memset(value, 'v', sizeof(value) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = i + 1;
	for (size_t i = 0; i < ARRAY_SIZE(long_args); i++)
		long_args[i] = (struct call_arg){"name", value};
	for (int compat = 0; compat < 2; compat++) {
		const struct writer_options options = {.compat = compat};
		const size_t max = compat ? 4098 : 65536 + 8;
		size_t at = 12, largest = 0;
		uint32_t size;

		bytes.size = 0;
		assert_true(write_trace("rtrace", &options, records, 2, &bytes) > 2);
		for (; at < bytes.size; at += 8 + size) {
			memcpy(&size, bytes.data + at + 4, 4);
			assert_int_equal(size % 4, 0);
			assert_true(8 + size <= max);
			if (size > largest)
				largest = size;
		}
		assert_int_equal(at, bytes.size);
		assert_true(8 + largest > max - 16);
		got.size = 0;
		dump_trace(bytes.data, bytes.size, &got);
		/* 1.4 marks where a stack is truncated. */
		assert_true((strstr(buf_str(&got), " cut\n") != NULL) == !compat);
		assert_non_null(strstr(buf_str(&got), "0 skipped=0\n"));
	}
	buf_free(&bytes);
	buf_free(&got);
}

/* Times after midnight are later than times before it. If calls are slightly out of order, their times are not a day
 * apart. */
static void test_times_continue_past_midnight(void **state)
{
	static const uint64_t times[] = {86399999, 86400001, 86399998, 86400002, 172800000};
	struct record records[1 + ARRAY_SIZE(times)] = {
		{.type = RECORD_PROCESS, .process = {.pointer_size = 8, .start_sec = 86400 * 3 + 86399}}};
	struct buf bytes = {0}, got = {0};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		records[1 + i] = (struct record){CALL_RECORD(.index = i + 1, .time_ns = times[i] * 1000000,
							     .kind = CALL_RELEASE, .function = "free")};
	write_trace("rtrace", NULL, records, ARRAY_SIZE(records), &bytes);
	dump_trace(bytes.data, bytes.size, &got);
	assert_text(&got, "process v1.4 arch=- p8 little start=345599.000000/- depth=0 name=- origin=- "
			  "filters=0\n"
			  "call 1 t=86399999000000 r=0 c=0 k=1 free id=0 size=0\n"
			  "call 2 t=86400001000000 r=0 c=0 k=1 free id=0 size=0\n"
			  "call 3 t=86399998000000 r=0 c=0 k=1 free id=0 size=0\n"
			  "call 4 t=86400002000000 r=0 c=0 k=1 free id=0 size=0\n"
			  "call 5 t=86400001000000 r=0 c=0 k=1 free id=0 size=0\n"
			  "0 skipped=0\n");
	buf_free(&bytes);
	buf_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_bytes_are_written),
		cmocka_unit_test(test_golden_bytes_are_read),
		cmocka_unit_test(test_packets_of_sp_rtrace_are_read),
		cmocka_unit_test(test_older_versions_are_read),
		cmocka_unit_test(test_hostile_packets_are_reported),
		cmocka_unit_test(test_hostile_handshakes_are_reported),
		cmocka_unit_test(test_long_strings_are_truncated),
		cmocka_unit_test(test_packets_stay_within_their_limits),
		cmocka_unit_test(test_times_continue_past_midnight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
