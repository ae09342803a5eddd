/* Tests a watch over time: a program that does its work once a second, in phase with the windows, and the memory of a
 * watch of a day (of four hours without CHECK_LONG). */
#include "config.h"
#include "base/util.h"
#include "long.h"
#include "replay.h"
#include "unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define SECOND 1000000000ull

static uint32_t number_below(uint64_t *random, uint32_t most)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*random >> 33) % most;
}

/* ---- A tick ---- */

enum { TICK, TABLE, TABLE_PLACES = 2000, TICK_BLOCKS = 50 };

struct ticking {
	struct replay_event *events;
	size_t count, capacity;
	uint64_t next, random;
	uint64_t table[TABLE_PLACES];
};

static void add_event(struct ticking *t, uint64_t time, uint64_t address, uint32_t stack, bool is_allocation)
{
	ARRAY_GROW(t->events, t->capacity, t->count);
	t->events[t->count++] = (struct replay_event){time, address, is_allocation ? 64 : 0, stack, is_allocation};
}

/* Once a second 50 blocks are allocated at once, and kept. 300 times a second a block of a table is replaced, which has
 * the same size. */
static struct ticking *make_ticking(unsigned seconds)
{
	struct ticking *const t = xcalloc(1, sizeof(*t));

	t->random = 5;
	for (unsigned second = 0; second < seconds; second++) {
		for (unsigned i = 0; i < TICK_BLOCKS; i++)
			add_event(t, second * SECOND, t->next += 64, TICK, true);
		for (unsigned i = 0; i < 300; i++) {
			const uint64_t now = second * SECOND + (i + 1) * (SECOND / 301);
			uint64_t *const place = &t->table[number_below(&t->random, TABLE_PLACES)];
			const uint64_t address = *place ? *place : (t->next += 64);

			if (*place)
				add_event(t, now, address, TABLE, false);
			add_event(t, now + 1000, *place = address, TABLE, true);
		}
	}
	return t;
}

/* A period is a second, or a whole number of them. */
static void test_a_tick_in_phase(void **state)
{
	static const double windows[] = {0.1, 0.3};
	struct ticking *const t = make_ticking(400);
	double least = INFINITY, most = 0;

	for (unsigned run = 0; run < (test_is_long() ? 20 : 4); run++) {
		const struct replay_options options = {.share = 0.1,
						       .window = windows[run % 2],
						       .look = 3,
						       .from = 0.15,
						       .same = run % 4 < 2 ? 0.8 : 0,
						       .seed = run + 1};
		struct replay *const replay = replay_trace(t->events, t->count, &options);
		double live = 0;

		assert_non_null(replay);
		for (size_t i = 0; i < replay->result->count; i++)
			live += replay->result->stacks[i].stack == TICK ? replay->result->stacks[i].live : 0;
		const double ratio = live / replay->stacks[TICK].live;

		least = ratio < least ? ratio : least;
		most = ratio > most ? ratio : most;
		replay_free(replay);
	}
	printf("# a tick in phase: %.2f to %.2f of the truth\n", least, most);
	assert_true(least >= 1 / 1.5 && most <= 1.5);
	free(t->events);
	free(t);
}

/* ---- A day ---- */

enum { STACKS = 10000, WINDOWS = 24 * 60, CALLS = 20000, MANY_CALLS = 160000 };

/* A block's address tells when it was allocated, and how long it lives: one in ten lives for ever, half
 * of them die before the next look, the others after some minutes. */
static bool lives_at(uint64_t now, uint64_t address)
{
	const uint64_t born = address >> 24;
	uint64_t random = address;
	const uint32_t kind = number_below(&random, 10);

	return kind == 0 || (kind < 5 && now < born + 60 * number_below(&random, 10));
}

static bool day_chunk_at(void *context, uint64_t address, struct watch_chunk *chunk)
{
	chunk->print = address | 1;
	return lives_at(*(const uint64_t *)context, address);
}

static uint64_t day_count(void *context, uint32_t size_class)
{
	return *(const uint64_t *)context * 100 + size_class;
}

/* A window that begins at *now, in s. */
static void day_window(struct watch *w, uint64_t *now, const struct watch_heap *heap, unsigned calls, uint64_t *random)
{
	watch_window_begin(w, *now * SECOND, *now);
	for (unsigned i = 0; i < calls; i++) {
		const uint64_t address = *now << 24 | i << 4;
		const uint32_t stack = number_below(random, STACKS), size_class = 16 + stack % 200 * 16;

		watch_allocated(w, *now * SECOND + i, address, size_class, size_class, stack);
		if (i % 8 == 0)
			watch_released(w, *now * SECOND + i + 1, address, size_class);
	}
	++*now;
	watch_window_end(w, *now * SECOND, *now, heap);
}

static double peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* A window a minute, 10,000 stacks, busy at first and for some minutes every four hours, and then an estimate. */
static void test_a_day_needs_little_memory(void **state)
{
	struct watch *const w = watch_new(&(struct watch_options){.samples_max = WATCH_SAMPLES_MAX, .seed = 1}, 0);
	uint64_t now = 0, random = 3;
	const struct watch_heap heap = {&now, day_chunk_at, day_count, NULL, NULL};

	for (unsigned window = 0; window < (test_is_long() ? WINDOWS : WINDOWS / 6); window++) {
		const bool is_busy = window < 3 || window % 240 >= 225;

		now = window * 60ull;
		day_window(w, &now, &heap, is_busy ? MANY_CALLS : CALLS, &random);
		now = window * 60ull + 59;
		watch_look(w, now * SECOND, now, &heap);
		if (window % 240 != 239)
			continue;
		struct watch_result *const result = watch_estimate(w);

		assert_true(result->count > STACKS / 2);
		watch_result_free(result);
		printf("# %u windows, %u stacks: at most %.1f MiB\n", window + 1, STACKS, peak_mib());
	}
	watch_free(w);
#ifndef __SANITIZE_ADDRESS__ /* it needs much memory itself */
	assert_true(peak_mib() <= 64);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_day_needs_little_memory),
		cmocka_unit_test(test_a_tick_in_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
