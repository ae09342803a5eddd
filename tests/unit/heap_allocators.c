/* Tests the readers of allocators' heaps. A reader must find exactly the blocks of a program, and its figures must be
 * those of the allocator; it must read a damaged copy to its end, or refuse it, and guess nothing.
 *
 * The program is this test, executed again with the allocator's library preloaded. Its threads allocate blocks of many
 * sizes by many functions, exchange blocks, and release each other's blocks; some threads end. Then the program prints
 * its blocks. */
#include "config.h"
#include "base/util.h"
#include "heap/heap.h"
#include "heap/jemalloc/jemalloc.h"
#include "heap_allocators.h"
#include "long.h"
#include "scan/capture/snapshot.h"
#include "unit_test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS      50
#define ROUNDS_LONG 150

struct child {
	pid_t pid;
	int to;
	FILE *from;
	uint64_t own_figure; /* bytes in use by the allocator's own count; 0 if it has none */
};

struct said {
	uint64_t address, size;
	bool is_aligned;
};

static bool start(struct child *child, const char *library, unsigned threads, unsigned seed)
{
	int to[2], from[2];
	char line[64] = "", numbers[2][16];

	assert_int_equal(pipe(to) | pipe(from), 0);
	child->pid = fork();
	if (!child->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		close(to[1]);
		close(from[0]);
		setenv("LD_PRELOAD", library, 1);
		snprintf(numbers[0], sizeof(numbers[0]), "%u", threads);
		snprintf(numbers[1], sizeof(numbers[1]), "%u", seed);
		execl("/proc/self/exe", "heap_allocators", numbers[0], numbers[1], (char *)NULL);
		_exit(1);
	}
	close(to[0]);
	close(from[1]);
	child->to = to[1];
	child->from = fdopen(from[0], "r");
	return fgets(line, sizeof(line), child->from) && !strcmp(line, "base\n");
}

static void end(struct child *child)
{
	fclose(child->from);
	close(child->to);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

/* Lets the program work. Reads the list of its blocks, unsorted. */
static struct said *work(struct child *child, size_t *count)
{
	struct said *all = NULL, one;
	size_t capacity = 0;
	unsigned is_aligned;
	char line[128];

	*count = 0;
	assert_int_equal(write(child->to, "g", 1), 1);
	while (fgets(line, sizeof(line), child->from) &&
	       sscanf(line, "%" SCNx64 " %" SCNu64 " %u", &one.address, &one.size, &is_aligned) == 3) {
		one.is_aligned = is_aligned;
		ARRAY_GROW(all, capacity, *count);
		all[(*count)++] = one;
	}
	assert_int_equal(sscanf(line, "end %" SCNu64, &child->own_figure), 1);
	return all;
}

static struct snapshot *take(const struct child *child, struct heap **heap)
{
	const char *reason = NULL;
	struct snapshot *snapshot = snapshot_new(child->pid);

	/* All threads wait, but some may have begun to wait only just now, so the first copies may be inconsistent. */
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(snapshot_warm(snapshot) | snapshot_take(snapshot, NULL), 0);
		const enum heap_status status = heap_read(snapshot_image(snapshot), heap, &reason);

		if (status == HEAP_READ)
			return snapshot;
		if (status == HEAP_NOT_FOUND && !snapshot_image(snapshot)->arch->malloc.has_known_jemalloc) {
			printf("# skipped: these heaps are read of x86-64 only\n");
			skip();
		}
		if (status != HEAP_INCONSISTENT)
			break;
		usleep(10000);
	}
	fail_msg("its heap is not read: %s", reason ? reason : "there is none");
	return NULL;
}

static int compare_said(const void *one, const void *two)
{
	const struct said *a = one, *b = two;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Checks that the second capture has exactly the blocks of the first one and those that the program has printed. */
static void check_blocks(struct heap *before, struct heap *after, struct said *said, size_t said_count, bool may_begin)
{
	const size_t base_count = heap_count(before), count = heap_count(after);
	size_t base = 0, next = 0;

	qsort(said, said_count, sizeof(*said), compare_said);
	for (size_t i = 0; i < count; i++) {
		const struct heap_block block = heap_block(after, i), *const b = &block;

		if (base < base_count && heap_block(before, base).address == b->address &&
		    heap_block(before, base).size == b->size) {
			base++;
			continue;
		}
		if (next == said_count)
			fail_msg("a block of %" PRIu64 " bytes at %" PRIx64 " is not expected", b->size, b->address);
		const struct said *s = &said[next++];
		const bool begins_inside = may_begin && s->is_aligned && s->address > b->address;

		if ((s->address != b->address && !begins_inside) || s->address + s->size != b->address + b->size)
			fail_msg("%" PRIu64 " bytes at %" PRIx64 " were found, not %" PRIu64 " at %" PRIx64, b->size,
				 b->address, s->size, s->address);
	}
	assert_int_equal(base, base_count);
	assert_int_equal(next, said_count);
}

struct allocator {
	const char *library, *name;
	bool begins_inside; /* aligned blocks may begin after the start of the allocator's block */
	bool counts_all;    /* its own figure is the sum of all threads */
};

static const struct allocator jemalloc = {"libjemalloc.so.2", "jemalloc", false, true};
static const struct allocator mimalloc = {"libmimalloc.so.2.0", "mimalloc", true, false};

static bool begin(struct child *child, const struct allocator *a, unsigned threads, unsigned seed)
{
	const bool is_there = start(child, a->library, threads, seed);

	if (!is_there) {
		end(child);
		printf("# skipped: %s is not installed\n", a->library);
	}
	return is_there;
}

static void check_exact_blocks(const struct allocator *a, unsigned threads, unsigned seed)
{
	struct heap *before, *after;
	struct child child;
	size_t count;

	if (!begin(&child, a, threads, seed))
		skip();
	struct snapshot *base = take(&child, &before);
	struct said *said = work(&child, &count);
	struct snapshot *now = take(&child, &after);

	assert_string_equal(heap_allocator(after), a->name);
	assert_true(count > 100);
	check_blocks(before, after, said, count, a->begins_inside);
	if (a->counts_all || !threads)
		assert_int_equal(heap_figures(after)->uordblks, child.own_figure);
	heap_free(before);
	heap_free(after);
	snapshot_free(base);
	snapshot_free(now);
	free(said);
	end(&child);
}

static void check_exact_blocks_of_all_runs(const struct allocator *a)
{
	const unsigned seeds = test_is_long() ? 3 : 1;

	for (unsigned threads = 0; threads <= 8; threads += !threads ? 1 : test_is_long() ? threads : 7)
		for (unsigned seed = 1; seed <= seeds; seed++)
			check_exact_blocks(a, threads, seed);
}

static void test_blocks_of_jemalloc_are_exact(void **state)
{
	check_exact_blocks_of_all_runs(&jemalloc);
}

static void test_blocks_of_mimalloc_are_exact(void **state)
{
	check_exact_blocks_of_all_runs(&mimalloc);
}

/* ---- Damage ---- */

static uint64_t seed_of_damage = 1;

static uint64_t draw(uint64_t below)
{
	seed_of_damage = seed_of_damage * 6364136223846793005u + 1442695040888963407u;
	return (seed_of_damage >> 17) % below;
}

static void damage(uint64_t *words, size_t count)
{
	/* Prefers words that are not 0, because some important words are in pages that are 0 otherwise. */
	size_t i = (size_t)draw(count);

	for (unsigned tries = 0; !words[i] && tries < 1000; tries++)
		i = (size_t)draw(count);
	switch (draw(5)) {
	case 0:
		words[i] ^= 1ull << draw(64);
		break;
	case 1:
		words[i] = words[draw(count)];
		break;
	case 2:
		words[i] += 16 * draw(64);
		break;
	case 3:
		words[i] = 0;
		break;
	default:
		words[i] = draw(UINT64_MAX);
		break;
	}
}

static void check(struct heap *heap)
{
	const size_t count = heap_count(heap);
	uint32_t root, from;

	heap_classify_for(heap, &(struct classify_options){.has_ways = true});
	for (size_t i = 0; i < count; i++) {
		heap_way(heap, i, &root, &from);
		assert_true(from == HEAP_NONE || from < count);
		assert_true(heap_block(heap, i).class <= HEAP_REACHABLE);
		assert_int_equal(heap_find(heap, heap_block(heap, i).address), i);
	}
}

/* Damages in each round up to 40 words of a range of 64 KiB, in the allocator's memory or in its variables. Fails
 * unless each damaged heap is read with valid results, or refused. */
static void check_damaged_heaps(const struct allocator *a)
{
	const unsigned wanted = test_is_long() ? ROUNDS_LONG : ROUNDS;
	struct child child;
	struct heap *heap;
	const char *reason;
	unsigned refused = 0, rounds = 0;
	size_t said_count, size;

	if (!begin(&child, a, 2, 5))
		skip();
	free(work(&child, &said_count));
	struct snapshot *snapshot = take(&child, &heap);
	const struct heap_image *image = snapshot_image(snapshot);

	check(heap);
	heap_free(heap);
	/* The addresses differ from run to run, so the first rounds may all hit words that do not matter. */
	while (rounds < wanted || (!refused && rounds < 100 * wanted)) {
		const struct heap_mapping *m = &image->mappings[draw(image->n_mappings)];
		const bool is_chosen = m->writable && (!m->path[0] || strstr(m->path, "malloc.so"));
		const uint64_t at = m->start + 4096 * draw((m->end - m->start) / 4096);
		uint64_t *words = is_chosen ? (uint64_t *)(uintptr_t)image->bytes(image, at, &size) : NULL;

		if (!words || size < 64)
			continue;
		/* All damaged words are within 64 KiB, because the allocator's own structures are close to each
		 * other. */
		const size_t left = size < m->end - at ? size : (size_t)(m->end - at);
		const size_t count = (left < 65536 ? left : 65536) / 8;
		uint64_t *whole = malloc(count * 8);

		memcpy(whole, words, count * 8);
		for (uint64_t k = 1 + draw(40); k--;)
			damage(words, count);
		const enum heap_status status = heap_read(image, &heap, &reason);

		rounds++;
		refused += status != HEAP_READ;
		assert_true(status != HEAP_INCONSISTENT || reason);
		if (status == HEAP_READ)
			check(heap);
		heap_free(heap);
		memcpy(words, whole, count * 8);
		free(whole);
	}
	printf("# %u of %u damaged heaps of %s were refused\n", refused, rounds, a->name);
	assert_true(refused);
	assert_int_equal(heap_read(image, &heap, &reason), HEAP_READ);
	heap_free(heap);
	snapshot_free(snapshot);
	end(&child);
}

static void test_damaged_jemalloc_heaps_are_read_or_refused(void **state)
{
	check_damaged_heaps(&jemalloc);
}

static void test_damaged_mimalloc_heaps_are_read_or_refused(void **state)
{
	check_damaged_heaps(&mimalloc);
}

/* With bin_shards, jemalloc has several bins for each size. They lie one after the other, and each has a lock. */
static void test_locks_of_all_shards_are_listed(void **state)
{
	struct child child;
	struct heap *heap;
	size_t said_count;
	uint64_t locks[512];
	unsigned arenas = 0;

	setenv("MALLOC_CONF", "narenas:1,bin_shards:16-4096:4", 1);
	const bool has_begun = begin(&child, &jemalloc, 0, 1);

	unsetenv("MALLOC_CONF");
	if (!has_begun)
		skip();
	free(work(&child, &said_count));
	struct snapshot *snapshot = take(&child, &heap);
	struct jemalloc found = {.heap = heap};

	assert_int_equal(jemalloc_find(&found), HEAP_READ);
	for (unsigned i = 0; i < JEMALLOC_ARENAS; i++)
		arenas += jemalloc_arena(&found, i) != 0;
	assert_int_equal(found.shards[JEMALLOC_BINS - 1], 1);
	assert_true(jemalloc_bins(&found) > 2 * JEMALLOC_BINS);
	assert_int_equal(jemalloc_locks(heap, locks, ARRAY_SIZE(locks)), arenas * jemalloc_bins(&found));
	assert_int_equal(locks[1] - locks[0], locks[2] - locks[1]);
	heap_free(heap);
	snapshot_free(snapshot);
	end(&child);
}

/* If all words of the root of jemalloc's tree of pages pointed to one leaf, reading the leaf for each of them would
 * take hours. */
static void test_leaf_with_several_pointers_is_refused(void **state)
{
	struct child child;
	struct heap *heap;
	const char *reason;
	size_t said_count, size;

	if (!begin(&child, &jemalloc, 0, 1))
		skip();
	free(work(&child, &said_count));
	struct snapshot *snapshot = take(&child, &heap);
	const struct heap_image *image = snapshot_image(snapshot);
	struct jemalloc found = {.heap = heap};

	assert_int_equal(jemalloc_find(&found), HEAP_READ);
	uint64_t leaf = 0, *free_word = NULL;

	for (uint64_t at = found.root; at < found.root + (8ull << 18); at += 8) {
		uint64_t *const word = (uint64_t *)(uintptr_t)image->bytes(image, at, &size);

		if (word && *word)
			leaf = *word;
		else if (word)
			free_word = word;
	}
	heap_free(heap);
	assert_true(leaf && free_word);
	*free_word = leaf;
	assert_int_equal(heap_read(image, &heap, &reason), HEAP_INCONSISTENT);
	assert_string_equal(reason, "two leaves of the tree of pages overlap in memory");
	snapshot_free(snapshot);
	end(&child);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_of_jemalloc_are_exact),
		cmocka_unit_test(test_blocks_of_mimalloc_are_exact),
		cmocka_unit_test(test_damaged_jemalloc_heaps_are_read_or_refused),
		cmocka_unit_test(test_damaged_mimalloc_heaps_are_read_or_refused),
		cmocka_unit_test(test_leaf_with_several_pointers_is_refused),
		cmocka_unit_test(test_locks_of_all_shards_are_listed),
	};

	if (argc == 3)
		return allocate((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
