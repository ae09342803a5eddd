/* Tests the context library alone: its ids, its table as a tracer reads it, and races between its threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>

static int yield_to_makers(void);
/* Replaces the library's calls. */
#define sched_yield yield_to_makers
#include "context/context.c"
#include "unit_test.h"
#undef sched_yield

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8
#define NAMES   40

static bool awaits_makers;

/* Replaces sched_yield() in the library. The library yields at most 1000 times while another thread writes a name. The
 * 1000 yields may take less than a millisecond, and the other thread may get no processor for longer. If awaits_makers
 * is set, waits until no name is being written. */
static int yield_to_makers(void)
{
	const int result = sched_yield();

	for (size_t i = 0; awaits_makers && i < CONTEXTS_MAX; i++)
		while (entry_state(&table.contexts[i]) == CONTEXT_IN_MAKING)
			sched_yield();
	return result;
}

static int reset(void **state)
{
	table.created = 0;
	memset(table.contexts, 0, sizeof(table.contexts));
	memset(table.threads, 0, sizeof(table.threads));
	memset(&own, 0, sizeof(own));
	return 0;
}

/* Returns the thread's entry in the table, or NULL. */
static const struct context_thread *entry_of(uint32_t tid)
{
	const struct context_thread *found = NULL;

	for (size_t i = 0; i < CONTEXT_THREADS_MAX; i++)
		if (table.threads[i].tid == tid) {
			assert_null(found);
			found = &table.threads[i];
		}
	return found;
}

static uint32_t this_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void test_each_name_gets_one_id(void **state)
{
	char name[100], cut[100];

	assert_int_equal(sp_context_create(NULL), 0);
	assert_int_equal(sp_context_create(""), 0);
	memset(name, 'x', sizeof(name));
	name[99] = '\0';
	assert_int_equal(sp_context_create(name), 1);
	snprintf(cut, sizeof(cut), "%.59s", name);
	assert_string_equal(table.contexts[0].name, cut);
	assert_int_equal(sp_context_create(cut), 1);
	for (unsigned i = 1; i < 32; i++) {
		snprintf(name, sizeof(name), "context %u", i);
		assert_int_equal(sp_context_create(name), 1u << i);
	}
	assert_int_equal(sp_context_create("one more"), 0);
	assert_int_equal(sp_context_create("context 31"), 1u << 31);
	assert_int_equal(table.created, UINT32_MAX);
	assert_int_equal(table.magic, CONTEXT_TABLE_MAGIC);
	assert_int_equal(functrace_contexts.version, 1);
}

static void test_masks_follow_enter_and_exit(void **state)
{
	const unsigned a = sp_context_create("a"), b = sp_context_create("b");

	errno = 77;
	assert_null(entry_of(this_tid()));
	sp_context_exit(a);
	sp_context_enter(0);
	sp_context_enter(4);
	assert_null(entry_of(this_tid()));
	sp_context_enter(b);
	sp_context_enter(b | 8);
	assert_int_equal(entry_of(this_tid())->mask, b);
	sp_context_enter(a);
	sp_context_exit(b);
	assert_int_equal(entry_of(this_tid())->mask, a);
	sp_context_exit(~0u);
	assert_null(entry_of(this_tid()));
	assert_int_equal(errno, 77);
}

/* A new thread with the id of an ended thread does not get the ended thread's contexts. */
static void test_entry_of_an_ended_thread_is_reset(void **state)
{
	const uint32_t tid = this_tid();

	sp_context_create("a");
	table.threads[(tid + 3) % CONTEXT_THREADS_MAX] = (struct context_thread){tid, 0xf0};
	sp_context_enter(1);
	assert_int_equal(entry_of(tid)->mask, 1);
	sp_context_exit(1);
	assert_null(entry_of(tid));
}

/* If no entry near the thread's place in the table is free, the context is entered nevertheless, but only a running
 * tracer sees it. */
static void test_mask_without_a_free_entry_is_not_stored(void **state)
{
	const uint32_t tid = this_tid();

	sp_context_create("a");
	for (uint32_t i = 0; i < PROBES_MAX; i++)
		table.threads[(tid + i) % CONTEXT_THREADS_MAX].tid = tid + i + 1;
	sp_context_enter(1);
	sp_context_exit(1);
	assert_null(own.entry);
	assert_int_equal(own.is_busy, 0);
	for (uint32_t i = 0; i < PROBES_MAX; i++)
		assert_int_equal(table.threads[(tid + i) % CONTEXT_THREADS_MAX].mask, 0);
}

/* T: enter(a), takes its entry | a signal's handler: enter(b), exit(b) | T: writes its mask. */
static void test_enter_in_a_signal_handler_leaves_the_entry(void **state)
{
	sp_context_create("a");
	sp_context_create("b");
	sp_context_enter(1);
	own.is_busy = 1;
	sp_context_enter(2);
	assert_int_equal(entry_of(this_tid())->mask, 1);
	sp_context_exit(1);
	assert_int_equal(entry_of(this_tid())->mask, 1);
	own.is_busy = 0;
	sp_context_exit(1);
	assert_null(own.entry);
}

/* A: takes an entry, and is stopped, or does not exist any more (another thread has forked) | B: uses the next
 * entry. */
static void test_unfinished_context_is_skipped(void **state)
{
	table.contexts[0].state = CONTEXT_IN_MAKING;
	assert_int_equal(sp_context_create("a"), 2);
	assert_int_equal(table.created, 2);
}

static pthread_barrier_t barrier;

static void *create_all(void *data)
{
	unsigned(*ids)[NAMES] = data;
	const unsigned first = (*ids)[0];
	char name[16];

	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < NAMES; i++) {
		const unsigned n = (first + i) % NAMES;

		snprintf(name, sizeof(name), "%u", n);
		(*ids)[n] = sp_context_create(name);
		sp_context_enter((*ids)[n]);
	}
	for (unsigned i = 0; i < NAMES; i++)
		sp_context_exit((*ids)[i]);
	return NULL;
}

/* All threads create the same names at once, each in another order. All 32 ids are given, and no name gets two ids. */
static void test_threads_agree_on_ids(void **state)
{
	static unsigned ids[THREADS][NAMES];
	pthread_t tids[THREADS];

	awaits_makers = true;
	for (unsigned round = 0; round < 200; round++) {
		uint32_t seen = 0;

		reset(NULL);
		pthread_barrier_init(&barrier, NULL, THREADS);
		for (unsigned t = 0; t < THREADS; t++) {
			ids[t][0] = t * NAMES / THREADS;
			assert_int_equal(pthread_create(&tids[t], NULL, create_all, ids[t]), 0);
		}
		for (unsigned t = 0; t < THREADS; t++)
			pthread_join(tids[t], NULL);
		assert_int_equal(table.created, UINT32_MAX);
		for (unsigned n = 0; n < NAMES; n++) {
			for (unsigned t = 1; t < THREADS; t++)
				assert_true(ids[t][n] == ids[0][n] || !ids[t][n] || !ids[0][n]);
			for (unsigned t = 0; t < THREADS; t++)
				seen |= ids[t][n];
		}
		assert_int_equal(seen, UINT32_MAX);
		for (size_t i = 0; i < CONTEXT_THREADS_MAX; i++)
			assert_int_equal(table.threads[i].tid | table.threads[i].mask, 0);
	}
	awaits_makers = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_each_name_gets_one_id, reset),
		cmocka_unit_test_setup(test_masks_follow_enter_and_exit, reset),
		cmocka_unit_test_setup(test_entry_of_an_ended_thread_is_reset, reset),
		cmocka_unit_test_setup(test_mask_without_a_free_entry_is_not_stored, reset),
		cmocka_unit_test_setup(test_enter_in_a_signal_handler_leaves_the_entry, reset),
		cmocka_unit_test_setup(test_unfinished_context_is_skipped, reset),
		cmocka_unit_test_setup(test_threads_agree_on_ids, reset)};

	return cmocka_run_group_tests_name("context_library", tests, NULL, NULL);
}
