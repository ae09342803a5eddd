/* Tests the growth of late: a program whose first leak has ended, whose second one has begun late, and which has a
 * cache whose blocks live longer than the recent windows. */
#include "config.h"
#include "unit_test.h"
#include "watch/recent.h"

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define PLACES (1 << 17)

enum { EARLY, LATE, CACHE, BRIEF, STACKS };

#define CACHE_BLOCKS 3000 /* at ten blocks a second, each lives for 300 s */
#define PERIOD       5    /* s from window to window at first */

struct program {
	struct watch *watch;
	struct watch_recent *recent;
	uint64_t now;
	bool is_open;                    /* a window */
	unsigned period;                 /* s from window to window */
	bool is_uncounted;               /* looks do not count chunks */
	uint32_t classes[PLACES];        /* by place: the class of the block there; 0: none */
	uint32_t free_places[8][PLACES]; /* by class: the last released one is taken first */
	unsigned free_counts[8];
	uint32_t next, cache[CACHE_BLOCKS], cached;
	unsigned changes[PLACES]; /* of the block at a place */
};

static const uint32_t sizes[STACKS] = {[EARLY] = 100, [LATE] = 60, [CACHE] = 40, [BRIEF] = 40};

static uint32_t class_of_size(uint32_t size)
{
	return size / 20;
}

static bool program_chunk_at(void *context, uint64_t address, struct watch_chunk *chunk)
{
	const struct program *const p = context;

	chunk->size_class = p->classes[address];
	chunk->print = address << 32 | (p->changes[address] + 1);
	return p->classes[address];
}

static uint64_t program_count(void *context, uint32_t size_class)
{
	const struct program *const p = context;
	uint64_t count = 0;

	for (uint32_t i = 1; i <= p->next; i++)
		count += p->classes[i] == size_class;
	return count;
}

static uint32_t allocate(struct program *p, unsigned stack)
{
	const uint32_t size_class = class_of_size(sizes[stack]);
	const uint32_t place =
		p->free_counts[size_class] ? p->free_places[size_class][--p->free_counts[size_class]] : ++p->next;

	assert_true(place < PLACES);
	p->classes[place] = size_class;
	p->changes[place]++;
	if (p->is_open) {
		watch_allocated(p->watch, p->now, place, sizes[stack], size_class, stack);
		watch_recent_allocated(p->recent, p->now, place, sizes[stack], size_class, stack);
	}
	return place;
}

static void release(struct program *p, uint32_t place)
{
	const uint32_t size_class = p->classes[place];

	p->classes[place] = 0;
	p->free_places[size_class][p->free_counts[size_class]++] = place;
	if (!p->is_open)
		return;
	watch_released(p->watch, p->now, place, size_class);
	watch_recent_released(p->recent, p->now, place, size_class);
}

static void set_window(struct program *p, bool is_open)
{
	const struct watch_heap heap = {.context = p, .chunk_at = program_chunk_at};

	p->is_open = is_open;
	if (is_open) {
		watch_window_begin(p->watch, p->now, p->now);
		watch_recent_window_begin(p->recent, p->now, p->now);
	} else {
		watch_window_end(p->watch, p->now, p->now, &heap);
		watch_recent_window_end(p->recent, p->now, p->now, &heap);
	}
}

static void look(struct program *p)
{
	const struct watch_heap heap = {
		.context = p, .chunk_at = program_chunk_at, .count = p->is_uncounted ? NULL : program_count};

	watch_look(p->watch, p->now, p->now, &heap);
	watch_recent_look(p->recent, p->now, p->now, &heap);
}

/* Ten rounds of calls a second. In each period a window of half a second begins, and it is the last thing that a
 * watch sees of the program until the look. */
static void run_until(struct program *p, unsigned end, unsigned stack)
{
	for (; p->now < end * SECOND; p->now += SECOND / 10) {
		const uint64_t tenths = p->now / (SECOND / 10);

		if (tenths % (10 * p->period) == 20)
			set_window(p, true);
		if (tenths % (10 * p->period) == 25)
			set_window(p, false);
		allocate(p, stack);
		if (p->cached >= CACHE_BLOCKS)
			release(p, p->cache[p->cached % CACHE_BLOCKS]);
		p->cache[p->cached++ % CACHE_BLOCKS] = allocate(p, CACHE);
		release(p, allocate(p, BRIEF));
		if (tenths % 40 == 39)
			look(p);
	}
}

static const struct watch_stack *of_stack(const struct watch_result *result, uint32_t stack)
{
	for (size_t i = 0; i < result->count; i++)
		if (result->stacks[i].stack == stack)
			return &result->stacks[i];
	return NULL;
}

static struct program *begin_program(void)
{
	struct program *const p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->period = PERIOD;
	p->watch = watch_new(&(struct watch_options){.samples_max = 100000, .seed = 3}, 0);
	p->recent = watch_recent_new(5, 0, 0);
	return p;
}

static void end_program(struct program *p)
{
	watch_free(p->watch);
	watch_recent_free(p->recent);
	free(p);
}

static struct watch_result *result_of(const struct program *p)
{
	struct watch_result *const result = watch_estimate(p->watch);

	watch_recent_apply(p->recent, p->now, result);
	return result;
}

static void test_growth_is_that_of_late(void **state)
{
	struct program *const p = begin_program();

	run_until(p, 2000, EARLY);
	struct watch_result *result = result_of(p);

	assert_int_equal(of_stack(result, EARLY)->verdict, WATCH_GROWING);
	assert_true(of_stack(result, EARLY)->growth > 800 && of_stack(result, EARLY)->growth < 1200);
	assert_int_not_equal(of_stack(result, CACHE)->verdict, WATCH_GROWING);
	watch_result_free(result);

	run_until(p, 2600, LATE);
	result = result_of(p);
	const struct watch_stack *const early = of_stack(result, EARLY), *const late = of_stack(result, LATE);

	assert_int_equal(late->verdict, WATCH_GROWING);
	assert_true(late->growth > 400 && late->growth < 800);
	assert_true(late->growth_low <= 600 && late->growth_high >= 600);
	assert_int_not_equal(early->verdict, WATCH_GROWING);
	assert_true(early->growth < 50 && early->growth_high >= early->growth);
	/* The first leak's blocks are still there. */
	assert_true(early->live > 1800000 && early->live < 2200000);
	assert_int_not_equal(of_stack(result, CACHE)->verdict, WATCH_GROWING);
	watch_result_free(result);
	end_program(p);
}

/* The growth of a watch that is not older than its recent windows is that of the whole. */
static void test_a_young_watch_has_one_estimate(void **state)
{
	struct program *const p = begin_program();

	run_until(p, 90 * PERIOD, EARLY);
	struct watch_result *const result = result_of(p), *const whole = watch_estimate(p->watch);

	assert_int_equal(result->count, whole->count);
	assert_memory_equal(result->stacks, whole->stacks, whole->count * sizeof(*whole->stacks));
	watch_result_free(result);
	watch_result_free(whole);
	end_program(p);
}

/* Blocks that outlive the recent windows, and are released later, do not grow at any time. */
static void test_a_slow_cache_does_not_grow(void **state)
{
	struct program *const p = begin_program();

	for (unsigned end = 700; end <= 2500; end += 100) {
		run_until(p, end, BRIEF);
		struct watch_result *const result = result_of(p);

		assert_int_not_equal(of_stack(result, CACHE)->verdict, WATCH_GROWING);
		watch_result_free(result);
	}
	end_program(p);
}

/* After the controller has made windows rarer, each earlier sample still counts for as many blocks as before. */
static void test_samples_keep_their_weights(void **state)
{
	struct program *const p = begin_program();

	p->is_uncounted = true;
	run_until(p, 1000, EARLY);
	p->period = 8 * PERIOD;
	run_until(p, 3000, BRIEF);
	struct watch_result *const result = result_of(p);

	assert_true(of_stack(result, EARLY)->live > 900000 && of_stack(result, EARLY)->live < 1100000);
	watch_result_free(result);
	end_program(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth_is_that_of_late),
		cmocka_unit_test(test_a_young_watch_has_one_estimate),
		cmocka_unit_test(test_a_slow_cache_does_not_grow),
		cmocka_unit_test(test_samples_keep_their_weights),
	};

	return cmocka_run_group_tests_name("watch_recent", tests, NULL, NULL);
}
