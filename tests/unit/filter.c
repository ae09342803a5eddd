/* Tests a filter of allocations with records that the test makes. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "analysis/clock.h"
#include "analysis/select/select.h"
#include "base/buf.h"

#include <inttypes.h>

#define SECOND UINT64_C(1000000000)

/* The last stage, which keeps the numbers of the calls. */
struct sink {
	struct stage stage;
	struct buf text;
};

static int sink_put(struct stage *stage, const struct record *record)
{
	if (record->type == RECORD_CALL)
		buf_printf(&((struct sink *)stage)->text, "%" PRIu64 " ", record->call.index);
	for (uint32_t i = 0; record->type == RECORD_BASELINE && i < record->baseline.count; i++)
		buf_printf(&((struct sink *)stage)->text, "before-%" PRIx64 " ", record->baseline.blocks[i].id);
	if (record->type == RECORD_LOST)
		buf_printf(&((struct sink *)stage)->text, "lost-%" PRIx64 " ", record->lost.id);
	return 0;
}

/* All stages, and the number of the last call. */
struct chain {
	struct sink sink;
	struct filter filter;
	struct stage *select, *clock;
	uint64_t index;
	bool has_times;
};

static void begin(struct chain *chain, const struct filter_options *options, const struct select_options *select)
{
	*chain = (struct chain){.sink.stage.put = sink_put, .has_times = true};
	struct select_options with_filter = *select;

	with_filter.filter = &chain->filter;
	chain->select = select_new(&chain->sink.stage, &with_filter);
	chain->clock = clock_new(chain->select);
	chain->filter = (struct filter){.options = *options, .clock = clock_of(chain->clock)};
}

static void put(struct chain *chain, const struct record *record)
{
	assert_int_equal(stage_put(chain->clock, record), 0);
}

static void put_call(struct chain *chain, enum call_kind kind, uint64_t id, uint64_t size, uint64_t second)
{
	put(chain, &(struct record){CALL_RECORD(.index = ++chain->index,
						.time_ns = chain->has_times ? second * SECOND : TIME_NONE,
						.resource = 1, .kind = kind, .function = "f", .id = id, .size = size)});
}

static void declare(struct chain *chain, uint32_t flags)
{
	put(chain, &(struct record){.type = RECORD_RESOURCE,
				    .resource = {.id = 1, .flags = flags, .type = "memory", .desc = "d"}});
}

static void expect(struct chain *chain, const char *numbers)
{
	assert_string_equal(buf_str(&chain->sink.text), numbers);
	chain->select->free(chain->select);
	chain->clock->free(chain->clock);
	buf_free(&chain->sink.text);
}

static const struct filter_options large = {.size = "10-", .size_min = 10, .size_max = UINT64_MAX};
static const struct select_options none;

static void releases_are_selected_with_their_allocation(void **state)
{
	struct chain chain;

	begin(&chain, &large, &none);
	declare(&chain, 0);
	put_call(&chain, CALL_ALLOC, 0xa, 10, 1);
	put_call(&chain, CALL_ALLOC, 0xb, 9, 2);
	put_call(&chain, CALL_RELEASE, 0xa, 0, 3);
	put_call(&chain, CALL_RELEASE, 0xb, 0, 4);
	put_call(&chain, CALL_RELEASE, 0xa, 0, 5); /* a second release: no block is there */
	put_call(&chain, CALL_ALLOC, 0xb, 11, 6);  /* allocated again */
	put_call(&chain, CALL_ALLOC, 0xb, 1, 7);   /* without a release between */
	put_call(&chain, CALL_RELEASE, 0xb, 0, 8);
	put_call(&chain, CALL_COPY, 0xc, 12, 9);
	put_call(&chain, CALL_COPY, 0xc, 2, 9);
	expect(&chain, "1 3 6 9 ");
}

/* A block's releases and a scan's verdict on it are selected together with its allocation. A block from before the
 * trace is older than any given age, but no range of times and no thread selects it. */
static void baseline_blocks_are_selected_by_size_and_age(void **state)
{
	static const struct baseline_block blocks[] = {{0xa, 10}, {0xb, 9}, {0xc, 11}};
	static const struct {
		struct filter_options options;
		const char *expected;
	} rows[] = {
		{{.size = "10-", .size_min = 10, .size_max = UINT64_MAX}, "before-a before-c 1 lost-c "},
		{{.older = "5s", .age = 5 * SECOND}, "before-a before-b before-c 1 lost-b lost-c "},
		{{.time = "0-9", .to = 9 * SECOND}, "2 "},
		{{.thread = "7"}, ""},
	};
	struct chain chain;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(&chain, &rows[i].options, &none);
		declare(&chain, 0);
		put(&chain, &(struct record){.type = RECORD_BASELINE, .baseline = {1, blocks, 3}});
		put_call(&chain, CALL_RELEASE, 0xa, 0, 1);
		put_call(&chain, CALL_ALLOC, 0xd, 1, 2);
		put(&chain, &(struct record){.type = RECORD_LOST, .lost = {1, 0xb, LOST_DEFINITELY}});
		put(&chain, &(struct record){.type = RECORD_LOST, .lost = {1, 0xc, LOST_DEFINITELY}});
		expect(&chain, rows[i].expected);
	}
}

static void references_are_selected_with_the_first_one(void **state)
{
	struct chain chain;

	begin(&chain, &large, &none);
	declare(&chain, RESOURCE_REFCOUNT);
	put_call(&chain, CALL_ALLOC, 0xa, 10, 1);
	put_call(&chain, CALL_ALLOC, 0xa, 1, 2);
	put_call(&chain, CALL_ALLOC, 0xb, 1, 3);
	put_call(&chain, CALL_ALLOC, 0xb, 10, 4);
	put_call(&chain, CALL_RELEASE, 0xa, 0, 5);
	put_call(&chain, CALL_RELEASE, 0xa, 0, 6);
	put_call(&chain, CALL_ALLOC, 0xa, 1, 7);
	put_call(&chain, CALL_RELEASE, 0xb, 0, 8);
	expect(&chain, "1 2 5 6 ");
}

/* Event numbers that the user selects restrict the result further. They select calls if the output is a list of calls,
 * else allocations with their releases. */
static void other_filters_apply_to_each_call(void **state)
{
	const uint64_t numbers[] = {1, 3, 4};
	const struct index_set set = {.items = (uint64_t *)(uintptr_t)numbers, .count = 3};
	struct chain chain;

	for (int by_allocation = 0; by_allocation < 2; by_allocation++) {
		begin(&chain, &large, &(struct select_options){.include = &set, .by_allocation = by_allocation});
		declare(&chain, 0);
		put_call(&chain, CALL_ALLOC, 0xa, 10, 1);
		put_call(&chain, CALL_ALLOC, 0xb, 10, 2);
		put_call(&chain, CALL_RELEASE, 0xb, 0, 3);
		put_call(&chain, CALL_ALLOC, 0xc, 1, 4);
		put_call(&chain, CALL_RELEASE, 0xa, 0, 5);
		expect(&chain, by_allocation ? "1 5 " : "1 3 ");
	}
}

static void calls_are_selected_by_allocating_thread(void **state)
{
	const uint32_t threads[] = {7, 9};
	const struct filter_options options = {.thread = "7,9", .threads = threads, .thread_count = 2};
	struct chain chain;

	begin(&chain, &options, &none);
	declare(&chain, 0);
	put_call(&chain, CALL_ALLOC, 0xa, 1, 1); /* by an unknown thread */
	put(&chain, &(struct record){.type = RECORD_THREAD, .thread = {7, "seven"}});
	put_call(&chain, CALL_ALLOC, 0xb, 1, 2);
	put(&chain, &(struct record){.type = RECORD_THREAD, .thread = {8, "eight"}});
	put_call(&chain, CALL_ALLOC, 0xc, 1, 3);
	put_call(&chain, CALL_RELEASE, 0xb, 0, 4);
	put(&chain, &(struct record){.type = RECORD_THREAD, .thread = {9, ""}});
	put_call(&chain, CALL_RELEASE, 0xc, 0, 5);
	put_call(&chain, CALL_ALLOC, 0xd, 1, 6);
	expect(&chain, "2 4 6 ");
}

static void times_count_from_the_first_call_past_midnight(void **state)
{
	const struct filter_options options = {.time = "2-4", .from = 2 * SECOND, .to = 4 * SECOND};
	const uint64_t day = 86400;
	struct chain chain;

	begin(&chain, &options, &none);
	declare(&chain, 0);
	put_call(&chain, CALL_ALLOC, 0xa, 1, day - 3);
	put_call(&chain, CALL_ALLOC, 0xb, 1, day - 4); /* written late: at 0 */
	put_call(&chain, CALL_ALLOC, 0xc, 1, day - 1);
	put_call(&chain, CALL_ALLOC, 0xd, 1, 1); /* modulo 24 hours */
	put_call(&chain, CALL_ALLOC, 0xe, 1, day + 2);
	put_call(&chain, CALL_RELEASE, 0xc, 0, day + 3);
	assert_int_equal(clock_of(chain.clock)->last, 6 * SECOND);
	expect(&chain, "3 4 6 ");

	begin(&chain, &options, &none);
	chain.has_times = false;
	chain.index = 100;
	declare(&chain, 0);
	for (uint64_t id = 1; id < 8; id++)
		put_call(&chain, CALL_ALLOC, id, 1, 0);
	assert_int_equal(clock_of(chain.clock)->last, 6);
	expect(&chain, "103 104 105 ");
}

static void filter_without_matches_is_reported(void **state)
{
	struct chain chain;
	struct buf out = {0};

	begin(&chain, &large, &none);
	filter_report(&chain.filter, &out);
	assert_int_equal(out.size, 0); /* there was no call to select */
	declare(&chain, 0);
	put_call(&chain, CALL_ALLOC, 0xa, 1, 1);
	filter_report(&chain.filter, &out);
	assert_string_equal(buf_str(&out), "--size=10- matches nothing: no allocation has such a size\n");
	out.size = 0;
	put_call(&chain, CALL_ALLOC, 0xa, 10, 1);
	filter_report(&chain.filter, &out);
	assert_int_equal(out.size, 0);
	buf_free(&out);
	expect(&chain, "2 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases_are_selected_with_their_allocation),
		cmocka_unit_test(baseline_blocks_are_selected_by_size_and_age),
		cmocka_unit_test(references_are_selected_with_the_first_one),
		cmocka_unit_test(other_filters_apply_to_each_call),
		cmocka_unit_test(calls_are_selected_by_allocating_thread),
		cmocka_unit_test(times_count_from_the_first_call_past_midnight),
		cmocka_unit_test(filter_without_matches_is_reported),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
