/* Tests the page's data: exact texts of small profiles, hostile names, folding. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "base/buf.h"
#include "profile/profile_stage.h"
#include "report/html/page.h"
#include "report/html/page_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND 1000000000ull

struct feed {
	struct profile *profile;
	struct stage *stage;
	uint64_t index;
};

static void put(struct feed *feed, const struct record *record)
{
	assert_int_equal(stage_put(feed->stage, record), 0);
}

static void begin(struct feed *feed, const char *program, const char *type)
{
	const struct profile_stage_options options = {.profile = feed->profile = profile_new()};
	struct record record = {.type = RECORD_PROCESS, .process = {.name = program, .pid = 7, .has_pid = true}};

	feed->stage = profile_stage_new(&options);
	feed->index = 0;
	put(feed, &record);
	record = (struct record){.type = RECORD_RESOURCE, .resource = {.id = 1, .type = type, .desc = "what <it> is"}};
	put(feed, &record);
}

/* Feeds a call. frames: the addresses of its frames; texts: the names of these frames in the trace. */
static void call(struct feed *feed, uint64_t time, enum call_kind kind, uint64_t id, uint64_t size,
		 const uint64_t *frames, const char *const *texts, uint32_t count)
{
	const struct record record = {
		CALL_RECORD(.index = ++feed->index, .time_ns = time, .resource = 1, .kind = kind,
			    .function = kind == CALL_ALLOC ? "malloc" : "free", .id = id, .size = size,
			    .frames = frames, .frame_texts = texts, .frame_count = count, .has_frames = count != 0),
	};

	put(feed, &record);
}

/* Returns the data as text, and frees the profile. */
static char *finish(struct feed *feed, const struct page_limits *limits)
{
	const struct page_options options = {0};
	struct buf json = {0};

	assert_int_equal(stage_finish(feed->stage), 0);
	feed->stage->free(feed->stage);
	profile_end(feed->profile);
	page_data_add(&json, feed->profile, &options, limits);
	char *text = xstrdup(buf_str(&json));

	buf_free(&json);
	profile_free(feed->profile);
	return text;
}

/* Returns the array after a key. */
static char *part(const char *json, const char *key)
{
	const char *from = strstr(json, key);

	if (!from)
		fail_msg("no %s in %s", key, json);
	from += strlen(key);
	return xstrndup(from, strcspn(from, "]") + 1);
}

static void assert_part(const char *json, const char *key, const char *expected)
{
	char *found = part(json, key);

	assert_string_equal(found, expected);
	free(found);
}

static void small_profile_is_written_in_full(void **state)
{
	static const uint64_t a[] = {0x10, 0x30}, b[] = {0x20, 0x30};
	static const char *const a_texts[] = {" alloc_a at /no/a.c:5", " main at /no/m.c:8"};
	static const char *const b_texts[] = {" alloc_b from /lib/b.so", " main at /no/m.c:8"};
	struct feed feed = {0};

	begin(&feed, "prog", "memory");
	call(&feed, 0, CALL_ALLOC, 0x1000, 100, a, a_texts, 2);
	call(&feed, 10, CALL_ALLOC, 0x2000, 30, b, b_texts, 2);
	call(&feed, 20, CALL_RELEASE, 0x1000, 0, NULL, NULL, 0);
	call(&feed, 30, CALL_RELEASE, 0x9999, 0, NULL, NULL, 0);
	char *json = finish(&feed, &page_data_limits);

	assert_part(json, "\"programs\":", "[{\"name\":\"prog\",\"pid\":7,\"attached\":false}]");
	/* b comes first, because only its block is live at the end. */
	assert_part(json, "\"names\":",
		    "[\"\",\"main\",\"/no/m.c\",\"alloc_b\",\"/lib/b.so\",\"malloc\",\"alloc_a\",\"/no/a.c\"]");
	assert_part(json, "\"frames\":", "[1,0,2,8,0,0,3,4,0,0,0,0,6,0,7,5,0,0]");
	assert_part(json, "\"nodes\":", "[0,0,1,1,1,2]");
	assert_part(json, "\"allocated\":", "[2,130]");
	assert_part(json, "\"live\":", "[1,30]");
	assert_part(json, "\"peak\":", "[2,130]");
	assert_part(json, "\"temporary\":", "[0,0]");
	assert_non_null(strstr(json, "\"moment_width\":1,\"moment_count\":31,\"span_width\":1,"));
	/* b is live from moment 11 on, a from 1 to 20. */
	assert_part(json, "\"rows\":[", "[2,5,0,0,1,30,1,30,1,30,0,0,0,0,10,20,20,[11,1,30]");
	assert_non_null(strstr(json, "\n[3,5,0,0,1,100,0,0,1,100,0,0,1,20,0,0,0,[1,1,100,21,0,0]]]"));
	assert_non_null(strstr(json, "\"unknown\":1,\"reused\":0,"));
	assert_non_null(strstr(json, "\"sizes\":[5,1,30,7,1,100],\"lives\":[0,1],"));
	assert_non_null(strstr(json, "\"desc\":\"what \\u003cit> is\",\"one\":\"block\",\"many\":\"blocks\","));
	free(json);
}

static void lost(struct feed *feed, uint64_t id, enum lost_kind kind)
{
	put(feed, &(struct record){.type = RECORD_LOST, .lost = {.resource = 1, .id = id, .kind = kind}});
}

static void lost_blocks_are_written(void **state)
{
	static const uint64_t a[] = {0x10}, b[] = {0x20};
	static const char *const a_texts[] = {" alloc_a at /no/a.c:5"}, *const b_texts[] = {" alloc_b from /lib/b.so"};
	const struct page_limits folds = {.groups = 0, .folded = 100000, .sources = 0};
	const struct page_limits *const limits[] = {&page_data_limits, &folds};

	for (size_t i = 0; i < 2; i++) {
		struct feed feed = {0};

		begin(&feed, "prog", "memory");
		call(&feed, 0, CALL_ALLOC, 0x1000, 100, a, a_texts, 1);
		call(&feed, 1, CALL_ALLOC, 0x2000, 30, a, a_texts, 1);
		call(&feed, 2, CALL_ALLOC, 0x3000, 7, b, b_texts, 1);
		call(&feed, 3, CALL_ALLOC, 0x4000, 1, b, b_texts, 1);
		put(&feed, &(struct record){.type = RECORD_SCAN, .scan = {.resource = 1, .reason = ""}});
		lost(&feed, 0x1000, LOST_DEFINITELY);
		lost(&feed, 0x2000, LOST_INDIRECTLY);
		lost(&feed, 0x3000, LOST_POSSIBLY);
		char *json = finish(&feed, limits[i]);

		assert_part(json, "\"lost\":[", "1,100,1,30,1,7]");
		assert_part(json, "\"not_scanned\":", "[0,0]");
		assert_null(strstr(json, "unscanned"));
		assert_non_null(strstr(json, i ? "],[1,100,1,30,1,7]]]" : "],[1,100,1,30,0,0]]"));
		if (!i)
			assert_non_null(strstr(json, "],[0,0,0,0,1,7]]"));
		free(json);
	}
	struct feed feed = {0};

	begin(&feed, "prog", "memory");
	call(&feed, 0, CALL_ALLOC, 0x1000, 100, a, a_texts, 1);
	put(&feed, &(struct record){.type = RECORD_SCAN, .scan = {.resource = 1, .reason = "<no>"}});
	char *json = finish(&feed, &page_data_limits);

	assert_null(strstr(json, "\"not_scanned\""));
	assert_non_null(strstr(json, "\"unscanned\":\"prog\",\"why_unscanned\":\"\\u003cno>\""));
	free(json);
}

static void hostile_names_are_escaped(void **state)
{
	static const uint64_t frames[] = {0x10, 0x20};
	static const char *const texts[] = {" </script><script>alert(1)</script> at /a/<!--.c:1",
					    " \xff\x01\"\\ at \n:2"};
	char *name = xmalloc(100001);
	struct feed feed = {0};

	memset(name, '<', 100000);
	name[100000] = '\0';
	begin(&feed, name, "</script>");
	call(&feed, 0, CALL_ALLOC, 1, UINT64_MAX, frames, texts, 2);
	call(&feed, 1, CALL_ALLOC, 2, UINT64_MAX, frames, texts, 2);
	char *json = finish(&feed, &page_data_limits);

	assert_null(strchr(json, '<'));
	for (const char *at = json; *at; at++)
		assert_true((unsigned char)*at >= ' ' || *at == '\n');
	assert_non_null(strstr(json, "\\u003c/script>\\u003cscript>alert(1)\\u003c/script>"));
	assert_true(strlen(json) < 20000);
	/* A saturated sum, which JavaScript would round. */
	assert_non_null(strstr(json, "\"live\":[2,\"18446744073709551615\"]"));
	free(json);
	free(name);
}

/* Numbers of different stacks, and of the functions through which they go. */
enum { STACKS = 20000, CALLERS = 100 };

static void feed_stacks(struct feed *feed)
{
	begin(feed, "prog", "memory");
	for (uint64_t i = 0; i < STACKS; i++) {
		const uint64_t frames[] = {0x100000 + i, 0x1000 + i % CALLERS, 0x10};
		char *own = xasprintf(" own_%" PRIu64, i), *caller = xasprintf(" caller_%" PRIu64, i % CALLERS);
		const char *texts[] = {own, caller, " main"};

		call(feed, i * SECOND, CALL_ALLOC, i + 1, i + 1, frames, texts, 3);
		if (i % 3 == 0)
			call(feed, i * SECOND, CALL_RELEASE, i + 1, 0, NULL, NULL, 0);
		free(own);
		free(caller);
	}
}

struct sums {
	uint64_t rows, folded, groups, allocated, allocated_bytes, live, live_bytes;
};

static struct sums sum_rows(const char *json)
{
	struct sums sums = {0};
	const char *at = strstr(json, "\"rows\":[");

	assert_non_null(at);
	for (at += strlen("\"rows\":"); at && at[1] == '['; at = strstr(at, ",\n[") ? strstr(at, ",\n[") + 1 : NULL) {
		uint64_t n[8];

		assert_int_equal(sscanf(at + 2,
					"%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64
					",%" SCNu64 ",%" SCNu64,
					&n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]),
				 8);
		sums.rows++;
		sums.folded += n[2] != 0;
		sums.groups += n[2] ? n[2] : 1;
		sums.allocated += n[4];
		sums.allocated_bytes += n[5];
		sums.live += n[6];
		sums.live_bytes += n[7];
	}
	return sums;
}

static void assert_exact_sums(const struct sums *sums)
{
	uint64_t live = 0, live_bytes = 0;

	for (uint64_t i = 0; i < STACKS; i++)
		if (i % 3) {
			live++;
			live_bytes += i + 1;
		}
	assert_int_equal(sums->groups, STACKS);
	assert_int_equal(sums->allocated, STACKS);
	assert_int_equal(sums->allocated_bytes, (uint64_t)STACKS * (STACKS + 1) / 2);
	assert_int_equal(sums->live, live);
	assert_int_equal(sums->live_bytes, live_bytes);
}

static void small_stacks_are_folded(void **state)
{
	static const struct {
		struct page_limits limits;
		uint64_t folded_min, folded_max;
	} rows[] = {
		{{10000000, 1000000, 0}, 0, 0},
		{{200000, 1000000, 0}, CALLERS, CALLERS + 1},
		{{200000, 20000, 0}, 2, 20},
		{{0, 0, 0}, 1, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct feed feed = {0};

		feed_stacks(&feed);
		char *json = finish(&feed, &rows[i].limits);
		const struct sums sums = sum_rows(json);

		assert_exact_sums(&sums);
		assert_in_range(sums.folded, rows[i].folded_min, rows[i].folded_max);
		/* The limits do not include the head, and 1024 spans with three numbers each: at most 60000 bytes. */
		assert_true(strlen(json) < rows[i].limits.groups + rows[i].limits.folded + 60000);
		/* If there is room, the stack with the largest temporary block is shown by itself. A small stack is
		 * not. */
		if (i != 3)
			assert_non_null(strstr(json, "\"own_19998\""));
		if (i)
			assert_null(strstr(json, "\"own_3\""));
		free(json);
	}
}

static void trace_without_events_gives_an_empty_page(void **state)
{
	struct feed feed = {0};

	begin(&feed, "prog", "memory");
	char *json = finish(&feed, &page_data_limits);

	assert_part(json, "\"nodes\":", "[]");
	assert_part(json, "\"rows\":", "[]");
	assert_part(json, "\"bytes\":", "[]");
	free(json);
}

static void page_contains_its_data_once(void **state)
{
	const struct page_options options = {0};
	struct profile *profile = profile_new();
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	profile_end(profile);
	assert_int_equal(page_write(profile, &options, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), size);
	assert_non_null(strstr(text, "<script type=\"application/json\" id=\"data\">{\"generator\":\""));
	assert_non_null(strstr(text, "default-src 'none'"));
	assert_null(strstr(text, "@DATA@"));
	assert_null(strstr(text, "@CSS@"));
	assert_null(strstr(text, "@JS@"));
	/* The page loads nothing: its only address is the name of the SVG namespace. */
	const char *address = strstr(text, "://");

	assert_non_null(address);
	assert_int_equal(strncmp(address, "://www.w3.org/2000/svg", 22), 0);
	assert_null(strstr(address + 1, "://"));
	free(text);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_profile_is_written_in_full),
		cmocka_unit_test(lost_blocks_are_written),
		cmocka_unit_test(hostile_names_are_escaped),
		cmocka_unit_test(small_stacks_are_folded),
		cmocka_unit_test(trace_without_events_gives_an_empty_page),
		cmocka_unit_test(page_contains_its_data_once),
	};

	return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}
