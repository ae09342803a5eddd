/* Tests SWAP messages: bytes that the protocol's programs have written, bytes that functrace writes, and the data of a
 * trace that SWAP keeps. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "long.h"
#include "trace_util.h"
#include "trace/swap/swap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The protocol's programs have written these messages. */
static const char process_info[] = "01000000 00000000 00f15365 15cd5b07 66000000 92100000 70726f6700 a00f0000"
				   "fff05365 0065cd1d 0040555555550000 0090555555550000 2f686f6d652f752f70726f6700"
				   "01000000 0000d8f7ff7f0000 0000f6f7ff7f0000"
				   "2f6c69622f7838365f36342d6c696e75782d676e752f6c6962632e736f2e3600";
static const char malloc_100[] = "01010000 00000000 d0ee006b 901ca229 52000000 44000000 92100000 93100000 01000000"
				 "78 6400000000000000 70 a092555555550000 0000000000000000 02000000"
				 "ede401f8e5550000 0000000000000000 6400000000000000 00000000 a092555555550000";

static void assert_dump(const char *hex, const char *expected)
{
	struct buf bytes = {0}, dump = {0};

	unhex(hex, &bytes);
	dump_trace(bytes.data, bytes.size, &dump);
	assert_text(&dump, expected);
	buf_free(&bytes);
	buf_free(&dump);
}

static void test_messages_of_the_protocols_programs_are_read(void **state)
{
	char hex[2048];

	assert_dump(process_info,
		    "process v1.4 arch=- p0 little pid=4242 start=1700000000.123456/- name=/home/u/prog origin=- "
		    "filters=0\n"
		    "object 555555554000-555555559000 /home/u/prog\n"
		    "object 7ffff7d80000-7ffff7f60000 /lib/x86_64-linux-gnu/libc.so.6\n"
		    "0 skipped=0\n");
	/* The call type is ignored. Two messages with the sequence number 0 are no gap. */
	snprintf(hex, sizeof(hex), "%s%s", malloc_100, malloc_100);
	assert_dump(hex, "process v1.4 arch=- p0 little pid=4242 start=1795223248.698490/- name=- origin=- filters=0\n"
			 "thread 4243 \n"
			 "resource 1 0 memory (memory allocation in bytes)\n"
			 "call 1 t=4048698490000 r=1 c=0 k=2 malloc id=5555555592a0 size=100 [size=100] "
			 "[return=0x5555555592a0]\n"
			 "call 2 t=4048698490000 r=1 c=0 k=2 malloc id=5555555592a0 size=100 [size=100] "
			 "[return=0x5555555592a0]\n"
			 "0 skipped=0\n");
}

/* In messages of other programs realloc releases its argument; a call that fails or releases nothing changes no
 * block. */
static void test_messages_of_other_programs_are_read(void **state)
{
	assert_dump("01010000 00000000 00000000 00000000 5b000000 46000000 92100000 92100000 02000000"
		    "70 1000000000000000 78 2000000000000000 70 3000000000000000 0000000000000000 00000000"
		    "0000000000000000 0000000000000000 2000000000000000 00000000 3000000000000000"
		    "01010000 01000000 00000000 00000000 52000000 44000000 92100000 92100000 01000000"
		    "78 6400000000000000 70 0000000000000000 0c00000000000000 00000000"
		    "0000000000000000 0000000000000000 6400000000000000 00000000 0000000000000000"
		    "01010000 03000000 00000000 00000000 4a000000 75010000 92100000 92100000 01000000"
		    "70 ffffffffffffffff 76 0000000000000000 00000000"
		    "0000000000000000 0000000000000000 0000000000000000 01000000 4000000000000000",
		    "process v1.4 arch=- p0 little pid=4242 start=0.000000/- name=- origin=- filters=0\n"
		    "resource 1 0 memory (memory allocation in bytes)\n"
		    "call 1 r=1 c=0 k=1 realloc id=10 size=0\n"
		    "call 2 r=1 c=0 k=2 realloc id=30 size=32 [ptr=0x10] [size=32] [return=0x30]\n"
		    "call 3 r=1 c=0 k=3 malloc id=0 size=100 [size=100] [return=0x0] [errno=12]\n"
		    "call 4 r=1 c=0 k=1 api_373 id=40 size=0 [=0xffffffffffffffff]\n"
		    "0 skipped=0\n");
}

static const uint64_t frames[] = {0x400123, 0x7f0000000456};

static struct record process = {
	PROCESS_RECORD(.pid = 4242, .has_pid = true, .start_sec = 1700000000, .start_usec = 123456, .name = "/bin/prog",
		       .command = "prog -x", .ppid = 4000, .is_attached = true,
		       .files = (const struct open_file[]){{3, 4096, "/etc/passwd"}}, .file_count = 1)};

/* 22:13:20 of the day on which the process starts. */
#define START_NS UINT64_C(80000000000000)

static void test_messages_are_written(void **state)
{
	const struct call_arg args[] = {{"ptr", "0x602010"}, {"size", "8"}, {"return", "0x602020"}};
	const struct record records[] = {
		process,
		{.type = RECORD_RESOURCE, .resource = {1, 0, "memory", ""}},
		{.type = RECORD_RESOURCE, .resource = {2, RESOURCE_REFCOUNT, "fd", ""}},
		{.type = RECORD_OBJECT, .object = {0x400000, 0x401000, "/bin/prog"}},
		{CALL_RECORD(.index = 1, .time_ns = START_NS + 1, .resource = 1, .kind = CALL_ALLOC,
			     .function = "malloc", .id = 0x602010, .size = 100, .frames = frames, .frame_count = 2,
			     .has_frames = true, .end = STACK_CUT)},
		{CALL_RECORD(.index = 2, .time_ns = START_NS + 2, .resource = 1, .kind = CALL_ALLOC,
			     .function = "realloc", .id = 0x602020, .size = 8, .args = args, .arg_count = 3)},
		{CALL_RECORD(.index = 3, .time_ns = TIME_NONE, .resource = 2, .context = 3, .kind = CALL_ALLOC,
			     .function = "open", .id = 3, .size = 1)},
		{.type = RECORD_NOTE, .note = {"unmapped 0x400000-0x401000 /bin/prog"}},
		{.type = RECORD_NOTE, .note = {"process 4242 has exited with status 0"}},
	};
	struct buf got = {0}, expected = {0};

	assert_int_equal(write_trace("swap", NULL, records, ARRAY_SIZE(records), &got), 0);
	unhex(/* PROCESS_INFO */
	      "01000000 00000000 00f15365 00ca5b07 50000000 92100000 70726f67202d7800 a00f0000 00f15365 00ca5b07"
	      "0000400000000000 0010400000000000 2f62696e2f70726f6700 01000000"
	      "0000400000000000 0010400000000000 2f62696e2f70726f6700"
	      /* PROCESS_STATUS_INFO */
	      "0e000000 01000000 00f15365 00ca5b07 24000000 92100000 01000000"
	      "03000000 92100000 0010000000000000 2f6574632f70617373776400"
	      /* malloc, which the program's own text has called */
	      "01010000 02000000 00f15365 01000000 73000000 44000000 92100000 92100000 03000000"
	      "78 6400000000000000 73 616e3d00 73 62743d3430303132332c3766303030303030303435362c63757400"
	      "70 1020600000000000 0000000000000000 01000000 2301400000000000 0000000000000000"
	      "6400000000000000 00000000 1020600000000000"
	      /* realloc, whose release is in another message */
	      "01010000 03000000 00f15365 02000000 79000000 46000000 92100000 92100000 03000000"
	      "70 0000000000000000 78 0800000000000000"
	      "73 616e3d7074723d30783630323031302c73697a652c72657475726e2c00 70 2020600000000000"
	      "0000000000000000 00000000 0000000000000000 0000000000000000"
	      "0800000000000000 00000000 2020600000000000"
	      /* open, which is not a function of memory: its entry and its exit, without a time */
	      "08000000 04000000 00000000 00000000 56000000 92100000 92100000 e9703663b4974ff8 0000000000000000"
	      "00000000 06000000 73 616e3d00 73 666e3d6f70656e00 73 63783d3300"
	      "73 74793d66642c616c6c6f632c726566636f756e7400 73 69643d3300 73 737a3d3100"
	      "09000000 05000000 00000000 00000000 25000000 92100000 92100000 e9703663b4974ff8 0000000000000000"
	      "00000000 78 0300000000000000"
	      /* PROCESS_UNMAP, ERROR, TERMINATE */
	      "13000000 06000000 00f15365 02000000 14000000 92100000 0000400000000000 0010400000000000"
	      "03000000 07000000 00f15365 02000000 26000000"
	      "70726f63657373203432343220686173206578697465642077697468207374617475732030 00"
	      "02000000 08000000 00f15365 02000000 04000000 92100000",
	      &expected);
	assert_bytes("what is written", &got, &expected);
	buf_free(&got);
	buf_free(&expected);
}

static void test_arguments_keep_their_text(void **state)
{
	static const struct {
		const char *text;
		char type;
	} rows[] = {
		{"0", 'x'},
		{"100", 'x'},
		{"18446744073709551615", 'x'},
		{"18446744073709551616", 's'},
		{"-1", 'd'},
		{"-2147483648", 'd'},
		{"-2147483649", 'w'},
		{"007", 's'},
		{"0x0", 'p'},
		{"0x7fff0", 'p'},
		{"0X7", 's'},
		{"0x07", 's'},
		{"1.5", 'w'},
		{"-2.5e-10", 'w'},
		{"0.1", 'w'},
		{"1.50", 's'},
		{"true", 'b'},
		{"'a'", 'c'},
		{"'\\n'", 's'},
		{"\"text\"", 's'},
		{"", 's'},
		{"NULL", 's'},
		{"12 bytes", 's'},
		{"-", 's'},
		{"18446744073709551617", 's'},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct swap_arg arg = swap_arg_of(rows[i].text);
		struct buf text = {0};

		swap_arg_text(&text, &arg);
		assert_string_equal(buf_str(&text), rows[i].text);
		if (arg.type != rows[i].type)
			fail_msg("%s has the type %c, not %c", rows[i].text, arg.type, rows[i].type);
		buf_free(&text);
	}
}

static void test_functions_have_their_api_ids(void **state)
{
	static const struct {
		const char *function;
		uint32_t id;
	} rows[] = {
		{"malloc", 68},
		{"free", 69},
		{"realloc", 70},
		{"calloc", 71},
		{"je_malloc", 68},
		{"_rjem_realloc", 70},
		{"operator new(unsigned int)", 72},
		{"operator new[](unsigned long)", 73},
		{"operator delete(void*, unsigned long)", 74},
		{"operator delete[](void*)", 75},
		{"operator new(unsigned long, std::nothrow_t const&)", 76},
		{"operator new[](unsigned long, std::nothrow_t const&)", 77},
		{"operator delete(void*, std::nothrow_t const&)", 78},
		{"operator delete[](void*, std::nothrow_t const&)", 79},
		{"operator new(unsigned long, std::align_val_t)", 1010},
		{"operator delete[](void*, std::align_val_t)", 1013},
		{"memcpy", 82},
		{"posix_memalign", 1001},
		{"my_alloc", SWAP_API_OTHER},
		{"", SWAP_API_OTHER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(swap_api_of(rows[i].function)->id, rows[i].id);
	const char *map = swap_api_map();

	assert_non_null(strstr(map, "\n68 malloc\n69 free\n70 realloc\n71 calloc\n"));
}

/* ---- Any trace ---- */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % limit;
}

#define PICK(array) ((array)[random_below(ARRAY_SIZE(array))])

/* A random trace that is being made. Memory is resource 1; the other resources follow in the order of their first use,
 * because the reader numbers them so. */
struct maker {
	struct record records[64];
	size_t count;
	unsigned declared; /* bit N: kinds[N] */
	uint32_t ids[4], next_id, tid;
	uint64_t time, index, object;
	struct call_arg args[256];
	uint64_t frames[256];
	size_t arg_count, frame_count;
	char texts[64][96];
	size_t text_count;
};

static const struct {
	const char *type, *desc;
	uint32_t flags;
} kinds[] = {{"memory", "memory allocation in bytes", 0},
	     {"fd", "fd", 0},
	     {"object, odd", "object, odd", RESOURCE_REFCOUNT},
	     {"transfer", "transfer", RESOURCE_CALL}};

static void add(struct maker *m, struct record record)
{
	m->records[m->count++] = record;
}

static void add_resource(struct maker *m, size_t kind)
{
	if (m->declared >> kind & 1)
		return;
	m->declared |= 1u << kind;
	m->ids[kind] = kind ? ++m->next_id : 1;
	add(m, (struct record){.type = RECORD_RESOURCE,
			       .resource = {m->ids[kind], kinds[kind].flags, kinds[kind].type, kinds[kind].desc}});
}

static void add_call(struct maker *m)
{
	static const char *const functions[] = {
		"malloc",    "free", "realloc",   "calloc", "posix_memalign", "memcpy", "operator new(unsigned long)",
		"je_malloc", "open", "f, an=(x)", "memset"};
	static const char *const names[] = {"", "size", "return", "errno", "a,b", "x=y", "\\054", "ptr"};
	static const char *const values[] = {"",      "1",          "0x10",        "-5",   "bt=1,2",
					     "an=x,", "text, more", "2.25",        "NULL", "\"a\\n\"",
					     "true",  "'c'",        "ENOMEM (12)", "0x0",  "fn=free"};
	const size_t kind = random_below(3) ? 0 : random_below(ARRAY_SIZE(kinds));
	struct record_call call = {.index = ++m->index,
				   .kind = (enum call_kind)(1 + random_below(3)),
				   .function = PICK(functions),
				   .id = random_below(8) ? 1 + random_below(1u << 30) : 0,
				   .context = random_below(4) ? 0 : random_below(4),
				   .args = m->args + m->arg_count,
				   .frames = m->frames + m->frame_count,
				   .has_frames = random_below(4),
				   .time_ns = TIME_NONE};

	if (random_below(4) == 0) {
		m->tid = 4243 + (m->tid - 4242 + random_below(3)) % 4;
		add(m, (struct record){.type = RECORD_THREAD, .thread = {m->tid, "a thread"}});
	}
	add_resource(m, kind);
	call.resource = m->ids[kind];
	if (call.kind != CALL_RELEASE || !random_below(8))
		call.size = random_below(8) ? random_below(5000) : UINT64_C(0x123456789a);
	if (!m->records[0].process.no_timestamps && random_below(8))
		call.time_ns = m->time += UINT64_C(1000) * random_below(100000);
	for (uint32_t n = random_below(3) ? 0 : random_below(5); n; n--, call.arg_count++)
		m->args[m->arg_count++] = (struct call_arg){PICK(names), PICK(values)};
	for (uint32_t n = call.has_frames ? random_below(6) : 0; n; n--, call.frame_count++)
		m->frames[m->frame_count++] = 1 + (uint64_t)random_below(1u << 31) * random_below(1000);
	if (call.has_frames && !random_below(4))
		call.end = random_below(2) ? STACK_CUT : STACK_LOST;
	add(m, (struct record){.type = RECORD_CALL, .call = call});
}

static const char *text(struct maker *m, const char *fmt, ...)
{
	char *const to = m->texts[m->text_count++];
	va_list list;

	va_start(list, fmt);
	vsnprintf(to, sizeof(m->texts[0]), fmt, list);
	va_end(list);
	return to;
}

static void add_any(struct maker *m)
{
	const uint64_t from = m->object;

	switch (random_below(16)) {
	case 0:
		m->object += 0x2000;
		add(m, (struct record){.type = RECORD_OBJECT,
				       .object = {from, from + 0x1000 * (1 + random_below(2)),
						  text(m, "/lib/%" PRIx64, from)}});
		if (random_below(2))
			add(m, (struct record){.type = RECORD_NOTE,
					       .note = {text(m, "unmapped 0x%" PRIx64 "-0x%" PRIx64 " /lib/%" PRIx64,
							     from, from + 0x1000, from)}});
		break;
	case 1:
		add(m, (struct record){.type = RECORD_NOTE, .note = {text(m, "a note %u", random_below(100))}});
		break;
	case 2:
		add(m, (struct record){.type = RECORD_CONTEXT, .context = {1u << random_below(31), "a context"}});
		break;
	default:
		add_call(m);
		break;
	}
}

static void make_random_trace(struct maker *m, uint64_t seed)
{
	*m = (struct maker){.next_id = 1, .tid = 4242, .object = 0x400000, .time = UINT64_C(80000000000000)};
	random_state = seed * 77 + 1;
	add(m,
	    (struct record){PROCESS_RECORD(.pid = 4242, .has_pid = true, .start_sec = random_below(8) ? 1700000000 : 0,
					   .no_timestamps = random_below(16) == 0, .name = "/bin/prog")});
	if (m->records[0].process.start_sec)
		m->records[0].process.start_usec = random_below(1000000);
	for (uint32_t n = random_below(28); n; n--)
		add_any(m);
}

/* Converts each trace from rtrace to SWAP and back, and from SWAP to SWAP. */
static void test_random_traces_survive_conversion(void **state)
{
	const uint64_t traces = test_is_long() ? 1000 : 100;

	for (uint64_t seed = 0; seed < traces; seed++) {
		static struct maker m;
		struct buf first = {0}, swap = {0}, again = {0}, third = {0}, expected = {0}, got = {0};

		make_random_trace(&m, seed);
		write_trace("rtrace", NULL, m.records, m.count, &first);
		assert_int_equal(convert_trace(first.data, first.size, "swap", false, &swap), 0);
		assert_int_equal(convert_trace(swap.data, swap.size, "rtrace", false, &again), 0);
		dump_trace(first.data, first.size, &expected);
		dump_trace(again.data, again.size, &got);
		if (strcmp(buf_str(&got), buf_str(&expected)))
			fprintf(stderr, "seed %" PRIu64 "\n", seed);
		assert_text(&got, buf_str(&expected));
		assert_int_equal(convert_trace(swap.data, swap.size, "swap", false, &third), 0);
		assert_bytes("SWAP again", &third, &swap);
		buf_free(&first);
		buf_free(&swap);
		buf_free(&again);
		buf_free(&third);
		buf_free(&expected);
		buf_free(&got);
	}
}

/* Data that is longer than a message is truncated and counted, and the message is valid. */
static void test_long_data_is_truncated_and_counted(void **state)
{
	static char name[70000];
	static uint64_t addresses[5000];
	static struct call_arg args[300];
	static struct record records[900];
	struct buf got = {0}, dump = {0};
	size_t count = 0;

	memset(name, 'x', sizeof(name) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		addresses[i] = UINT64_MAX - i;
	for (size_t i = 0; i < ARRAY_SIZE(args); i++)
		args[i] = (struct call_arg){i % 2 ? name + sizeof(name) - 1 - i : "a", i % 3 ? "1" : name};
	records[count++] = process;
	records[count++] = (struct record){.type = RECORD_RESOURCE, .resource = {1, 0, name, ""}};
	for (size_t i = 0; i < 800; i++)
		records[count++] = (struct record){
			.type = RECORD_OBJECT,
			.object = {0x1000 * (i + 1), 0x1000 * (i + 2), name + sizeof(name) - 1 - i % 200}};
	records[count++] = (struct record){CALL_RECORD(.resource = 1, .kind = CALL_ALLOC, .function = name,
						       .args = args, .arg_count = 300, .frames = addresses,
						       .frame_count = 5000, .has_frames = true)};
	records[count++] = (struct record){.type = RECORD_NOTE, .note = {name}};
	/* At least the type, the function, arguments, the stack and the note are truncated. */
	assert_true(write_trace("swap", NULL, records, count, &got) > 5);
	for (size_t at = 0; at < got.size;) {
		const uint32_t length = got.data[at + 16] | (uint32_t)got.data[at + 17] << 8 |
					(uint32_t)got.data[at + 18] << 16 | (uint32_t)got.data[at + 19] << 24;

		assert_true(length <= SWAP_PAYLOAD_MAX);
		at += SWAP_HEAD + length;
		assert_true(at <= got.size);
	}
	dump_trace(got.data, got.size, &dump);
	size_t objects = 0;

	for (const char *at = buf_str(&dump); (at = strstr(at, "\nobject ")); at++)
		objects++;
	assert_int_equal(objects, 800);
	assert_non_null(strstr(buf_str(&dump), "fffffffffffffffe "));
	assert_non_null(strstr(buf_str(&dump), " cut\n"));
	assert_non_null(strstr(buf_str(&dump), "\n0 skipped=0\n"));
	buf_free(&got);
	buf_free(&dump);
}

/* Collects the reader's messages. */
static void add_message(void *context, const char *clause)
{
	buf_printf(context, "%s\n", clause);
}

static void test_missing_messages_are_reported(void **state)
{
	struct buf bytes = {0}, said = {0};
	const struct reader_options options = {.complain = add_message, .complain_context = &said};
	char error[256];
	struct record record;

	unhex("03000000 05000000 00000000 00000000 02000000 6100 03000000 08000000 00000000 00000000 02000000 6200",
	      &bytes);
	struct reader *reader = reader_new(memory_file(bytes.data, bytes.size), &options, error, sizeof(error));

	while (reader_next(reader, &record) == 1)
		;
	assert_int_equal(reader_complaints(reader), 1);
	assert_text(&said, "2 messages are missing before the one with the number 8\n");
	reader_close(reader);
	buf_free(&bytes);
	buf_free(&said);
}

/* The seconds of a message wrap to 0 in the year 2106. A time after the wrap is kept if it is less than 2^31 seconds
 * after the start's day; else only its time of day is kept. */
static void test_times_past_2106_are_kept(void **state)
{
	static const struct {
		int64_t start_sec;
		uint64_t time_ns, expected;
	} rows[] = {
		{4294967040, UINT64_C(36616001000000), UINT64_C(36616001000000)},
		{4294967040, START_NS, START_NS},
		{4294967040, UINT64_C(300000000000007), UINT64_C(300000000000007)},
		{4294880000, UINT64_C(90000000000000), UINT64_C(90000000000000)},
		{4294967040, (UINT64_C(1) << 31) * 1000000000 + 1, UINT64_C(74752000000001)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct record records[] = {
			{PROCESS_RECORD(.pid = 1, .has_pid = true, .start_sec = rows[i].start_sec)},
			{.type = RECORD_RESOURCE, .resource = {1, 0, "memory", ""}},
			{CALL_RECORD(.index = 1, .time_ns = rows[i].time_ns, .resource = 1, .kind = CALL_ALLOC,
				     .function = "malloc", .id = 16, .size = 8)},
		};
		const struct reader_options options = {0};
		struct buf bytes = {0};
		struct record record;
		char error[256];

		assert_int_equal(write_trace("swap", NULL, records, ARRAY_SIZE(records), &bytes), 0);
		struct reader *reader = reader_new(memory_file(bytes.data, bytes.size), &options, error, sizeof(error));

		assert_non_null(reader);
		while (reader_next(reader, &record) == 1 && record.type != RECORD_CALL)
			;
		assert_int_equal(record.type, RECORD_CALL);
		assert_int_equal(record.call.time_ns, rows[i].expected);
		reader_close(reader);
		buf_free(&bytes);
	}
}

static void test_damage_is_reported(void **state)
{
	assert_dump(
		"03000000 00000000 00000000 00000000 02000000 6162",
		"-74 skipped=0 the trace is damaged at byte 0: a message ERROR of 2 bytes has no room for its error "
		"message, or that field is invalid\n");
	assert_dump("03000000 00000000 00000000 00000000 02000000 6100 99000000",
		    "process v1.4 arch=- p0 little start=0.000000/- name=- origin=- filters=0\nnote a\n"
		    "-74 skipped=0 the trace is cut off: it ends at byte 26 within a message that begins at byte 22\n");
	assert_dump("03000000 00000000 00000000 00000000 02000000 6100 9900000001000000000000000000000003000000 616263",
		    "process v1.4 arch=- p0 little start=0.000000/- name=- origin=- filters=0\nnote a\n0 skipped=1\n");
	assert_dump(
		"03000000 00000000 00000000 00000000 02000000 6100 00000001010000000000000000000000 03000000 616263",
		"process v1.4 arch=- p0 little start=0.000000/- name=- origin=- filters=0\nnote a\n"
		"-74 skipped=0 the trace is damaged at byte 22: no SWAP message has the id 0x1000000 and 0 nanoseconds"
		", as here\n");
	assert_dump(
		"03000000 00000000 00000000 00ca9a3b 02000000 6100",
		"none: the input is no trace of a known format: it begins with other bytes than a trace. Formats are: "
		"rtrace, text, mpatrol, stacktrack, swap, rows\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_of_the_protocols_programs_are_read),
		cmocka_unit_test(test_messages_of_other_programs_are_read),
		cmocka_unit_test(test_messages_are_written),
		cmocka_unit_test(test_arguments_keep_their_text),
		cmocka_unit_test(test_functions_have_their_api_ids),
		cmocka_unit_test(test_random_traces_survive_conversion),
		cmocka_unit_test(test_long_data_is_truncated_and_counted),
		cmocka_unit_test(test_missing_messages_are_reported),
		cmocka_unit_test(test_times_past_2106_are_kept),
		cmocka_unit_test(test_damage_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
