/* Tests accounts, timelines and profiles with records that the test makes. */
#include "config.h"
#include "records.h"
#include "unit_test.h"

#include "profile/frame_origin.h"
#include "profile/profile.h"
#include "profile/profile_stage.h"

#include <stdlib.h>

#define SECOND 1000000000ull

/* Each address is one frame; the text at the same index is its resolved name. */
static const uint64_t STACK_A[] = {0x1010, 0x1100}, STACK_B[] = {0x1020, 0x1100};
static const char *const TEXTS_A[] = {" alloc_a at a.c:1", " main at m.c:9"};
static const char *const TEXTS_B[] = {" alloc_b at a.c:2", " main at m.c:9"};

struct feed {
	struct profile *profile;
	struct stage *stage;
	uint64_t index;
	bool no_times;
};

static void put(struct feed *feed, const struct record *record)
{
	assert_int_equal(stage_put(feed->stage, record), 0);
}

static void begin_with(struct feed *feed, const struct profile_stage_options *options, uint32_t pid, int64_t start)
{
	struct profile_stage_options wanted = *options;
	struct record record = {PROCESS_RECORD(.name = "prog", .pid = pid, .has_pid = true, .start_sec = start)};

	if (!feed->profile)
		feed->profile = profile_new();
	wanted.profile = feed->profile;
	feed->stage = profile_stage_new(&wanted);
	feed->index = 0;
	put(feed, &record);
	record = (struct record){.type = RECORD_RESOURCE, .resource = {.id = 1, .type = "memory", .desc = "bytes"}};
	put(feed, &record);
}

static void begin(struct feed *feed)
{
	begin_with(feed, &(struct profile_stage_options){0}, 1, 86400);
}

static void call(struct feed *feed, enum call_kind kind, uint64_t time, uint64_t id, uint64_t size, bool is_b)
{
	struct record record = {
		CALL_RECORD(.index = ++feed->index, .time_ns = feed->no_times ? TIME_NONE : time, .resource = 1,
			    .kind = kind, .function = kind == CALL_ALLOC ? "malloc" : "free", .id = id, .size = size,
			    .frames = is_b ? STACK_B : STACK_A, .frame_texts = is_b ? TEXTS_B : TEXTS_A,
			    .frame_count = kind == CALL_ALLOC ? 2 : 0, .has_frames = kind == CALL_ALLOC),
	};

	put(feed, &record);
}

static void allocate(struct feed *feed, uint64_t time, uint64_t id, uint64_t size, bool is_b)
{
	call(feed, CALL_ALLOC, time, id, size, is_b);
}

static void release(struct feed *feed, uint64_t time, uint64_t id)
{
	call(feed, CALL_RELEASE, time, id, 0, false);
}

static void thread(struct feed *feed, uint32_t tid, const char *name)
{
	const struct record record = {.type = RECORD_THREAD, .thread = {tid, name}};

	put(feed, &record);
}

static void end_process(struct feed *feed)
{
	assert_int_equal(stage_finish(feed->stage), 0);
	feed->stage->free(feed->stage);
	feed->stage = NULL;
}

static void end(struct feed *feed)
{
	end_process(feed);
	profile_end(feed->profile);
}

static const struct profile_group *group(const struct feed *feed, const char *innermost)
{
	for (size_t i = 0; i < feed->profile->group_count; i++)
		if (feed->profile->groups[i]->frame_count &&
		    !strcmp(feed->profile->groups[i]->frames[0]->function, innermost))
			return feed->profile->groups[i];
	fail_msg("no group of %s", innermost);
	return NULL;
}

static void assert_tally(struct tally tally, uint64_t calls, uint64_t bytes)
{
	assert_int_equal(tally.calls, calls);
	assert_int_equal(tally.bytes, bytes);
}

static void groups_are_counted_by_stack(void **state)
{
	struct feed feed = {0};

	begin(&feed);
	allocate(&feed, 1 * SECOND, 0x10, 100, false);
	allocate(&feed, 2 * SECOND, 0x20, 30, true);
	release(&feed, 3 * SECOND, 0x10);
	allocate(&feed, 5 * SECOND, 0x30, 7, false);
	release(&feed, 5 * SECOND, 0x99);
	end(&feed);
	assert_int_equal(feed.profile->group_count, 2);
	const struct profile_group *a = group(&feed, "alloc_a"), *b = group(&feed, "alloc_b");

	assert_tally(a->allocated, 2, 107);
	assert_tally(a->live, 1, 7);
	assert_tally(a->own_peak, 1, 100);
	assert_int_equal(a->lifetimes, 2 * SECOND);
	assert_int_equal(a->released, 1);
	assert_int_equal(a->oldest_since, 4 * SECOND);
	assert_int_equal(b->first_since, SECOND);
	/* At the peak the blocks of both groups were live. */
	assert_tally(a->at_peak, 1, 100);
	assert_tally(b->at_peak, 1, 30);
	const struct profile_resource *memory = feed.profile->resources[0];

	assert_tally(memory->peak, 2, 130);
	assert_int_equal(memory->peak_since, SECOND);
	assert_int_equal(memory->releases, 2);
	assert_int_equal(memory->unknown_releases, 1);
	assert_tally(memory->live, 2, 37);
	/* main is the same frame in both stacks. */
	assert_ptr_equal(a->frames[1], b->frames[1]);
	assert_string_equal(a->frames[1]->file, "m.c");
	assert_int_equal(a->frames[1]->line, 9);
	assert_int_equal(feed.profile->frame_count, 3);
	profile_free(feed.profile);
}

static void higher_peak_replaces_the_earlier_one(void **state)
{
	struct feed feed = {0};

	begin(&feed);
	allocate(&feed, 1, 1, 50, false);
	allocate(&feed, 2, 2, 50, true);
	release(&feed, 3, 1);
	allocate(&feed, 4, 3, 60, true); /* 110 bytes are a new peak, at which the first block is no longer live */
	release(&feed, 5, 2);
	release(&feed, 6, 3);
	end(&feed);
	assert_tally(group(&feed, "alloc_a")->at_peak, 0, 0);
	assert_tally(group(&feed, "alloc_b")->at_peak, 2, 110);
	assert_tally(group(&feed, "alloc_b")->live, 0, 0);
	profile_free(feed.profile);
}

static void blocks_released_before_the_next_are_temporary(void **state)
{
	struct feed feed = {0};

	begin(&feed);
	thread(&feed, 7, "one");
	allocate(&feed, 1, 1, 50, false);
	release(&feed, 2, 1);
	allocate(&feed, 3, 2, 5, false);
	thread(&feed, 8, "two");
	allocate(&feed, 4, 3, 6, false);
	release(&feed, 5, 2);
	release(&feed, 6, 3);
	allocate(&feed, 7, 2, 9, true);
	/* Block 2 is allocated again though no release was seen: the old block counts as released, and not as
	 * temporary. */
	allocate(&feed, 8, 2, 10, true);
	end(&feed);
	assert_tally(feed.profile->resources[0]->temporary, 2, 56);
	assert_tally(group(&feed, "alloc_a")->temporary, 2, 56);
	assert_int_equal(feed.profile->resources[0]->reused, 1);
	assert_tally(group(&feed, "alloc_b")->live, 1, 10);
	const struct resource_account *memory = group(&feed, "alloc_a")->members[0].resource;

	assert_int_equal(memory->by_thread.thread_count, 2);
	assert_string_equal(memory->by_thread.threads[1]->name, "two");
	assert_tally(memory->by_thread.threads[0]->tally, 2, 55);
	assert_tally(memory->by_thread.threads[0]->live, 0, 0);
	assert_tally(memory->by_thread.threads[1]->live, 1, 10);
	profile_free(feed.profile);
}

static const struct profile_group *baseline_group(const struct feed *feed)
{
	for (size_t i = 0; i < feed->profile->group_count; i++)
		if (feed->profile->groups[i]->is_before)
			return feed->profile->groups[i];
	fail_msg("no group from before");
	return NULL;
}

static void put_baseline(struct feed *feed)
{
	static const struct baseline_block blocks[] = {{0x10, 100}, {0x20, 200}, {0x30, 400}, {0x40, 800}};

	put(feed, &(struct record){.type = RECORD_BASELINE, .baseline = {1, blocks, 2}});
	put(feed, &(struct record){.type = RECORD_BASELINE, .baseline = {1, blocks + 1, 3}}); /* 0x20 again */
}

/* The baseline's blocks count in all totals, and in one group without a stack; they are no leaks. */
static void baseline_blocks_count_as_live(void **state)
{
	struct feed feed = {0};

	begin(&feed);
	put_baseline(&feed);
	allocate(&feed, 1 * SECOND, 0x50, 7, false);
	release(&feed, 2 * SECOND, 0x10);
	allocate(&feed, 3 * SECOND, 0x20, 9, true); /* its call had not returned when the baseline was taken */
	release(&feed, 4 * SECOND, 0x99);
	end(&feed);
	const struct profile_resource *memory = feed.profile->resources[0];
	const struct profile_group *group = baseline_group(&feed);

	assert_tally(memory->allocated, 5, 100 + 400 + 800 + 7 + 9);
	assert_tally(memory->live, 4, 400 + 800 + 7 + 9);
	assert_tally(memory->before, 3, 100 + 400 + 800);
	assert_tally(memory->before_live, 2, 400 + 800);
	assert_tally(memory->peak, 5, 1507);
	assert_tally(memory->picked, 2, 7 + 9);
	assert_tally(group->allocated, 3, 1300);
	assert_tally(group->live, 2, 1200);
	assert_tally(group->at_peak, 4, 1500);
	assert_tally(group->picked, 0, 0);
	assert_tally((struct tally){group->released, group->lifetimes}, 1, 0);
	assert_int_equal(memory->reused, 0);
	assert_int_equal(memory->unknown_releases, 1);
	assert_int_equal(feed.profile->events, 4);
	assert_false(group->has_stack);
	profile_free(feed.profile);
}

/* After a scan, the blocks that are definitely or indirectly lost are the leaks. */
static void lost_baseline_blocks_are_leaks(void **state)
{
	struct feed feed = {0};

	begin_with(&feed, &(struct profile_stage_options){0}, 1, 86400);
	put_baseline(&feed);
	allocate(&feed, 1 * SECOND, 0x50, 7, false);
	put(&feed, &(struct record){.type = RECORD_SCAN, .scan = {1, ""}});
	put(&feed, &(struct record){.type = RECORD_LOST, .lost = {1, 0x10, LOST_DEFINITELY}});
	put(&feed, &(struct record){.type = RECORD_LOST, .lost = {1, 0x20, LOST_INDIRECTLY}});
	put(&feed, &(struct record){.type = RECORD_LOST, .lost = {1, 0x30, LOST_POSSIBLY}});
	end(&feed);
	assert_int_equal(baseline_group(&feed)->picked.bytes, 300);
	assert_tally(baseline_group(&feed)->lost[LOST_DEFINITELY], 1, 100);
	assert_tally(baseline_group(&feed)->reachable, 1, 800);
	profile_free(feed.profile);
}

/* Growth is counted from the timeline's last moment before the last tenth of the time. In a trace of 100 s the moments
 * are multiples of 2^31 ns. */
static void growth_counts_the_last_tenth_of_the_time(void **state)
{
	struct feed feed = {0};

	begin_with(&feed, &(struct profile_stage_options){0}, 1, 86400);
	for (uint64_t second = 0; second <= 100; second++)
		allocate(&feed, second * SECOND, 0x1000 + 16 * second, 10, false);
	end(&feed);
	const struct profile_group *grows = group(&feed, "alloc_a");
	const struct account *account = feed.profile->processes[0].account;

	assert_int_equal(account->earlier_since, (90 * SECOND >> 31) << 31);
	assert_tally(grows->live, 101, 1010);
	assert_tally(grows->earlier, account->earlier_since / SECOND + 1, 10 * (account->earlier_since / SECOND + 1));
	assert_int_equal(grows->newest_id, 0x1000 + 16 * 100);
	profile_free(feed.profile);
}

/* A block's reference count begins at 1 with its first call, even if the block is in the baseline: one release is
 * enough. */
static void reference_count_begins_with_the_first_call(void **state)
{
	struct feed feed = {0};

	begin(&feed);
	put(&feed, &(struct record){.type = RECORD_RESOURCE,
				    .resource = {.id = 1, .type = "memory", .desc = "", .flags = RESOURCE_REFCOUNT}});
	put_baseline(&feed);
	allocate(&feed, 1 * SECOND, 0x10, 100, true);
	release(&feed, 2 * SECOND, 0x10);
	end(&feed);
	assert_tally(feed.profile->resources[0]->before, 3, 200 + 400 + 800);
	assert_tally(feed.profile->resources[0]->live, 3, 200 + 400 + 800);
	profile_free(feed.profile);
}

/* The trace has a baseline and no call. */
static void baseline_without_calls_is_counted(void **state)
{
	struct feed feed = {0};

	begin(&feed);
	put_baseline(&feed);
	end(&feed);
	assert_tally(feed.profile->resources[0]->live, 4, 1500);
	assert_tally(feed.profile->resources[0]->peak, 4, 1500);
	profile_free(feed.profile);
}

static void mark_keeps_the_blocks_live_at_its_time(void **state)
{
	struct feed feed = {0};

	begin_with(&feed, &(struct profile_stage_options){.wishes = {.has_mark = true, .mark = 2 * SECOND}}, 1, 86400);
	allocate(&feed, 1 * SECOND, 1, 10, false);
	allocate(&feed, 3 * SECOND, 2, 20, false); /* this is exactly the time of the mark, and counts as before it */
	release(&feed, 4 * SECOND, 1);
	allocate(&feed, 5 * SECOND, 3, 40, true);
	end(&feed);
	assert_true(feed.profile->has_old);
	assert_tally(group(&feed, "alloc_a")->old.live, 2, 30);
	assert_tally(group(&feed, "alloc_a")->live, 1, 20);
	assert_tally(group(&feed, "alloc_b")->old.live, 0, 0);
	profile_free(feed.profile);
}

static void older_trace_counts_only_as_old(void **state)
{
	struct feed feed = {0};

	begin_with(&feed, &(struct profile_stage_options){.is_old = true}, 1, 86400);
	allocate(&feed, 1, 1, 10, false);
	end_process(&feed);
	begin_with(&feed, &(struct profile_stage_options){0}, 2, 90000);
	allocate(&feed, 5, 1, 30, false);
	end(&feed);
	assert_tally(group(&feed, "alloc_a")->old.live, 1, 10);
	assert_tally(group(&feed, "alloc_a")->live, 1, 30);
	assert_tally(feed.profile->resources[0]->live, 1, 30);
	assert_int_equal(feed.profile->events, 1);
	profile_free(feed.profile);
}

static void processes_are_joined_by_named_stacks(void **state)
{
	struct feed feed = {0};

	begin(&feed);
	allocate(&feed, 10 * SECOND, 1, 10, false);
	end_process(&feed);
	begin_with(&feed, &(struct profile_stage_options){0}, 2, 86400 + 50);
	allocate(&feed, 12 * SECOND, 1, 5, false);
	allocate(&feed, 15 * SECOND, 2, 6, true);
	end(&feed);
	assert_int_equal(feed.profile->group_count, 2);
	assert_tally(group(&feed, "alloc_a")->live, 2, 15);
	assert_int_equal(group(&feed, "alloc_a")->member_count, 2);
	/* Times are counted from the first call of all processes. */
	assert_int_equal(feed.profile->processes[1].offset, 2 * SECOND);
	assert_int_equal(feed.profile->end_since, 5 * SECOND);
	assert_int_equal(group(&feed, "alloc_b")->first_since, 5 * SECOND);
	assert_tally(feed.profile->resources[0]->peak, 3, 21);
	profile_free(feed.profile);
}

static void long_timeline_fits_its_limits(void **state)
{
	struct feed feed = {0};
	uint64_t live = 0;

	begin(&feed);
	for (uint64_t i = 0; i < 100000; i++) {
		allocate(&feed, i * i, i, 1, i % 2);
		if (i % 3 == 2)
			release(&feed, i * i, i - 1);
	}
	end(&feed);
	const struct profile_resource *memory = feed.profile->resources[0];

	for (uint64_t i = 0; i < 100000; i += 997) {
		const uint64_t now = i * i;
		const struct tally a = profile_group_at(feed.profile, group(&feed, "alloc_a"), now);
		const struct tally b = profile_group_at(feed.profile, group(&feed, "alloc_b"), now);
		const uint64_t at = a.calls + b.calls;

		assert_true(at >= live);
		live = at;
		/* profile_group_at() counts live blocks at the timeline's last moment up to `now`, at most a 32nd of
		 * the trace earlier. profile_resource_at() counts them at the end of the timeline's span with `now`. */
		assert_true(at <= profile_resource_at(feed.profile, memory, now).calls + 4);
	}
	const struct tally last = profile_resource_at(feed.profile, memory, feed.profile->end_since);

	assert_int_equal(last.calls, memory->live.calls);
	const struct timeline *timeline = &group(&feed, "alloc_a")->members[0].resource->timeline;
	uint64_t allocations = 0;

	assert_in_range(timeline->count, TIMELINE_SPANS / 2, TIMELINE_SPANS);
	assert_in_range(timeline->moment_count, TIMELINE_MOMENTS / 2, TIMELINE_MOMENTS);
	for (size_t i = 0; i < timeline->count; i++)
		allocations += timeline->spans[i].allocations;
	assert_int_equal(allocations, 100000);
	profile_free(feed.profile);
}

/* The live blocks of each site at each moment are compared with those that the test computes from the calls. */
static void moments_have_exact_live_blocks(void **state)
{
	enum { CALLS = 3000, IDS = 50 };
	static struct {
		uint64_t time, id, size;
		bool is_b, is_release;
	} calls[CALLS];
	uint64_t now = 0;

	srandom(7);
	for (unsigned round = 0; round < 20; round++) {
		struct feed feed = {0};

		begin(&feed);
		for (unsigned i = 0; i < CALLS; i++) {
			now += (uint64_t)random() % (round % 4 ? 1000 : 3) * (random() % 100 ? 1 : 5000);
			calls[i].time = now;
			calls[i].id = (uint64_t)random() % IDS;
			calls[i].size = (uint64_t)random() % 100;
			calls[i].is_b = random() % 2;
			calls[i].is_release = random() % 2;
			call(&feed, calls[i].is_release ? CALL_RELEASE : CALL_ALLOC, now, calls[i].id,
			     calls[i].is_release ? 0 : calls[i].size, calls[i].is_b);
		}
		end(&feed);
		const struct timeline *timeline = &feed.profile->groups[0]->members[0].resource->timeline;

		for (size_t moment = 0; moment < timeline->moment_count; moment++) {
			struct tally live[2] = {0};
			struct {
				uint64_t size;
				bool is_b, is_live;
			} blocks[IDS] = {0};

			for (unsigned i = 0; i < CALLS; i++) {
				const uint64_t id = calls[i].id;

				/* A moment does not include the calls at its own time. */
				if (calls[i].time - calls[0].time >= moment * timeline->moment_width)
					break;
				if (blocks[id].is_live)
					tally_take(&live[blocks[id].is_b], blocks[id].size);
				blocks[id].is_live = !calls[i].is_release;
				blocks[id].is_b = calls[i].is_b;
				blocks[id].size = calls[i].size;
				if (blocks[id].is_live)
					tally_add(&live[blocks[id].is_b], blocks[id].size);
			}
			for (unsigned k = 0; k < 2; k++) {
				const struct tally at =
					profile_group_at(feed.profile, group(&feed, k ? "alloc_b" : "alloc_a"),
							 moment * timeline->moment_width);

				assert_tally(at, live[k].calls, live[k].bytes);
			}
		}
		profile_free(feed.profile);
		now = 0;
	}
}

static void trace_without_times_counts_calls(void **state)
{
	struct feed feed = {.no_times = true};

	begin_with(&feed, &(struct profile_stage_options){.wishes = {.has_mark = true, .mark = 3 * SECOND}}, 1, 0);
	for (uint64_t i = 0; i < 6; i++)
		allocate(&feed, 0, i, 1, false);
	end(&feed);
	assert_false(feed.profile->has_times);
	assert_int_equal(feed.profile->end_since, 5);
	assert_tally(group(&feed, "alloc_a")->old.live, 4, 4);
	profile_free(feed.profile);
}

static void times_continue_past_midnight(void **state)
{
	struct feed feed = {0};

	begin(&feed);
	allocate(&feed, 86399 * SECOND, 1, 1, false);
	release(&feed, 2 * SECOND, 1);        /* 2 s after midnight: sp-rtrace's times begin again each day */
	allocate(&feed, SECOND, 2, 1, false); /* this record is slightly out of order */
	end(&feed);
	assert_int_equal(group(&feed, "alloc_a")->lifetimes, 3 * SECOND);
	assert_int_equal(feed.profile->end_since, 3 * SECOND);
	profile_free(feed.profile);
}

/* A group's newest block may have the id 0, as descriptor 0 has. The blocks are visited in the order of a hash table,
 * so the test tries many ids for the other block. */
static void test_newest_block_may_have_the_id_0(void **state)
{
	for (uint64_t other = 1; other <= 64; other++) {
		struct feed feed = {0};

		begin(&feed);
		allocate(&feed, 1 * SECOND, other, 10, false);
		allocate(&feed, 5 * SECOND, 0, 10, false);
		end(&feed);
		const struct profile_group *newest = group(&feed, "alloc_a");

		assert_int_equal(newest->newest_id, 0);
		assert_int_equal(newest->newest_since, 4 * SECOND);
		profile_free(feed.profile);
	}
}

static void test_standard_functions(void **state)
{
	static const char *const standard[] = {
		"std::vector<Node, std::allocator<Node> >::push_back(Node const&)",
		"void std::vector<Node>::_M_realloc_insert<Node>(Node&&)",
		"std::pair<int, long> std::make_pair<int, long>(int, long)",
		"__gnu_cxx::new_allocator<Node>::allocate(unsigned long, void const*)",
		"operator new(unsigned long)",
		"operator delete[](void*)",
		"alloc::raw_vec::finish_grow",
		"<alloc::vec::Vec<u8> as core::clone::Clone>::clone",
	};
	static const char *const own[] = {
		"Cache::put(std::string const&)",
		"std::string Cache::get<int>(int)",
		"void put<std::string>(std::vector<int>)",
		"Key::operator std::string() const",
		"Key::operator<(Key const&) const",
		"Pool::operator new(unsigned long)",
		"stdlib_init",
		"allocate",
		"<server::Cache as core::ops::drop::Drop>::drop",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(standard); i++)
		if (!profile_function_is_standard(standard[i]))
			fail_msg("%s", standard[i]);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (profile_function_is_standard(own[i]))
			fail_msg("%s", own[i]);
	assert_false(profile_function_is_standard(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_block_may_have_the_id_0),
		cmocka_unit_test(test_standard_functions),
		cmocka_unit_test(groups_are_counted_by_stack),
		cmocka_unit_test(higher_peak_replaces_the_earlier_one),
		cmocka_unit_test(blocks_released_before_the_next_are_temporary),
		cmocka_unit_test(baseline_blocks_count_as_live),
		cmocka_unit_test(lost_baseline_blocks_are_leaks),
		cmocka_unit_test(growth_counts_the_last_tenth_of_the_time),
		cmocka_unit_test(reference_count_begins_with_the_first_call),
		cmocka_unit_test(baseline_without_calls_is_counted),
		cmocka_unit_test(mark_keeps_the_blocks_live_at_its_time),
		cmocka_unit_test(older_trace_counts_only_as_old),
		cmocka_unit_test(processes_are_joined_by_named_stacks),
		cmocka_unit_test(long_timeline_fits_its_limits),
		cmocka_unit_test(moments_have_exact_live_blocks),
		cmocka_unit_test(trace_without_times_counts_calls),
		cmocka_unit_test(times_continue_past_midnight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
