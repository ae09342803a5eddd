/* Tests the text format line by line. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "trace_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void expect_reading(const char *text, const char *expected)
{
	struct buf got = {0};

	dump_trace(text, strlen(text), &got);
	assert_text(&got, expected);
	buf_free(&got);
}

static void expect_identity(const char *text, bool compat)
{
	struct buf got = {0};

	assert_int_equal(convert_trace(text, strlen(text), "text", compat, &got), 0);
	assert_text(&got, text);
	buf_free(&got);
}

static const uint64_t frames[] = {0x400123, 0x7f0000000456};
static const struct call_arg args[] = {{"nmemb", "2"}, {"", "12"}, {"path", "\"/a b\\n\""},
				       {"", "a=b"},    {"", "=c"}, {"x", ""}};

#define TIME UINT64_C(3661001234567) /* 01:01:01.001234 */

static const struct record samples[] = {
	{PROCESS_RECORD(.arch = "x86_64", .pointer_size = 8, .pid = 4242, .has_pid = true, .start_sec = 1700000000,
			.start_usec = 123456, .depth = 10, .has_depth = true, .no_timestamps = true,
			.name = "/bin/a,b\nc", .origin = "functrace 0.1.0", .filters = FILTER_LEAKS | FILTER_RESOLVE)},
	{.type = RECORD_MODULE, .module = {0, 0, 1, "functrace"}},
	{.type = RECORD_MODULE, .module = {0x10, 1, 2, "memory"}},
	{.type = RECORD_CONTEXT, .context = {0x10, "2nd context"}},
	{.type = RECORD_OBJECT, .object = {0x400000, 0x401000, "/bin/my prog"}},
	{.type = RECORD_BUILD_ID, .build_id = {0x400000, "0badcafe"}},
	{.type = RECORD_RESOURCE, .resource = {1, 0, "memory", "memory allocation in bytes"}},
	{.type = RECORD_THREAD, .thread = {4243, "io worker"}},
	{CALL_RECORD(.index = 1, .time_ns = TIME, .kind = CALL_ALLOC, .function = "operator new(unsigned long)",
		     .id = 0x602010, .size = UINT64_C(5000000000), .frames = frames, .frame_count = 2,
		     .has_frames = true, .end = STACK_CUT, .args = args, .arg_count = ARRAY_SIZE(args))},
	{.type = RECORD_RESOURCE, .resource = {0x11, 3, "fd", "file (any) descriptor"}},
	{.type = RECORD_THREAD, .thread = {7, ""}},
	{CALL_RECORD(.index = 2, .time_ns = TIME_NONE, .context = 0x1f, .resource = 0x11, .kind = CALL_RELEASE,
		     .function = "close", .id = 0x4)},
	{CALL_RECORD(.index = 3, .time_ns = TIME, .resource = 0x11, .kind = CALL_COPY, .function = "dup", .id = 0,
		     .size = 3000000000u)},
	{.type = RECORD_NOTE, .note = {"exit 0\n"}},
	{.type = RECORD_COMMENT, .comment = {"100% sure"}},
	{.type = RECORD_ATTACHMENT, .attachment = {"pagemap", "4242-pagemap-0"}},
	{.type = RECORD_HEAP, .heap = {0x602000, 0x623000, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0, 0}},
};

#define HEAP_LINES                                                                                                     \
	"## heap status information:\n"                                                                                \
	"##   heap bottom 0x602000\n"                                                                                  \
	"##   heap top 0x623000\n"                                                                                     \
	"##   lowest block 0x602010\n"                                                                                 \
	"##   highest block 0x602010\n"                                                                                \
	"##   non-mapped space allocated from system 1\n"                                                              \
	"##   count of free chunks 2\n"                                                                                \
	"##   count of freed fastbin blocks 3\n"                                                                       \
	"##   count of mapped regions 4\n"                                                                             \
	"##   space in mapped regions 5\n"                                                                             \
	"##   maximum total allocated space 6\n"                                                                       \
	"##   space available in freed fastbin blocks 7\n"                                                             \
	"##   total allocated space, both normal and mmapped 8\n"                                                      \
	"##   total free space 9\n"                                                                                    \
	"##   space ideally releasable via malloc_trim 10\n"

static const char text_14[] = "version=1.4,arch=x86_64,timestamp=2023-11-14 22:13:20 +0000,process=/bin/a\\054b\\012c,"
			      "pid=4242,filter=leaks|resolve,backtrace depth=10,origin=functrace 0.1.0,timestamps=no\n"
			      "## tracing module: [0] functrace (0.1)\n"
			      "## tracing module: [10] memory (1.2)\n"
			      "@ 10 : 2nd context\n"
			      ": /bin/my prog => 0x400000-0x401000\n"
			      "## build-id 0x400000 0badcafe\n"
			      "<1> : memory (memory allocation in bytes)\n"
			      "## thread 4243 io worker\n"
			      "1. [01:01:01.001234] operator new(unsigned long)(5000000000) = 0x602010\n"
			      "\t$1 = nmemb=2\n"
			      "\t$2 = 12\n"
			      "\t$3 = path=\"/a b\\n\"\n"
			      "\t$4 = =a=b\n"
			      "\t$5 = ==c\n"
			      "\t$6 = x=\n"
			      "\t0x400123\n"
			      "\t0x7f0000000456\n"
			      "\t0x0 (cut)\n"
			      "\n"
			      "<11> : fd (file (any) descriptor) [refcount|call]\n"
			      "## thread 7\n"
			      "2. @1f close<fd>(0x4)\n"
			      "\n"
			      "3. [01:01:01.001234] dup<fd>(3000000000) = 0x0\n"
			      "\n"
			      "## exit 0\\012\n"
			      "100% sure\n"
			      "& pagemap : 4242-pagemap-0\n" HEAP_LINES;

static const char text_compat[] =
	"version=2.0, arch=x86_64, timestamp=2023.11.14 22:13:20, process=/bin/a\\054b\\012c, "
	"pid=4242, filter=leaks|resolve, backtrace depth=10, origin=functrace 0.1.0, \n"
	"## tracing module: [0] functrace (0.1)\n"
	"## tracing module: [10] memory (1.2)\n"
	"@ 10 : 2nd context\n"
	": /bin/my\\040prog => 0x400000-0x401000\n"
	"## build-id 0x400000 0badcafe\n"
	"<1> : memory (memory allocation in bytes)\n"
	"1. [01:01:01.001] operator new(unsigned long)(-1) = 0x602010\n"
	"\t$nmemb = 2\n"
	"\t$2 = 12\n"
	"\t$path = \"/a\\040b\\n\"\n"
	"\t$4 = a=b\n"
	"\t$5 = =c\n"
	"\t$x = \"\"\n"
	"\t0x400123\n"
	"\t0x7f0000000456\n"
	"\n"
	"<10000> : fd (file (any) descriptor) [refcount]\n"
	"2. @1f close<fd>(0x4)\n"
	"\n"
	"3. [01:01:01.001] dup<fd>(-1294967296) = 0x0\n"
	"\n"
	"100%% sure\n"
	"& pagemap : 4242-pagemap-0\n" HEAP_LINES;

static void test_records_are_written_as_lines(void **state)
{
	const struct writer_options compat = {.compat = true};
	struct buf got = {0};

	assert_int_equal(write_trace("text", NULL, samples, ARRAY_SIZE(samples), &got), 0);
	assert_text(&got, text_14);
	got.size = 0;
	/* The compat dialect cannot represent the size 5000000000. */
	assert_int_equal(write_trace("text", &compat, samples, ARRAY_SIZE(samples), &got), 1);
	assert_text(&got, text_compat);
	buf_free(&got);
}

/* If a trace has several resources, the heap's summary is about the blocks of memory only. */
static void test_heap_summary_counts_only_memory(void **state)
{
	const struct record records[] = {
		{.type = RECORD_PROCESS, .process = {.name = "p"}},
		{.type = RECORD_RESOURCE, .resource = {1, 0, "file", "files"}},
		{.type = RECORD_RESOURCE, .resource = {2, 0, "memory", "bytes"}},
		{CALL_RECORD(.index = 1, .time_ns = TIME_NONE, .resource = 1, .kind = CALL_ALLOC, .function = "open",
			     .id = 3)},
		{CALL_RECORD(.index = 2, .time_ns = TIME_NONE, .resource = 2, .kind = CALL_ALLOC, .function = "malloc",
			     .id = 64)},
		{.type = RECORD_HEAP},
	};
	struct buf got = {0};

	assert_int_equal(write_trace("text", NULL, records, ARRAY_SIZE(records), &got), 0);
	assert_non_null(strstr(buf_str(&got), "\n##   lowest block 0x40\n##   highest block 0x40\n"));
	buf_free(&got);
}

static void test_lines_are_copied_unchanged(void **state)
{
	expect_identity(text_14, false);
	expect_identity(text_compat, true);
}

static void test_lines_are_read_as_records(void **state)
{
	expect_reading(text_14, "process v1.4 arch=x86_64 p0 little pid=4242 start=1700000000.000000/2023-11-14 "
				"22:13:20 +0000 depth=10 name=/bin/a,b\nc origin=functrace 0.1.0 filters=5 "
				"notimes\n"
				"module 0 functrace 0.1\n"
				"module 10 memory 1.2\n"
				"context 10 2nd context\n"
				"object 400000-401000 /bin/my prog\n"
				"build-id 400000 0badcafe\n"
				"resource 1 0 memory (memory allocation in bytes)\n"
				"thread 4243 io worker\n"
				"call 1 t=90061001234000 r=1 c=0 k=2 operator new(unsigned long) id=602010 "
				"size=5000000000 [nmemb=2] [=12] [path=\"/a b\\n\"] [=a=b] [==c] [x=] frames "
				"400123 7f0000000456 cut\n"
				"resource 17 3 fd (file (any) descriptor)\n"
				"thread 7 \n"
				"call 2 r=17 c=1f k=1 close id=4 size=0\n"
				"call 3 t=90061001234000 r=17 c=0 k=3 dup id=0 size=3000000000\n"
				"note exit 0\n\n"
				"comment 100% sure\n"
				"attachment pagemap 4242-pagemap-0\n"
				"heap 602000-623000 602010-602010 1 2 3 4 5 6 7 8 9 10\n"
				"0 skipped=0\n");
	expect_reading(text_compat, "process v2.0 arch=x86_64 p0 little pid=4242 start=1700000000.000000/2023.11.14 "
				    "22:13:20 depth=10 name=/bin/a,b\nc origin=functrace 0.1.0 filters=5\n"
				    "module 0 functrace 0.1\n"
				    "module 10 memory 1.2\n"
				    "context 10 2nd context\n"
				    "object 400000-401000 /bin/my prog\n"
				    "build-id 400000 0badcafe\n"
				    "resource 1 0 memory (memory allocation in bytes)\n"
				    "call 1 t=3661001000000 r=1 c=0 k=2 operator new(unsigned long) id=602010 "
				    "size=4294967295 [nmemb=2] [=12] [path=\"/a b\\n\"] [=a=b] [==c] [x=] frames "
				    "400123 7f0000000456\n"
				    "resource 17 1 fd (file (any) descriptor)\n"
				    "call 2 r=17 c=1f k=1 close id=4 size=0\n"
				    "call 3 t=3661001000000 r=17 c=0 k=2 dup id=0 size=3000000000\n"
				    "comment 100% sure\n"
				    "attachment pagemap 4242-pagemap-0\n"
				    "heap 602000-623000 602010-602010 1 2 3 4 5 6 7 8 9 10\n"
				    "0 skipped=0\n");
}

/* functracer 1.4 counts calls from 0, resolves names itself, and writes comments without '#'. */
static void test_trace_of_functracer_is_read(void **state)
{
	static const char text[] = "version=2.0, arch=i686, timestamp=21.11.2026 01:03:30, process=/home/user/tiny, "
				   "pid=684, backtrace depth=10, origin=functracer 1.4, \n"
				   "<1> : memory (memory allocation in bytes)\n"
				   "Process/Thread 684 (/home/user/tiny) was created\n"
				   ": /usr/lib/i386-linux-gnu/ld-linux.so.2 => 0xf7edd000-0xf7f01000\n"
				   ": /home/user/tiny => 0x56569000-0x5656b000\n"
				   "0. [00:18:49.949] malloc(10) = 0x570881a0\n"
				   "\t0x5656a1e1\n"
				   "\t0x5656a200 in main+0x1f\n"
				   "\t0xf7cc1234 <undefined>\n"
				   "\n"
				   "5. [00:18:49.951] realloc(0x570881f0)\n"
				   "\n"
				   "6. [00:18:49.951] realloc(5000) = 0x570881f0\n"
				   "\t0x5656a229\n"
				   "\n"
				   "684 has exited with code 0\n";

	expect_identity(text, true);
	expect_reading(text, "process v2.0 arch=i686 p0 little pid=684 start=1795223010.000000/21.11.2026 "
			     "01:03:30 depth=10 name=/home/user/tiny origin=functracer 1.4 filters=0\n"
			     "resource 1 0 memory (memory allocation in bytes)\n"
			     "comment Process/Thread 684 (/home/user/tiny) was created\n"
			     "object f7edd000-f7f01000 /usr/lib/i386-linux-gnu/ld-linux.so.2\n"
			     "object 56569000-5656b000 /home/user/tiny\n"
			     "call 0 t=1129949000000 r=1 c=0 k=2 malloc id=570881a0 size=10 frames 5656a1e1 "
			     "5656a200{ in main+0x1f} f7cc1234{ <undefined>}\n"
			     "call 5 t=1129951000000 r=1 c=0 k=1 realloc id=570881f0 size=0\n"
			     "call 6 t=1129951000000 r=1 c=0 k=2 realloc id=570881f0 size=5000 frames 5656a229\n"
			     "comment 684 has exited with code 0\n"
			     "0 skipped=0\n");
}

/* Tests the worked example of sp-rtrace-postproc, and a compressed trace, in which calls share a stack. */
static void test_example_of_sp_rtrace_is_read(void **state)
{
	static const char text[] = "version=2.0, arch=x86_64, timestamp=2023.11.14 22:13:20, process=/bin/prog, "
				   "pid=4242, backtrace depth=10, origin=sp-rtrace 1.8, \n"
				   "& pagemap : 4242-pagemap-0\n"
				   "## tracing module: [0] main (1.0)\n"
				   "## tracing module: [1] memory (1.2)\n"
				   "@ 1 : 1st context\n"
				   "<1> : memory (memory allocation in bytes)\n"
				   ": /bin/prog => 0x400000-0x401000\n"
				   "1. [01:01:01.001] malloc(100) = 0x602010\n"
				   "\t0x400123\n"
				   "\t0x7f0000000456\n"
				   "\n"
				   "2. @1 [01:01:01.002] calloc(24) = 0x602090\n"
				   "\t$nmemb = 2\n"
				   "\t$size = 12\n"
				   "\t0x400123\n"
				   "\n"
				   "3. @3 [01:01:01.003] free(0x602010)\n"
				   "\n"
				   "4. @2 malloc(-2147483647) = 0x602f00\n"
				   "\t0x400999\n"
				   "\n";

	expect_identity(text, true);
	expect_reading("version=2.0, filter=leaks|compress, \n"
		       "<1> : fd (file descriptor)\n"
		       "<2> : fp (file pointer) [refcount]\n"
		       "<4> : memory (memory allocation in bytes)\n"
		       "1. [00:24:32.197] open<fd>(1) = 0x4\n"
		       "4. fdopen<fp>(1) = 0x562719cbd320\n"
		       "\t$fd = 4\n"
		       "# allocation summary: 2 block(s) with total size 2\n"
		       "\t0x1 main() at a.c:1\n"
		       "\t0x2 from /lib/x\n"
		       "\n"
		       "5. free<4>(0x1)\n"
		       "# Resource - fd (file descriptor):\n",
		       "process v2.0 arch=- p0 little start=0.000000/- name=- origin=- filters=3\n"
		       "resource 1 0 fd (file descriptor)\n"
		       "resource 2 1 fp (file pointer)\n"
		       "resource 3 0 memory (memory allocation in bytes)\n"
		       "call 1 t=1472197000000 r=1 c=0 k=2 open id=4 size=1 frames 1{ main() at a.c:1} "
		       "2{ from /lib/x}\n"
		       "call 4 r=2 c=0 k=2 fdopen id=562719cbd320 size=1 [fd=4] frames 1{ main() at "
		       "a.c:1} 2{ from /lib/x}\n"
		       "call 5 r=3 c=0 k=1 free id=1 size=0\n"
		       "0 skipped=0\n");
}

/* The last line of a stack may say how the stack ends; if it does not, the depth of the trace decides. */
static void test_end_of_a_stack_is_read(void **state)
{
	static const char text[] = "version=1.4,backtrace depth=2\n"
				   "1. f(0x1)\n\t0x10\n\t0x20\n\t0x0 (cut)\n\n"
				   "2. f(0x1)\n\t0x10\n\t0x0 (lost)\n\n"
				   "3. f(0x1)\n\t0x0 (lost)\n\n"
				   "4. f(0x1)\n\t0x10 (cut)\n\n"
				   "5. f(0x1)\n\t0x0 (cut)\n\t0x10\n\n"
				   "6. f(0x1)\n\t0x0 in a()\n\n";
	static const char plain[] = "version=1.4,backtrace depth=2\n"
				    "1. f(0x1)\n\t0x10\n\t0x20\n\t0x0\n\n"
				    "2. f(0x1)\n\t0x10\n\t0x0\n\n";

	expect_identity(text, false);
	expect_reading(text, "process v1.4 arch=- p0 little start=0.000000/- depth=2 name=- origin=- filters=0\n"
			     "call 1 r=0 c=0 k=1 f id=1 size=0 frames 10 20 cut\n"
			     "call 2 r=0 c=0 k=1 f id=1 size=0 frames 10 lost\n"
			     "call 3 r=0 c=0 k=1 f id=1 size=0 frames lost\n"
			     "call 4 r=0 c=0 k=1 f id=1 size=0 frames 10{ (cut)}\n"
			     "call 5 r=0 c=0 k=1 f id=1 size=0 frames 0{ (cut)} 10\n"
			     "call 6 r=0 c=0 k=1 f id=1 size=0 frames 0{ in a()}\n"
			     "0 skipped=0\n");
	expect_reading(plain, "process v1.4 arch=- p0 little start=0.000000/- depth=2 name=- origin=- filters=0\n"
			      "call 1 r=0 c=0 k=1 f id=1 size=0 frames 10 20 cut\n"
			      "call 2 r=0 c=0 k=1 f id=1 size=0 frames 10 lost\n"
			      "0 skipped=0\n");
}

/* In resolved stacks the lines of inlined functions belong to the frame with the same address. */
static void test_inlined_lines_belong_to_their_frame(void **state)
{
	static const char text[] = "version=1.4,filter=resolve\n"
				   "1. malloc(1) = 0x1\n"
				   "\t0x10 in a() at a.c:1 (inlined)\n"
				   "\t0x10 in b(int) at a.c:2 (inlined)\n"
				   "\t0x10 in main() at a.c:3\n"
				   "\t0x20\n"
				   "\t0x30 in c() at a.c:1 (inlined)\n"
				   "\t0x40 from /lib/x\n"
				   "\t0x0 (cut)\n"
				   "\n";

	expect_identity(text, false);
	expect_reading(text, "process v1.4 arch=- p0 little start=0.000000/- name=- origin=- filters=4\n"
			     "call 1 r=0 c=0 k=2 malloc id=1 size=1 frames 10{ in a() at a.c:1 (inlined)\n"
			     "\t0x10 in b(int) at a.c:2 (inlined)\n"
			     "\t0x10 in main() at a.c:3} 20 30{ in c() at a.c:1 (inlined)} 40{ from /lib/x} "
			     "cut\n"
			     "0 skipped=0\n");
}

/* Lines that are almost valid, in and between calls, are copied unchanged and at their place. Only lines that begin
 * with "# " are dropped. */
static void test_other_lines_are_kept_as_comments(void **state)
{
	static const char text[] = "version=1.4\n"
				   "\n"
				   "#\n"
				   "#x\n"
				   "##\n"
				   "## \n"
				   "## heap status information:\n"
				   "##   heap bottom 0x1\n"
				   "## tracing module: [x] a (1.2)\n"
				   "## tracing module: [1] a (1.70000)\n"
				   "## thread x\n"
				   "## thread 4294967296 a\n"
				   "## build-id 0x1 012\n"
				   "## build-id 1 01\n"
				   ": a => 0x1\n"
				   ": a => b => 0x1-0x2\n"
				   ":\n"
				   "<0> : a (b)\n"
				   "<1> : a\n"
				   "<1> : a (b) c\n"
				   "@ 1: a\n"
				   "& a\n"
				   "\t0x1 a stack of nothing\n"
				   "\t$1 = a\n"
				   "1. \n"
				   "1. malloc(1)\n"
				   "1. malloc(a) = 0x1\n"
				   "1. (1) = 0x1\n"
				   "1. malloc(1) = 0x11111111111111111\n"
				   "1. malloc(18446744073709551616) = 0x1\n"
				   "1 malloc(1) = 0x1\n"
				   "99999999999999999999. malloc(1) = 0x1\n"
				   "1. @x malloc(1) = 0x1\n"
				   "1. [1:2] malloc(1) = 0x1\n"
				   "\n"
				   "\n"
				   "2. free(0x1)\n"
				   "\n"
				   "100% \\012 \\ \\1 \\134 \\134012\n";
	static const char shared[] = "version=1.4\n"
				     "1. malloc(1) = 0x1\n"
				     "a comment\n"
				     ": a => 0x1-0x2\n"
				     "# dropped\n"
				     "2. malloc(1) = 0x2\n"
				     "\t0x1\n"
				     "\n";

	expect_identity(text, false);
	expect_reading(shared, "process v1.4 arch=- p0 little start=0.000000/- name=- origin=- filters=0\n"
			       "call 1 r=0 c=0 k=2 malloc id=1 size=1 frames 1\n"
			       "comment a comment\n"
			       "object 1-2 a\n"
			       "call 2 r=0 c=0 k=2 malloc id=2 size=1 frames 1\n"
			       "0 skipped=0\n");
}

/* Characters that would break a line or a field are escaped, and read back unchanged. */
static void test_escaped_characters_are_read_back(void **state)
{
	static const char *const strings[] = {"plain", "a\nb",  "\\012",     "\\134012",    "\\134134012",
					      "\\",    "\\\\n", "\x7f\x01,", "\xff\xc3\xa4"};

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		for (int compat = 0; compat < 2; compat++) {
			const struct writer_options options = {.compat = compat};
			const struct record records[] = {
				{.type = RECORD_PROCESS, .process = {.name = strings[i]}},
				{.type = RECORD_OBJECT, .object = {1, 2, strings[i]}},
				{CALL_RECORD(.time_ns = TIME_NONE, .kind = CALL_RELEASE, .function = strings[i])},
			};
			struct buf text = {0}, got = {0}, expected = {0};

			write_trace("text", &options, records, ARRAY_SIZE(records), &text);
			dump_trace(text.data, text.size, &got);
			buf_printf(&expected,
				   "process v%s arch=- p0 little start=0.000000/- name=%s origin=- "
				   "filters=0\n"
				   "object 1-2 %s\n"
				   "call 0 r=0 c=0 k=1 %s id=0 size=0\n"
				   "0 skipped=0\n",
				   compat ? "2.0" : "1.4", strings[i], strings[i], strings[i]);
			assert_text(&got, buf_str(&expected));
			buf_free(&text);
			buf_free(&got);
			buf_free(&expected);
		}
}

static size_t name_frame(void *context, uint64_t address, const struct frame_name **names)
{
	static const struct frame_name inlined[] = {
		{.function = "inner", .file = "a.c", .line = 3, .inlined = true},
		{.function = "outer(int) const", .module = "/bin/p", .file = "a.c", .line = 9}};
	static const struct frame_name symbol = {.function = "operator()", .module = "/bin/p"};
	static const struct frame_name module = {.module = "/bin/p", .file = "a.c"};

	assert_string_equal(context, "context");
	*names = address == 1 ? inlined : address == 2 ? &symbol : &module;
	return address == 1 ? 2 : address == 4 ? 0 : 1;
}

static void test_names_are_written_with_frames(void **state)
{
	static const uint64_t addresses[] = {1, 2, 3, 4};
	static const char *const texts[] = {" old", " old", " old", " kept"};
	const struct record records[] = {
		{.type = RECORD_PROCESS},
		{CALL_RECORD(.time_ns = TIME_NONE, .kind = CALL_RELEASE, .function = "free", .frames = addresses,
			     .frame_count = 4, .has_frames = true)},
		{CALL_RECORD(.time_ns = TIME_NONE, .kind = CALL_RELEASE, .function = "free", .frames = addresses + 3,
			     .frame_texts = texts + 3, .frame_count = 1, .has_frames = true)},
	};
	struct writer_options options = {.namer = name_frame, .namer_context = (char[]){"context"}};
	struct buf got = {0};

	write_trace("text", &options, records, ARRAY_SIZE(records), &got);
	assert_text(&got, "version=1.4,filter=resolve\n"
			  "0. free(0x0)\n"
			  "\t0x1 in inner() at a.c:3 (inlined)\n"
			  "\t0x1 in outer(int) const at a.c:9\n"
			  "\t0x2 in operator() from /bin/p\n"
			  "\t0x3 from /bin/p\n"
			  "\t0x4\n"
			  "\n"
			  "0. free(0x0)\n"
			  "\t0x4 kept\n"
			  "\n");
	got.size = 0;
	options.compat = true;
	write_trace("text", &options, records, 2, &got);
	assert_text(&got, "version=2.0, filter=resolve, \n"
			  "0. free(0x0)\n"
			  "\t0x1 outer(int) const at a.c:9\n"
			  "\t0x2 operator() from /bin/p\n"
			  "\t0x3 from /bin/p\n"
			  "\t0x4 in ??\n"
			  "\n");
	buf_free(&got);
}

/* In a compressed group of calls only the last call has the summary, the stack and the blank line. */
static void test_only_the_last_call_of_a_group_has_the_stack(void **state)
{
	const struct record_call call = {.time_ns = TIME_NONE,
					 .kind = CALL_ALLOC,
					 .function = "malloc",
					 .args = args,
					 .arg_count = 1,
					 .frames = frames,
					 .frame_count = 1,
					 .has_frames = true};
	struct record records[] = {
		{.type = RECORD_PROCESS}, {.type = RECORD_CALL, .call = call}, {.type = RECORD_CALL, .call = call}};
	struct buf got = {0};

	records[1].call.shares_next = true;
	records[2].call.summary = "# allocation summary: 2 block(s) with total size 0";
	write_trace("text", NULL, records, ARRAY_SIZE(records), &got);
	assert_text(&got, "version=1.4\n"
			  "0. malloc(0) = 0x0\n"
			  "\t$1 = nmemb=2\n"
			  "0. malloc(0) = 0x0\n"
			  "\t$1 = nmemb=2\n"
			  "# allocation summary: 2 block(s) with total size 0\n"
			  "\t0x400123\n"
			  "\n");
	buf_free(&got);
}

/* The format's document allows arguments without a tab before them, and times with any number of digits. */
static void test_forms_of_the_document_are_read(void **state)
{
	expect_reading("version=1.2,timestamp=2026-11-21 02:03:30 +0100,pid=x,unknown=1\n"
		       "1. [1:2:3.5] f<x>(1) = 0x1\n"
		       "$1 = a\n"
		       "\t$name = value with blanks\n"
		       "$2\n"
		       "\t0xABCDEF\n"
		       "2. [23:59:59] g(0x1)",
		       "process v1.2 arch=- p0 little start=1795223010.000000/2026-11-21 02:03:30 "
		       "+0100 name=- origin=- filters=0\n"
		       "call 1 t=3723500000000 r=0 c=0 k=2 f<x> id=1 size=1 [=a] [name=value with "
		       "blanks] [=] frames abcdef\n"
		       "-74 skipped=0 the trace is cut off: it ends at byte 158 within a line that "
		       "begins at byte 138\n");
}

static void test_hostile_texts_are_reported(void **state)
{
	static const char nul[] = "version=1.4\n1. f(0x1)\n\t0x1\n\t0x2\0\n";
	struct buf text = {0}, got = {0};

	dump_trace(nul, sizeof(nul) - 1, &got);
	assert_text(&got, "process v1.4 arch=- p0 little start=0.000000/- name=- origin=- filters=0\n"
			  "call 1 r=0 c=0 k=1 f id=1 size=0 frames 1\n"
			  "-74 skipped=0 the trace is damaged at byte 31: a NUL byte, which no text has\n");
	buf_add_str(&text, "version=1.4\n1. f(0x1)\n");
	memset(buf_room(&text, 3 << 20), 'x', 3 << 20);
	text.size += 3 << 20;
	got.size = 0;
	dump_trace(text.data, text.size, &got);
	assert_text(&got, "process v1.4 arch=- p0 little start=0.000000/- name=- origin=- filters=0\n"
			  "call 1 r=0 c=0 k=1 f id=1 size=0\n"
			  "-74 skipped=0 the trace is damaged at byte 22: a line is longer than 1048576 "
			  "bytes\n");
	buf_free(&text);
	buf_free(&got);
	expect_reading("hello\n",
		       "none: the input is no trace of a known format: it begins with other text "
		       "than a trace's header. Formats are: rtrace, text, mpatrol, stacktrack, swap, rows\n");
}

/* A stack that is longer than the limit is truncated and marked, not refused. */
static void test_endless_stack_is_truncated(void **state)
{
	struct buf text = {0};
	struct record record;
	char error[256];

	buf_add_str(&text, "version=1.4\n1. f(0x1)\n");
	for (unsigned i = 1; i <= 70000; i++)
		buf_printf(&text, "\t0x%x\n", i);
	buf_add_str(&text, "\n2. f(0x1)\n\n");
	struct reader *reader = reader_new(memory_file(text.data, text.size), NULL, error, sizeof(error));

	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(record.call.frame_count, 65536);
	assert_true(record.call.end);
	assert_int_equal(record.call.frames[65535], 65536);
	assert_int_equal(reader_next(reader, &record), 1);
	assert_int_equal(record.call.index, 2);
	assert_int_equal(reader_next(reader, &record), 0);
	reader_close(reader);
	buf_free(&text);
}

/* If a group of calls is longer than the reader's limit, the reader returns the first calls before it knows the group's
 * stack, and marks them as sharing the stack of the next call. */
static void test_endless_group_is_returned_in_parts(void **state)
{
	static const char line[] = "1. malloc(1) = 0x1111111111111111\n";
	const size_t count = (200u << 20) / (sizeof(line) - 1);
	struct buf text = {0};
	struct record record;
	char error[256];
	size_t calls = 0, shared = 0;
	int status;

	buf_add_str(&text, "version=1.4\n");
	for (size_t i = 0; i < count; i++)
		buf_add(&text, line, sizeof(line) - 1);
	buf_add_str(&text, "\t$1 = last\n# summary\n\t0x1\n\n2. free(0x1)\n\n");
	struct reader *reader = reader_new(memory_file(text.data, text.size), NULL, error, sizeof(error));

	buf_free(&text);
	assert_int_equal(reader_next(reader, &record), 1);
	while (calls < count && reader_next(reader, &record) == 1) {
		assert_int_equal(record.type, RECORD_CALL);
		assert_int_equal(record.call.index, 1);
		assert_int_equal(record.call.arg_count, ++calls == count);
		/* After the first call that has the stack, all further calls have it, too. */
		assert_true(record.call.shares_next == !record.call.has_frames);
		assert_true(!record.call.shares_next || shared == calls - 1);
		shared += record.call.shares_next;
	}
	assert_int_equal(calls, count);
	assert_true(shared > count - (512 << 10) / (sizeof(line) - 1) && shared < count);
	assert_int_equal(record.call.frame_count, 1);
	assert_int_equal(reader_next(reader, &record), 1);
	assert_false(record.call.shares_next || record.call.has_frames);
	assert_int_equal(record.call.index, 2);
	status = reader_next(reader, &record);
	assert_int_equal(status, 0);
	reader_close(reader);
}

/* The lines between two calls need more memory than the reader allows. */
static void test_endless_comments_are_refused(void **state)
{
	struct buf text = {0};
	struct record record;
	char error[256];
	int status;

	buf_add_str(&text, "version=1.4\n1. free(0x1)\n");
	for (size_t i = 0; i < 70; i++) {
		memset(buf_room(&text, 1 << 20), '#', 1 << 20);
		text.size += (1 << 20) - 1;
		buf_add_char(&text, '\n');
	}
	struct reader *reader = reader_new(memory_file(text.data, text.size), NULL, error, sizeof(error));

	buf_free(&text);
	while ((status = reader_next(reader, &record)) == 1)
		;
	assert_int_equal(status, -74);
	assert_non_null(strstr(reader_error(reader), "calls share one stack"));
	reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_are_written_as_lines),
		cmocka_unit_test(test_heap_summary_counts_only_memory),
		cmocka_unit_test(test_lines_are_copied_unchanged),
		cmocka_unit_test(test_lines_are_read_as_records),
		cmocka_unit_test(test_trace_of_functracer_is_read),
		cmocka_unit_test(test_example_of_sp_rtrace_is_read),
		cmocka_unit_test(test_end_of_a_stack_is_read),
		cmocka_unit_test(test_inlined_lines_belong_to_their_frame),
		cmocka_unit_test(test_other_lines_are_kept_as_comments),
		cmocka_unit_test(test_escaped_characters_are_read_back),
		cmocka_unit_test(test_names_are_written_with_frames),
		cmocka_unit_test(test_only_the_last_call_of_a_group_has_the_stack),
		cmocka_unit_test(test_forms_of_the_document_are_read),
		cmocka_unit_test(test_hostile_texts_are_reported),
		cmocka_unit_test(test_endless_stack_is_truncated),
		cmocka_unit_test(test_endless_group_is_returned_in_parts),
		cmocka_unit_test(test_endless_comments_are_refused),
	};

	/* Compat headers are in local time. */
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
