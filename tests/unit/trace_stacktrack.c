/* Tests StackTrack entries: the bytes that functrace writes in both byte orders, and the limits of a reader's
 * memory. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "trace_util.h"
#include "trace/stacktrack/stacktrack.h"

#include <string.h>

#define PROLOGUE "0400 0c06 00000000 78563412000100001018080000000000"

/* 22:13:20 of the day on which the process starts. */
#define START_NS UINT64_C(80000000000000)

static const char little[] =
	/* PROLOGUE, PROCINFO, TIMETYPE, TIMEINFO */
	"0400 9210 00000000 78563412000100001018080000000000"
	"0500 9210 00000000 92100000000000000000000000000000"
	"0700 9210 00000000 00ca9a3b000000002000000000000000"
	"0600 9210 00000000 00caf07ac248000000f1536500000000"
	/* the process */
	"0301 9210 01000000 01000600000000000000000000000000"
	"ff02 9210 01000000 70726f63657373000000000000000000"
	"0001 9210 01000000 00caf07ac24800000100000000000000"
	"ff00 9210 01000000 7069643d363937373820617263683d78"
	"ff00 9210 01000000 38365f363420706f696e7465723d3820"
	"ff00 9210 01000000 757365633d313233343536206e616d65"
	"ff02 9210 01000000 3d2f62696e2f615c3034306200000000"
	/* the process's object, and the object's address */
	"0101 9210 02000000 01000000010000000000000000000000"
	"ff02 9210 02000000 2f62696e2f6120620000000000000000"
	"0201 9210 02000000 01000000010000000000000000000000"
	"ff00 9210 02000000 6d61703d30783430303030302d307834"
	"ff02 9210 02000000 30313030300000000000000000000000"
	/* a resource */
	"0301 9210 03000000 03000600000000000000000000000000"
	"ff02 9210 03000000 7265736f757263650000000000000000"
	"0001 9210 03000000 00caf07ac24800000300000000000000"
	"ff00 9210 03000000 69643d3120666c6167733d3020747970"
	"ff02 9210 03000000 653d6d656d6f727920746578743d0000"
	/* a thread */
	"0301 9210 04000000 07000600000000000000000000000000"
	"ff02 9210 04000000 74687265616400000000000000000000"
	"0001 9210 04000000 00caf07ac24800000700931000000000"
	"ff02 9210 04000000 7469643d3639373739206e616d653d77"
	/* a function's first call, with arguments and a stack: the name fills the 16 bytes of text of an entry */
	"0301 9210 05000000 13000300000000000000000000000000"
	"ff02 9210 05000000 616c69676e65645f616c6c6f635f3136"
	"0001 9210 05000000 7c009573c24800001300931000000000"
	"ff00 9210 05000000 616c6c6f633d30783630323031302073"
	"ff00 9210 05000000 697a653d313030207265736f75726365"
	"ff02 9210 05000000 3d3120636f6e746578743d3078330000"
	"0301 9210 05000000 0e000600000000000000000000000000"
	"ff02 9210 05000000 61726773000000000000000000000000"
	"0001 9210 05000000 7c009573c24800000e00931000000000"
	"ff00 9210 05000000 73697a653d313030206f663d315c3034"
	"ff02 9210 05000000 30320000000000000000000000000000"
	"0301 9210 05000000 0d000600000000000000000000000000"
	"ff02 9210 05000000 6261636b747261636500000000000000"
	"0001 9210 05000000 7c009573c24800000d00931000000000"
	"ff00 9210 05000000 6672616d65733d3220656e643d637574"
	"ff00 9210 05000000 2030783430303132333d6d61696e2030"
	"ff02 9210 05000000 78376630303030303030343536000000"
	/* its second */
	"0001 9210 06000000 7d009573c24800001300931000000000"
	"ff00 9210 06000000 616c6c6f633d30783630323032302072"
	"ff02 9210 06000000 65736f757263653d3100000000000000"
	"0001 9210 06000000 7d009573c24800000d00931000000000"
	"ff02 9210 06000000 6672616d65733d300000000000000000";

static const char big[] =
	/* PROLOGUE, PROCINFO, TIMETYPE, TIMEINFO */
	"0004 1092 00000000 12345678000001001018080000000000"
	"0005 1092 00000000 10920000000000000000000000000000"
	"0007 1092 00000000 000000003b9aca000020000000000000"
	"0006 1092 00000000 000048c27af0ca00000000006553f100"
	/* the process */
	"0103 1092 00000001 00010006000000000000000000000000"
	"02ff 1092 00000001 70726f63657373000000000000000000"
	"0100 1092 00000001 000048c27af0ca000001000000000000"
	"00ff 1092 00000001 7069643d363937373820617263683d78"
	"00ff 1092 00000001 38365f363420706f696e7465723d3820"
	"00ff 1092 00000001 757365633d313233343536206e616d65"
	"02ff 1092 00000001 3d2f62696e2f615c3034306200000000"
	/* the process's object, and the object's address */
	"0101 1092 00000002 00010000000100000000000000000000"
	"02ff 1092 00000002 2f62696e2f6120620000000000000000"
	"0102 1092 00000002 00010000000100000000000000000000"
	"00ff 1092 00000002 6d61703d30783430303030302d307834"
	"02ff 1092 00000002 30313030300000000000000000000000"
	/* a resource */
	"0103 1092 00000003 00030006000000000000000000000000"
	"02ff 1092 00000003 7265736f757263650000000000000000"
	"0100 1092 00000003 000048c27af0ca000003000000000000"
	"00ff 1092 00000003 69643d3120666c6167733d3020747970"
	"02ff 1092 00000003 653d6d656d6f727920746578743d0000"
	/* a thread */
	"0103 1092 00000004 00070006000000000000000000000000"
	"02ff 1092 00000004 74687265616400000000000000000000"
	"0100 1092 00000004 000048c27af0ca000007109300000000"
	"02ff 1092 00000004 7469643d3639373739206e616d653d77"
	/* a function's first call, with arguments and a stack: the name fills the 16 bytes of text of an entry */
	"0103 1092 00000005 00130003000000000000000000000000"
	"02ff 1092 00000005 616c69676e65645f616c6c6f635f3136"
	"0100 1092 00000005 000048c27395007c0013109300000000"
	"00ff 1092 00000005 616c6c6f633d30783630323031302073"
	"00ff 1092 00000005 697a653d313030207265736f75726365"
	"02ff 1092 00000005 3d3120636f6e746578743d3078330000"
	"0103 1092 00000005 000e0006000000000000000000000000"
	"02ff 1092 00000005 61726773000000000000000000000000"
	"0100 1092 00000005 000048c27395007c000e109300000000"
	"00ff 1092 00000005 73697a653d313030206f663d315c3034"
	"02ff 1092 00000005 30320000000000000000000000000000"
	"0103 1092 00000005 000d0006000000000000000000000000"
	"02ff 1092 00000005 6261636b747261636500000000000000"
	"0100 1092 00000005 000048c27395007c000d109300000000"
	"00ff 1092 00000005 6672616d65733d3220656e643d637574"
	"00ff 1092 00000005 2030783430303132333d6d61696e2030"
	"02ff 1092 00000005 78376630303030303030343536000000"
	/* its second */
	"0100 1092 00000006 000048c27395007d0013109300000000"
	"00ff 1092 00000006 616c6c6f633d30783630323032302072"
	"02ff 1092 00000006 65736f757263653d3100000000000000"
	"0100 1092 00000006 000048c27395007d000d109300000000"
	"02ff 1092 00000006 6672616d65733d300000000000000000";

static void write_calls(bool big_endian, struct buf *got)
{
	static const uint64_t frames[] = {0x400123, 0x7f0000000456};
	static const char *const texts[] = {"main", NULL};
	static const struct call_arg args[] = {{"size", "100"}, {"of", "1 2"}};
	const struct record records[] = {
		{PROCESS_RECORD(.version_major = 1, .version_minor = 4, .arch = "x86_64", .pointer_size = 8,
				.big_endian = big_endian, .pid = 69778, .has_pid = true, .start_sec = 1700000000,
				.start_usec = 123456, .name = "/bin/a b")},
		{.type = RECORD_OBJECT, .object = {0x400000, 0x401000, "/bin/a b"}},
		{.type = RECORD_RESOURCE, .resource = {1, 0, "memory", ""}},
		{.type = RECORD_THREAD, .thread = {69779, "w"}},
		{CALL_RECORD(.index = 1, .time_ns = START_NS + 124, .resource = 1, .context = 3, .kind = CALL_ALLOC,
			     .function = "aligned_alloc_16", .id = 0x602010, .size = 100, .frames = frames,
			     .frame_texts = texts, .frame_count = 2, .has_frames = true, .end = STACK_CUT, .args = args,
			     .arg_count = 2)},
		{CALL_RECORD(.index = 2, .time_ns = START_NS + 125, .resource = 1, .kind = CALL_ALLOC,
			     .function = "aligned_alloc_16", .id = 0x602020, .has_frames = true)},
	};

	assert_int_equal(write_trace("stacktrack", NULL, records, ARRAY_SIZE(records), got), 0);
}

#define RECORDS(order)                                                                                                 \
	"process v1.4 arch=x86_64 p8 " order " pid=69778 start=1700000000.123456/- name=/bin/a b origin=- filters=0\n" \
	"object 400000-401000 /bin/a b\n"                                                                              \
	"resource 1 0 memory ()\n"                                                                                     \
	"thread 69779 w\n"                                                                                             \
	"call 1 t=80000000000124 r=1 c=3 k=2 aligned_alloc_16 id=602010 size=100 [size=100] [of=1 2] "                 \
	"frames 400123{main} 7f0000000456 cut\n"                                                                       \
	"call 2 t=80000000000125 r=1 c=0 k=2 aligned_alloc_16 id=602020 size=0 frames\n"                               \
	"0 skipped=0\n"

static void expect_written(bool big_endian, const char *hex)
{
	struct buf got = {0}, expected = {0}, dump = {0};

	write_calls(big_endian, &got);
	unhex(hex, &expected);
	assert_bytes("what is written", &got, &expected);
	dump_trace(got.data, got.size, &dump);
	assert_text(&dump, big_endian ? RECORDS("big") : RECORDS("little"));
	buf_free(&got);
	buf_free(&expected);
	buf_free(&dump);
}

static void test_entries_are_written_in_both_byte_orders(void **state)
{
	expect_written(false, little);
	expect_written(true, big);
}

/* Appends a prologue and `count` entries with these flags. Each entry has its own number, and a sequence that is a
 * multiple of sequence_step. */
static void put_entries(size_t count, unsigned flags, unsigned sequence_step, struct buf *out)
{
	unhex(PROLOGUE, out);
	for (size_t i = 1; i <= count; i++) {
		const size_t sequence = sequence_step * i;
		const unsigned char entry[STACKTRACK_ENTRY] = {(unsigned char)flags,
							       (unsigned char)(flags >> 8),
							       (unsigned char)(i >> 16),
							       0,
							       (unsigned char)sequence,
							       (unsigned char)(sequence >> 8),
							       (unsigned char)(sequence >> 16),
							       (unsigned char)(sequence >> 24),
							       (unsigned char)i,
							       (unsigned char)(i >> 8)};

		buf_add(out, entry, sizeof(entry));
	}
}

static void expect_end(size_t count, unsigned flags, unsigned sequence_step, const char *expected)
{
	struct buf bytes = {0}, dump = {0};

	put_entries(count, flags, sequence_step, &bytes);
	dump_trace(bytes.data, bytes.size, &dump);
	assert_text(&dump, expected);
	buf_free(&bytes);
	buf_free(&dump);
}

#define TOO_MUCH                                                                                                       \
	"-74 skipped=0 the trace is damaged at byte 12582936: names, numbered stacks, and texts without an end, take " \
	"more than 64 MiB\n"

/* The reader must keep each of these entries: the entry's text has not come yet, or a later entry may refer to the
 * entry as its scope or file. */
static void test_memory_of_the_reader_is_limited(void **state)
{
	expect_end(524288, STACKTRACK_SLOC | STACKTRACK_HAS_INFO, 1, "0 skipped=0\n");
	expect_end(524289, STACKTRACK_SLOC | STACKTRACK_HAS_INFO, 1, TOO_MUCH);
	expect_end(524289, STACKTRACK_SLOC, 0, TOO_MUCH);
	expect_end(524289, STACKTRACK_FLOC, 0, TOO_MUCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries_are_written_in_both_byte_orders),
		cmocka_unit_test(test_memory_of_the_reader_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
