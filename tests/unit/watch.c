/* Tests what a watch makes of samples: the survival of addresses that are used again, forgotten windows and looks, and
 * the estimates of a made-up program against the truth. */
#include "config.h"
#include "watch/counting.h"
#include "watch/pace.h"
#include "watch/state.h"
#include "watch/survival.h"
#include "base/util.h"
#include "replay.h"
#include "unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull
#define PLACES 256 /* addresses of a small heap */

/* ---- Survival ---- */

/* Computes which share passes, by counting: a block that dies before look j leaves an address that is looked at like a
 * released one from then on. */
static double passing_of(const double *alive, const double *reused, unsigned k)
{
	double passing = alive[k];

	for (unsigned j = 1; j <= k; j++)
		passing += (alive[j - 1] - alive[j]) * reused[k - j + 1];
	return passing;
}

static void check_survival(const double *alive, const double *reused, unsigned looks)
{
	struct hazards samples = {0};
	struct survival s;
	double before = 1;

	for (unsigned k = 1; k <= looks; k++) {
		const double passing = passing_of(alive, reused, k);

		samples.risk[k] = 1e6 * before;
		samples.fail[k] = 1e6 * (before - passing);
		before = passing;
	}
	survival_compute(&s, &samples, reused, looks);
	for (unsigned k = 1; k <= looks; k++)
		assert_true(fabs(s.alive[k] - alive[k]) < 0.02);
	survival_compute(&s, &samples, NULL, looks);
	for (unsigned k = 1; k <= looks; k++)
		assert_true(fabs(s.alive[k] - passing_of(alive, reused, k)) < 1e-9);
}

static void test_survival_is_found_behind_reused_addresses(void **state)
{
	static const double none[] = {1, 0, 0, 0, 0}, some[] = {1, 0.5, 0.3, 0.25, 0.2},
			    most[] = {1, 0.9, 0.85, 0.8, 0.8};
	static const double all_live[] = {1, 1, 1, 1, 1}, half_die[] = {1, 0.8, 0.6, 0.5, 0.5},
			    all_die[] = {1, 0, 0, 0, 0};
	static const double *const reused[] = {none, some, most}, *const alive[] = {all_live, half_die, all_die};

	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 3; j++)
			check_survival(alive[i], reused[j], 4);
}

/* ---- A heap of few blocks ---- */

struct small_heap {
	struct watch *watch;
	uint64_t now;
	uint32_t classes[PLACES]; /* by address: the class of the chunk in use; 0: none is */
	bool lost[PLACES];
	uint64_t changes; /* how often the blocks' contents have changed */
};

static bool small_chunk_at(void *context, uint64_t address, struct watch_chunk *chunk)
{
	const struct small_heap *const heap = context;

	chunk->size_class = heap->classes[address];
	chunk->print = address + 1 + PLACES * heap->changes;
	return heap->classes[address] != 0;
}

static uint64_t small_count(void *context, uint32_t size_class)
{
	const struct small_heap *const heap = context;
	uint64_t count = 0;

	for (unsigned i = 0; i < PLACES; i++)
		count += heap->classes[i] == size_class;
	return count;
}

static bool small_is_lost(void *context, uint64_t address)
{
	return ((const struct small_heap *)context)->lost[address];
}

static uint64_t small_lost_count(void *context, uint32_t size_class)
{
	const struct small_heap *const heap = context;
	uint64_t count = 0;

	for (unsigned i = 0; i < PLACES; i++)
		count += heap->lost[i] && heap->classes[i] == size_class;
	return count;
}

static struct small_heap small_begin(size_t samples_max)
{
	return (struct small_heap){
		.watch = watch_new(&(struct watch_options){.samples_max = samples_max, .seed = 1}, 0)};
}

static void small_allocate(struct small_heap *heap, uint64_t address, uint64_t size, uint32_t stack)
{
	heap->classes[address] = (uint32_t)size;
	watch_allocated(heap->watch, ++heap->now, address, size, (uint32_t)size, stack);
}

static void small_release(struct small_heap *heap, uint64_t address)
{
	const uint32_t size_class = heap->classes[address];

	heap->classes[address] = 0;
	watch_released(heap->watch, ++heap->now, address, size_class);
}

static void small_window(struct small_heap *heap, bool begins)
{
	heap->now += SECOND;
	if (begins)
		watch_window_begin(heap->watch, heap->now, heap->now);
	else
		watch_window_end(heap->watch, heap->now, heap->now, NULL);
}

static void small_look(struct small_heap *heap)
{
	const struct watch_heap look = {heap, small_chunk_at, small_count, small_is_lost, small_lost_count};

	heap->now += SECOND;
	watch_look(heap->watch, heap->now, heap->now, &look);
}

static void small_look_without_scan(struct small_heap *heap)
{
	const struct watch_heap look = {.context = heap, .chunk_at = small_chunk_at, .count = small_count};

	heap->now += SECOND;
	watch_look(heap->watch, heap->now, heap->now, &look);
}

static const struct watch_stack *stack_of(const struct watch_result *result, uint32_t stack)
{
	for (size_t i = 0; i < result->count; i++)
		if (result->stacks[i].stack == stack)
			return &result->stacks[i];
	return NULL;
}

static void test_fates(void **state)
{
	struct small_heap heap = small_begin(1000);
	const struct sample *const *const samples = (const struct sample *const *)&heap.watch->samples;

	small_window(&heap, true);
	for (uint64_t address = 0; address < 6; address++)
		small_allocate(&heap, address, 32, 7);
	small_release(&heap, 0);
	small_window(&heap, false);
	heap.classes[1] = 0; /* released between two windows */
	small_look(&heap);
	heap.classes[2] = 48; /* released and allocated by another size */
	small_look(&heap);
	small_window(&heap, true);
	small_allocate(&heap, 3, 32, 8); /* the release between was in no window */
	small_release(&heap, 4);
	small_window(&heap, false);
	small_look(&heap);
	assert_int_equal((*samples)[0].fate, FATE_DIED_IN_WINDOW);
	assert_int_equal((*samples)[1].fate, FATE_MISSED);
	assert_int_equal((*samples)[1].track.passed, 0);
	assert_int_equal((*samples)[2].fate, FATE_MISSED);
	assert_int_equal((*samples)[2].track.passed, 1);
	assert_int_equal((*samples)[3].fate, FATE_REUSED);
	assert_int_equal((*samples)[3].track.passed, 2);
	assert_int_equal((*samples)[4].fate, FATE_RELEASED_LATER);
	assert_int_equal((*samples)[5].fate, FATE_PASSED);
	assert_int_equal((*samples)[5].track.passed, 3);
	assert_int_equal((*samples)[6].fate, FATE_PASSED);
	assert_int_equal((*samples)[6].track.first, 2);
	assert_int_equal((*samples)[6].track.passed, 1);
	/* The released addresses 0 and 4 are the control group; 0 and 4 were free at the next look. */
	assert_int_equal(heap.watch->control_count, 2);
	assert_true(heap.watch->controls[0].track.has_failed && heap.watch->controls[1].track.has_failed);
	assert_int_equal(heap.watch->controls[0].track.passed, 0);
	watch_free(heap.watch);
}

static void test_released_addresses_are_followed_once_a_window(void **state)
{
	struct small_heap heap = small_begin(1000);

	small_window(&heap, true);
	for (unsigned i = 0; i < 5; i++) {
		small_allocate(&heap, 3, 32, 7);
		small_release(&heap, 3);
	}
	small_allocate(&heap, 3, 32, 8);
	small_window(&heap, false);
	small_look(&heap);
	assert_int_equal(heap.watch->control_count, 1);
	assert_false(heap.watch->controls[0].track.has_failed);
	assert_int_equal(heap.watch->controls[0].track.passed, 1);
	small_window(&heap, true);
	small_release(&heap, 3);
	small_window(&heap, false);
	/* A call in a later window shows that the chunk has changed. */
	assert_true(heap.watch->controls[0].track.has_failed);
	assert_int_equal(heap.watch->control_count, 2);
	watch_free(heap.watch);
}

/* If all time is in one window, nothing has to be estimated. */
static void test_a_window_of_all_time_is_exact(void **state)
{
	struct small_heap heap = small_begin(1000);

	watch_window_begin(heap.watch, 0, 0);
	for (uint64_t address = 0; address < 20; address++)
		small_allocate(&heap, address, 100, 1);
	for (uint64_t address = 20; address < 30; address++)
		small_allocate(&heap, address, 50, 2);
	for (uint64_t address = 40; address < 42; address++)
		small_allocate(&heap, address, 32, 3);
	heap.lost[40] = heap.lost[41] = true;
	heap.now = 10 * SECOND;
	watch_window_end(heap.watch, heap.now, heap.now, NULL);
	heap.now -= SECOND;
	small_look(&heap);
	struct watch_result *const result = watch_estimate(heap.watch);

	assert_int_equal(result->count, 3);
	assert_true(result->share == 1);
	assert_int_equal(result->stacks[0].stack, 1);
	assert_true(fabs(stack_of(result, 1)->live - 2000) < 1e-6);
	assert_true(fabs(stack_of(result, 2)->live - 500) < 1e-6);
	assert_true(fabs(stack_of(result, 2)->blocks - 10) < 1e-6);
	assert_true(fabs(stack_of(result, 3)->lost - 64) < 1e-6);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(result->stacks[i].verdict, WATCH_FEW_WINDOWS);
		assert_true(result->stacks[i].live_low <= result->stacks[i].live);
		assert_true(result->stacks[i].live_high >= result->stacks[i].live);
	}
	watch_result_free(result);
	watch_free(heap.watch);
}

/* Stack 1 has some blocks of the first windows, all of which live; stack 2 has one of each window. */
static void test_few_old_samples_do_not_say_whether_a_stack_grows(void **state)
{
	struct small_heap heap = small_begin(1000);

	for (uint64_t window = 0; window < 40; window++) {
		small_window(&heap, true);
		if (window < 3)
			small_allocate(&heap, 100 + window, 48, 1);
		small_allocate(&heap, window, 32, 2);
		small_window(&heap, false);
		small_look(&heap);
	}
	struct watch_result *const result = watch_estimate(heap.watch);

	assert_true(stack_of(result, 1)->growth > 0);
	assert_int_equal(stack_of(result, 1)->verdict, WATCH_FEW_WINDOWS);
	assert_int_equal(stack_of(result, 2)->verdict, WATCH_GROWING);
	watch_result_free(result);
	watch_free(heap.watch);
}

static void test_nothing_is_estimated_without_looks(void **state)
{
	struct small_heap heap = small_begin(1000);
	struct watch_result *result = watch_estimate(heap.watch);

	assert_int_equal(result->count, 0);
	watch_result_free(result);
	small_window(&heap, true);
	small_allocate(&heap, 1, 32, 1);
	small_window(&heap, false);
	result = watch_estimate(heap.watch);
	assert_int_equal(result->count, 0);
	assert_int_equal(result->windows, 1);
	watch_result_free(result);
	watch_free(heap.watch);
}

/* ---- Forgetting ---- */

static void test_forgotten_windows_leave_the_estimate(void **state)
{
	struct small_heap heap = small_begin(8);

	/* Each window allocates two blocks, which are never released. */
	for (uint64_t window = 0; window < 16; window++) {
		small_window(&heap, true);
		small_allocate(&heap, 2 * window, 40, 1);
		small_allocate(&heap, 2 * window + 1, 40, 1);
		small_window(&heap, false);
	}
	small_look(&heap);
	assert_true(heap.watch->window_count < 16);
	assert_true(heap.watch->sample_count <= 10);
	struct watch_result *const result = watch_estimate(heap.watch);

	/* A third of the time is between windows, and nothing is allocated there; the watch cannot know that. */
	assert_int_equal(result->count, 1);
	assert_true(fabs(result->stacks[0].live - 32 * 40) < 1e-6); /* as many as there are chunks in use */
	watch_result_free(result);
	watch_free(heap.watch);
}

static void test_looks_are_merged(void **state)
{
	struct small_heap heap = small_begin(1000);
	const struct sample *const *const samples = (const struct sample *const *)&heap.watch->samples;

	small_window(&heap, true);
	small_allocate(&heap, 1, 32, 1);
	small_allocate(&heap, 2, 32, 1);
	small_window(&heap, false);
	for (unsigned i = 0; i < 10; i++)
		small_look(&heap);
	heap.classes[2] = 0;
	for (unsigned i = 10; i < 3 * LOOKS_MAX; i++)
		small_look(&heap);
	/* After 64 looks, each second one counts; after 128, each fourth one. */
	assert_int_equal(heap.watch->stride, 4);
	assert_int_equal(heap.watch->looks, 3 * LOOKS_MAX / 4);
	assert_int_equal((*samples)[0].track.passed, heap.watch->looks);
	assert_int_equal((*samples)[1].fate, FATE_MISSED);
	assert_int_equal((*samples)[1].track.passed, 2);
	for (unsigned k = 3; k <= heap.watch->looks; k++)
		assert_int_equal(heap.watch->classes[0].counts[k], 1);
	assert_int_equal(heap.watch->classes[0].counts[1], 2);
	watch_free(heap.watch);
}

static void test_scans_count_in_looks_that_do_not(void **state)
{
	struct small_heap heap = small_begin(1000);

	small_window(&heap, true);
	small_allocate(&heap, 1, 32, 1);
	small_allocate(&heap, 2, 32, 1);
	small_window(&heap, false);
	for (unsigned i = 0; i < 3 * LOOKS_MAX / 2; i++)
		small_look(&heap);
	assert_int_equal(heap.watch->stride, 2);
	const size_t looks = heap.watch->looks;

	/* The first look that finds the block lost is skipped, and without a scan the next one does not know. */
	heap.lost[2] = true;
	while (heap.watch->skipped + 1 >= heap.watch->stride)
		small_look_without_scan(&heap);
	small_look(&heap);
	assert_int_equal(heap.watch->skipped, 1);
	small_look_without_scan(&heap);
	assert_int_equal(heap.watch->looks - looks, 1);
	struct watch_result *const result = watch_estimate(heap.watch);

	assert_float_equal(stack_of(result, 1)->lost, 32, 0.01);
	watch_result_free(result);
	watch_free(heap.watch);
}

static void test_a_sample_between_merged_looks_loses_none(void **state)
{
	struct small_heap heap = small_begin(1000);
	const struct sample *const *const samples = (const struct sample *const *)&heap.watch->samples;

	small_look(&heap);
	small_window(&heap, true);
	small_allocate(&heap, 1, 32, 1);
	small_window(&heap, false);
	for (unsigned i = 1; i < 2 * LOOKS_MAX; i++)
		small_look(&heap);
	assert_int_equal(heap.watch->stride, 2);
	assert_int_equal((*samples)[0].track.first, 0);
	assert_int_equal((*samples)[0].track.passed, heap.watch->looks);
	watch_free(heap.watch);
}

/* Blocks that live for a quarter of the time: as many are live, however many windows were forgotten. */
static void test_forgetting_keeps_the_weights(void **state)
{
	for (unsigned windows = 80; windows <= 2 * PLACES; windows += 48) {
		struct small_heap heap = small_begin(120);
		const struct watch_heap look = {&heap, small_chunk_at, NULL, NULL, NULL};

		for (uint64_t window = 0, now = 1; window < windows; window++, now += 2) {
			const uint64_t address = window % (windows / 2);

			heap.classes[(window + windows / 4) % (windows / 2)] = 0;
			watch_look(heap.watch, now * SECOND, now, &look);
			watch_window_begin(heap.watch, now * SECOND, now);
			heap.classes[address] = 100;
			watch_allocated(heap.watch, now * SECOND, address, 100, 100, 1);
			watch_window_end(heap.watch, (now + 1) * SECOND, now + 1, NULL);
		}
		watch_look(heap.watch, (2ull * windows + 1) * SECOND, 2ull * windows + 1, &look);
		assert_true(heap.watch->sample_count <= 121);
		struct watch_result *const result = watch_estimate(heap.watch);
		const double truth = windows / 4 * 100.0 * 2; /* half of the time is in windows */

		assert_int_equal(result->count, 1);
		assert_true(fabs(result->stacks[0].live / truth - 1) < 0.35);
		watch_result_free(result);
		watch_free(heap.watch);
	}
}

/* Blocks that die before the next look take no room from windows: half of them are forgotten, and the others count
 * double. Each window allocates 60 blocks, of which four live on, and ten are released in it. */
static void test_dead_samples_are_forgotten_before_windows(void **state)
{
	struct small_heap heap = small_begin(1600);
	const struct watch_heap look = {&heap, small_chunk_at, NULL, NULL, NULL};
	double dead = 0;

	for (uint64_t window = 0, now = 1; window < 48; window++, now += 2) {
		watch_window_begin(heap.watch, now * SECOND, now);
		for (uint64_t i = 0; i < 60; i++) {
			const uint64_t address = i < 4 ? 4 * window + i : 192 + i;

			heap.classes[address] = 100;
			watch_allocated(heap.watch, now * SECOND, address, 100, 100, 1);
		}
		for (uint64_t i = 50; i < 60; i++)
			watch_released(heap.watch, now * SECOND, 192 + i, 100);
		watch_window_end(heap.watch, (now + 1) * SECOND, now + 1, NULL);
		for (uint64_t i = 4; i < 60; i++)
			heap.classes[192 + i] = 0;
		watch_look(heap.watch, (now + 1) * SECOND, now + 1, &look);
	}
	assert_int_equal(heap.watch->window_count, 48);
	assert_int_equal(heap.watch->window_stride, 1);
	assert_true(heap.watch->sample_count + heap.watch->control_count <= 1600 + 60 + 10);
	for (size_t i = 0; i < heap.watch->sample_count; i++)
		dead += heap.watch->samples[i].fate == FATE_PASSED ? 0 : heap.watch->samples[i].track.count;
	assert_true(fabs(dead / (48 * 56) - 1) < 0.1);
	struct watch_result *const result = watch_estimate(heap.watch);

	assert_int_equal(result->count, 1);
	assert_true(fabs(result->stacks[0].live / (48 * 4 * 100 * 97.0 / 48) - 1) < 0.05);
	watch_result_free(result);
	watch_free(heap.watch);
}

/* Fills stack 1's table in the first third of the time. Stack 2's list grows all the time. */
static void test_what_has_filled_up_does_not_grow(void **state)
{
	struct small_heap heap = small_begin(1000);

	for (uint64_t window = 0; window < 60; window++) {
		small_window(&heap, true);
		for (uint64_t i = 0; i < 3 && window < 20; i++)
			small_allocate(&heap, 3 * window + i, 48, 1);
		small_allocate(&heap, 100 + window, 96, 2);
		small_window(&heap, false);
		small_look(&heap);
	}
	struct watch_result *const result = watch_estimate(heap.watch);

	assert_int_equal(result->windows, 60);
	assert_int_equal(stack_of(result, 1)->verdict, WATCH_SOUND);
	assert_int_equal(stack_of(result, 2)->verdict, WATCH_GROWING);
	watch_result_free(result);
	watch_free(heap.watch);
}

/* The contents of blocks at odd addresses change. */
static bool half_changing_chunk_at(void *context, uint64_t address, struct watch_chunk *chunk)
{
	const bool is_used = small_chunk_at(context, address, chunk);

	chunk->print = address % 2 ? chunk->print : address + 1;
	return is_used;
}

/* Released addresses are used again at once, so that only contents tell of live blocks. Half of these change them. The
 * number of chunks shows that all live. */
static void test_counts_show_blocks_that_samples_hide(void **state)
{
	struct small_heap heap = small_begin(1000);
	const struct watch_heap look = {&heap, half_changing_chunk_at, small_count, NULL, NULL};

	for (uint64_t window = 0; window < 60; window++, heap.changes++) {
		watch_window_begin(heap.watch, heap.now = window * SECOND, window);
		small_allocate(&heap, 255, 32, 1);
		small_release(&heap, 255);
		heap.classes[255] = 32;
		small_allocate(&heap, 2 * window, 32, 1);
		small_allocate(&heap, 2 * window + 1, 32, 1);
		watch_window_end(heap.watch, (window + 1) * SECOND, window + 1, &look);
		heap.changes++;
		watch_look(heap.watch, (window + 1) * SECOND, window + 1, &look);
	}
	struct watch_result *const result = watch_estimate(heap.watch);

	assert_int_equal(result->count, 1);
	assert_true(result->stacks[0].live >= 118 * 32 && result->stacks[0].live <= 121 * 32);
	assert_true(result->stacks[0].live_low <= 120 * 32 && result->stacks[0].live_high >= 120 * 32);
	watch_result_free(result);
	watch_free(heap.watch);
}

/* A window that is skipped has no samples, so its end notes no contents. */
static void test_contents_are_those_at_the_end_of_the_sampling_window(void **state)
{
	struct small_heap heap = small_begin(1000);
	const struct watch_heap look = {&heap, small_chunk_at, NULL, NULL, NULL};
	const struct sample *const *const samples = (const struct sample *const *)&heap.watch->samples;

	small_window(&heap, true);
	small_allocate(&heap, 1, 32, 1);
	watch_window_end(heap.watch, heap.now, heap.now, &look);
	assert_int_equal((*samples)[0].print, 2);
	heap.watch->window_stride = 2;
	heap.changes++;
	small_window(&heap, true);
	watch_window_end(heap.watch, heap.now, heap.now, &look);
	assert_int_equal((*samples)[0].print, 2);
	watch_look(heap.watch, heap.now, heap.now, &look);
	assert_false((*samples)[0].is_same);
	watch_free(heap.watch);
}

static void test_looks_within_a_window_come_before_its_samples(void **state)
{
	struct small_heap heap = small_begin(1000);
	const struct sample *const *const samples = (const struct sample *const *)&heap.watch->samples;

	small_window(&heap, true);
	small_allocate(&heap, 1, 32, 1);
	small_look(&heap);
	struct watch_result *result = watch_estimate(heap.watch);

	assert_int_equal(result->count, 0);
	watch_result_free(result);
	small_allocate(&heap, 2, 32, 1);
	small_window(&heap, false);
	assert_int_equal((*samples)[0].track.first, 1);
	assert_int_equal((*samples)[1].track.first, 1);
	small_look(&heap);
	result = watch_estimate(heap.watch);
	assert_int_equal(result->count, 1);
	assert_true(result->stacks[0].live == 64);
	watch_result_free(result);
	watch_free(heap.watch);
}

static void test_a_watch_without_time_has_no_estimate(void **state)
{
	struct watch *const w = watch_new(&(struct watch_options){.samples_max = 0}, 5);
	struct small_heap heap = {.watch = w};
	const struct watch_heap look = {&heap, small_chunk_at, NULL, NULL, NULL};

	watch_window_begin(w, 5, 0);
	watch_allocated(w, 5, 1, 32, 0, 1);
	watch_window_end(w, 5, 0, NULL);
	watch_look(w, 5, 0, &look);
	struct watch_result *result = watch_estimate(w);

	assert_int_equal(result->count, 0);
	watch_result_free(result);
	watch_window_begin(w, 6, 1);
	watch_allocated(w, 6, 2, 32, 0, 1);
	watch_window_end(w, 7, 2, NULL);
	watch_window_begin(w, 8, 3);
	watch_window_end(w, 8, 3, NULL);
	watch_look(w, 9, 4, &look);
	result = watch_estimate(w);
	for (size_t i = 0; i < result->count; i++)
		assert_true(isfinite(result->stacks[i].live) && isfinite(result->stacks[i].growth));
	watch_result_free(result);
	watch_free(w);
}

/* ---- The pace ---- */

static void test_one_dear_scan_does_not_decide_alone(void **state)
{
	const uint64_t minute = 60 * SECOND;
	uint64_t cost = pace_cost(0, SECOND / 10);

	assert_int_equal(cost, SECOND / 10);
	assert_int_equal(pace_scan_wait(cost, 0.01, minute), minute);
	cost = pace_cost(cost, 3 * SECOND);
	assert_int_equal(cost, 31 * SECOND / 20);
	assert_int_equal(pace_scan_wait(cost, 0.01, minute), 155 * SECOND);
	for (unsigned i = 0; i < 6; i++)
		cost = pace_cost(cost, SECOND / 10);
	assert_int_equal(pace_scan_wait(cost, 0.01, minute), minute);
	/* However dear a scan is, there is another one. */
	assert_int_equal(pace_scan_wait(1000 * SECOND, 0.01, minute), 10 * minute);
	assert_int_equal(pace_scan_wait(1000 * SECOND, 0.01, SECOND), 5 * minute);
}

/* ---- The state ---- */

/* A watch of four windows, whose blocks live, die, are lost, or are replaced. */
static struct small_heap watched_for_a_while(void)
{
	struct small_heap heap = small_begin(1000);

	for (unsigned window = 0; window < 4; window++) {
		small_window(&heap, true);
		for (uint64_t address = 0; address < 60; address++) {
			if (heap.classes[address])
				small_release(&heap, address);
			small_allocate(&heap, address, 16 + 16 * (address % 3), (uint32_t)address % 4);
			if (address % 5 == 0)
				small_release(&heap, address);
		}
		small_window(&heap, false);
		heap.lost[7] = heap.lost[11] = true;
		small_look(&heap);
		small_look(&heap);
	}
	return heap;
}

static void test_a_watch_goes_on_from_its_state(void **state)
{
	struct small_heap heap = watched_for_a_while();
	struct buf saved = {0}, again = {0};
	const struct watch_options options = {.samples_max = 1000, .seed = 1};

	watch_save(heap.watch, &saved);
	struct watch *const other = watch_load(saved.data, saved.size, &options, 4);

	assert_non_null(other);
	/* The same calls and looks follow in both. */
	for (unsigned i = 0; i < 2; i++) {
		struct watch *const own = heap.watch;
		const struct small_heap before = heap;

		heap.watch = i ? other : own;
		small_window(&heap, true);
		small_release(&heap, 3);
		small_allocate(&heap, 3, 32, 1);
		small_window(&heap, false);
		small_look(&heap);
		if (!i)
			heap = before;
		heap.watch = own;
	}
	struct watch_result *const one = watch_estimate(heap.watch), *const two = watch_estimate(other);

	assert_true(one->count == 4 && two->count == one->count);
	for (size_t i = 0; i < one->count; i++)
		assert_memory_equal(&one->stacks[i], &two->stacks[i], sizeof(one->stacks[i]));
	watch_result_free(one);
	watch_result_free(two);
	watch_save(other, &again);
	assert_true(again.size > saved.size);
	buf_free(&saved);
	buf_free(&again);
	watch_free(heap.watch);
	watch_free(other);
}

static void test_a_damaged_state_is_refused_or_harmless(void **state)
{
	struct small_heap heap = watched_for_a_while();
	const struct watch_options options = {.samples_max = 1000, .seed = 1};
	unsigned refused = 0;
	struct buf saved = {0};

	watch_save(heap.watch, &saved);
	for (size_t size = 0; size < saved.size; size += 13)
		assert_null(watch_load(saved.data, size, &options, 4));
	assert_null(watch_load(saved.data, saved.size, &options, 3));
	for (size_t i = 0; i < saved.size; i += 61) {
		saved.data[i] ^= 0xa5;
		struct watch *const w = watch_load(saved.data, saved.size, &options, 4);

		saved.data[i] ^= 0xa5;
		refused += !w;
		if (w)
			watch_result_free(watch_estimate(w));
		watch_free(w);
	}
	assert_true(refused > 10);
	buf_free(&saved);
	watch_free(heap.watch);
}

/* ---- A made-up program ---- */

enum { BRIEF, TABLE, QUEUE, GROWING, LEAK, STACKS };

struct made {
	struct replay_event *events;
	size_t count, capacity;
	uint64_t *free_lists[4096]; /* by class: free addresses, the last released one is taken first, as malloc does */
	size_t free_counts[4096], free_capacities[4096];
	uint64_t next, now, random;
};

static uint32_t draw(struct made *m, uint32_t most)
{
	m->random = m->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(m->random >> 33) % most;
}

static uint64_t made_allocate(struct made *m, uint32_t size, uint32_t stack)
{
	const uint32_t size_class = (size + 23) / 16;
	const uint64_t address = m->free_counts[size_class] ? m->free_lists[size_class][--m->free_counts[size_class]]
							    : (m->next += 4096);

	ARRAY_GROW(m->events, m->capacity, m->count);
	m->events[m->count++] = (struct replay_event){m->now += 20000, address, size, stack, true};
	return address;
}

static void made_release(struct made *m, uint64_t address, uint32_t size)
{
	const uint32_t size_class = (size + 23) / 16;

	ARRAY_GROW(m->events, m->capacity, m->count);
	m->events[m->count++] = (struct replay_event){.time = m->now += 20000, .address = address};
	ARRAY_GROW(m->free_lists[size_class], m->free_capacities[size_class], m->free_counts[size_class]);
	m->free_lists[size_class][m->free_counts[size_class]++] = address;
}

struct held {
	uint64_t address;
	uint32_t size;
};

static void replace(struct made *m, struct held *held, uint32_t size, uint32_t stack)
{
	if (held->address)
		made_release(m, held->address, held->size);
	*held = (struct held){made_allocate(m, size, stack), size};
}

/* Makes up the calls of a server that answers 1,000 requests a second for `seconds`. Each request has brief blocks,
 * replaces a value of a table, and adds a line to a queue, which keeps the last 3,000. With `grows`, a list gets ten
 * blocks a second that are never released, and one request in a hundred loses 136 bytes. */
static struct made *make_program(unsigned seconds, bool grows, uint64_t seed)
{
	static struct held table[2000], queue[3000];
	struct made *const m = xcalloc(1, sizeof(*m));
	struct held brief[4];

	memset(table, 0, sizeof(table));
	memset(queue, 0, sizeof(queue));
	m->random = seed;
	for (unsigned request = 0; request < seconds * 1000; request++) {
		m->now = request * (SECOND / 1000);
		for (unsigned i = 0; i < 4; i++) {
			const uint32_t size = 16 + draw(m, 200);

			brief[i] = (struct held){made_allocate(m, size, BRIEF), size};
		}
		replace(m, &table[draw(m, 2000)], 40 + draw(m, 100), TABLE);
		replace(m, &queue[request % 3000], 60 + draw(m, 40), QUEUE);
		if (grows && request % 100 == 0)
			made_allocate(m, 72, GROWING);
		if (grows && request % 100 == 50)
			made_allocate(m, 136, LEAK);
		for (unsigned i = 4; i-- > 0;)
			made_release(m, brief[i].address, brief[i].size);
	}
	return m;
}

static void free_program(struct made *m)
{
	for (size_t i = 0; i < 4096; i++)
		free(m->free_lists[i]);
	free(m->events);
	free(m);
}

static struct replay_score score_program(const struct made *m, uint64_t seed, double same)
{
	const struct replay_options options = {.share = 0.1,
					       .window = 0.3,
					       .look = 3,
					       .from = 0.15,
					       .lost_size = 136,
					       .is_regular = true,
					       .same = same,
					       .seed = seed};
	struct replay *const replay = replay_trace(m->events, m->count, &options);

	assert_non_null(replay);
	assert_true(replay->result->windows >= WINDOWS_MIN);
	const struct replay_score score = replay_score(replay);

	replay_free(replay);
	return score;
}

static void test_a_leaking_program(void **state)
{
	struct made *const m = make_program(150, true, 11);
	double errors = 0, covered = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		const struct replay_score score = score_program(m, seed, 0.8);

		errors += score.median_error / 10;
		covered += score.covered / 10;
		assert_true(score.resolved >= 4);
		assert_int_equal(score.false_growing, 0);
		assert_int_equal(score.found_growing, 2);
		assert_true(score.lost_rank >= 1 && score.lost_rank <= 3);
		assert_true(fabs(score.lost_ratio - 1) < 0.1);
		assert_true(score.recall >= 0.8);
	}
	assert_true(errors < 0.2);
	assert_true(covered >= 0.85);
	free_program(m);
}

static void test_a_program_that_does_not_grow(void **state)
{
	struct made *const m = make_program(150, false, 12);

	for (uint64_t seed = 1; seed <= 10; seed++)
		for (unsigned knows_contents = 0; knows_contents < 2; knows_contents++) {
			const struct replay_score score = score_program(m, seed, 0.8 * knows_contents);

			assert_int_equal(score.false_growing, 0);
			assert_int_equal(score.growing, 0);
		}
	free_program(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_survival_is_found_behind_reused_addresses),
		cmocka_unit_test(test_fates),
		cmocka_unit_test(test_released_addresses_are_followed_once_a_window),
		cmocka_unit_test(test_a_window_of_all_time_is_exact),
		cmocka_unit_test(test_few_old_samples_do_not_say_whether_a_stack_grows),
		cmocka_unit_test(test_nothing_is_estimated_without_looks),
		cmocka_unit_test(test_forgotten_windows_leave_the_estimate),
		cmocka_unit_test(test_looks_are_merged),
		cmocka_unit_test(test_scans_count_in_looks_that_do_not),
		cmocka_unit_test(test_a_sample_between_merged_looks_loses_none),
		cmocka_unit_test(test_forgetting_keeps_the_weights),
		cmocka_unit_test(test_dead_samples_are_forgotten_before_windows),
		cmocka_unit_test(test_what_has_filled_up_does_not_grow),
		cmocka_unit_test(test_counts_show_blocks_that_samples_hide),
		cmocka_unit_test(test_contents_are_those_at_the_end_of_the_sampling_window),
		cmocka_unit_test(test_looks_within_a_window_come_before_its_samples),
		cmocka_unit_test(test_a_watch_without_time_has_no_estimate),
		cmocka_unit_test(test_one_dear_scan_does_not_decide_alone),
		cmocka_unit_test(test_a_watch_goes_on_from_its_state),
		cmocka_unit_test(test_a_damaged_state_is_refused_or_harmless),
		cmocka_unit_test(test_a_leaking_program),
		cmocka_unit_test(test_a_program_that_does_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
