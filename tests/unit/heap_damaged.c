/* Damages the copy of a real heap, word by word. Each damaged copy must be read to its end, or refused with a reason,
 * and all results must be within bounds. */
#include "config.h"
#include "base/util.h"
#include "heap/heap.h"
#include "scan/capture/snapshot.h"
#include "unit_test.h"

#include <elf.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 400
#define BLOCKS 3000
#define SIZE   (sizeof(void *) == 8 ? 88u : 92u) /* as malloc_usable_size() returns it */

static void *blocks[BLOCKS];

/* Allocates the last blocks, then reports that the heap does not change any more. */
static void *fill(void *ready)
{
	for (size_t i = 0; i < 500; i++) {
		void *volatile kept = malloc(16 + i % 40 * 16), *volatile released = malloc(16 + i % 90 * 16);

		free(released);
		(void)kept;
	}
	if (write(*(int *)ready, "r", 1) == 1)
		pause();
	return NULL;
}

static void run_child(int ready)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(SIZE);
	for (size_t i = 0; i < BLOCKS; i += 3) {
		free(blocks[i]);
		blocks[i] = NULL;
	}
	for (size_t i = 0; i < 20; i++)
		blocks[i * 3] = malloc(300000 + i * 1000);
	pthread_create(&thread, NULL, fill, &ready);
	pthread_join(thread, NULL);
}

static struct snapshot *take(pid_t *pid)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	*pid = fork();
	if (!*pid) {
		run_child(ready[1]);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct snapshot *snapshot = snapshot_new(*pid);

	assert_int_equal(snapshot_warm(snapshot), 0);
	assert_int_equal(snapshot_take(snapshot, NULL), 0);
	return snapshot;
}

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 17) % below;
}

/* Gives a random word another value: one bit flipped, the value of another word, up to 1008 more, 0, or any value. */
static void damage(uint64_t *words, size_t count)
{
	const size_t i = (size_t)draw(count);

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

/* Returns the words of the first writable mapping whose path contains `part`, and stores their number in *count. */
static uint64_t *memory_of(const struct heap_image *image, const char *part, size_t *count)
{
	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *m = &image->mappings[i];
		size_t size;
		const void *bytes = m->writable && strstr(m->path, part) ? image->bytes(image, m->start, &size) : NULL;

		if (!bytes)
			continue;
		*count = (size < m->end - m->start ? size : (size_t)(m->end - m->start)) / sizeof(uint64_t);
		return (uint64_t *)(uintptr_t)bytes;
	}
	return NULL;
}

struct owned {
	uint64_t bytes, blocks;
};

static void add_owned(void *context, uint64_t address, pid_t tid, uint64_t bytes, uint64_t number)
{
	struct owned *const owned = context;

	assert_int_equal(address != 0, tid == 0);
	owned->bytes += bytes;
	owned->blocks += number;
}

static void check(struct heap *heap)
{
	struct owned owned = {0}, reached = {0};
	const size_t count = heap_count(heap);

	heap_classify_for(heap, &(struct classify_options){.owner = add_owned, .context = &owned, .has_ways = true});
	for (size_t i = 0; i < count; i++) {
		const struct heap_block block = heap_block(heap, i);
		uint64_t bytes, led;
		uint32_t root, from, first = (uint32_t)i, next;
		pid_t tid;

		heap_lost_by(heap, i, &bytes, &led);
		assert_true(led <= count);
		heap_way(heap, i, &root, &from);
		assert_true(from == HEAP_NONE || from < count);
		assert_int_equal(block.class == HEAP_LOST || block.class == HEAP_INDIRECT, root == HEAP_NONE);
		for (size_t steps = 0; next = HEAP_NONE, heap_way(heap, first, &from, &next), next != HEAP_NONE;
		     first = next)
			assert_true(steps++ < count);
		assert_true(block.class != HEAP_INDIRECT || heap_block(heap, first).class == HEAP_LOST);
		if (root != HEAP_NONE) {
			heap_root(heap, root, &tid);
			reached.bytes += block.size;
			reached.blocks++;
		}
		assert_int_equal(heap_find(heap, block.address), i);
	}
	assert_int_equal(owned.bytes, reached.bytes);
	assert_int_equal(owned.blocks, reached.blocks);
}

static void check_damaged_heaps(const struct heap_image *image, const char *part, unsigned most, unsigned *refused)
{
	size_t count = 0;
	uint64_t *words = memory_of(image, part, &count);

	assert_non_null(words);
	uint64_t *const whole = malloc(count * sizeof(*whole));

	memcpy(whole, words, count * sizeof(*whole));
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct heap *heap;
		const char *reason;

		for (uint64_t k = 1 + draw(most); k--;)
			damage(words, count);
		const enum heap_status status = heap_read(image, &heap, &reason);

		*refused += status != HEAP_READ;
		assert_true(status != HEAP_INCONSISTENT || reason);
		if (status == HEAP_READ)
			check(heap);
		heap_free(heap);
		memcpy(words, whole, count * sizeof(*whole));
	}
	free(whole);
}

static void test_damaged_heap_is_read_or_refused(void **state)
{
	pid_t pid;
	struct snapshot *snapshot = take(&pid);
	const struct heap_image *image = snapshot_image(snapshot);
	struct heap *heap;
	const char *reason;
	size_t count, of_size = 0, large = 0;
	unsigned in_heap = 0, in_variables = 0;

	assert_int_equal(heap_read(image, &heap, &reason), HEAP_READ);
	check(heap);
	count = heap_count(heap);

	for (size_t i = 0; i < count; i++) {
		of_size += heap_block(heap, i).size == SIZE && heap_block(heap, i).class == HEAP_REACHABLE;
		large += heap_block(heap, i).size >= 300000;
	}
	assert_int_equal(of_size, BLOCKS - BLOCKS / 3);
	assert_int_equal(large, 20);
	assert_int_equal(heap_figures(heap)->arenas, 2);
	assert_int_equal(heap_figures(heap)->hblks, 20);
	assert_int_equal(heap_figures(heap)->cached_chunks >= 7, true);
	heap_free(heap);
	check_damaged_heaps(image, "[heap]", 40, &in_heap);
	check_damaged_heaps(image, "/libc", 200, &in_variables);
	assert_true(in_heap > ROUNDS / 10);
	assert_true(in_variables > ROUNDS / 10);
	snapshot_free(snapshot);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Old words on a stack may look like a thread's variables. The test writes one word before each of the two thread
 * pointers, at the same distance: a pointer to the main thread's cache, and a pointer to a block with the size of a
 * cache. */
static void test_old_pointers_to_a_cache_are_ignored(void **state)
{
	enum { BEFORE = 1000 };
	const unsigned w = sizeof(void *), need = 64 * 2 + 64 * w;
	pid_t pid;
	struct snapshot *snapshot = take(&pid);
	const struct heap_image *image = snapshot_image(snapshot);
	struct heap *heap;
	const char *reason;
	size_t count, size;
	uint64_t block = 0;

	assert_int_equal(heap_read(image, &heap, &reason), HEAP_READ);
	const uint64_t cache = heap_figures(heap)->bottom + 2 * w;
	count = heap_count(heap);

	for (size_t i = 0; i < count && !block; i++)
		if (heap_block(heap, i).size >= need && heap_block(heap, i).size < need + 16)
			block = heap_block(heap, i).address;
	heap_free(heap);
	assert_int_not_equal(block, 0);
	assert_int_equal(image->n_threads, 2);
	memset((void *)(uintptr_t)image->bytes(image, block, &size), 0x11, need);
	for (size_t i = 0; i < 2; i++) {
		const uint64_t at = image->threads[i].thread_pointer - BEFORE;
		const uint64_t word = i ? block : cache;
		void *const place = (void *)(uintptr_t)image->bytes(image, at, &size);

		assert_non_null(place);
		memcpy(place, &word, w);
	}
	assert_int_equal(heap_read(image, &heap, &reason), HEAP_READ);
	assert_int_equal(heap_count(heap), count);
	heap_free(heap);
	snapshot_free(snapshot);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Finds glibc's {n_mmaps, n_mmaps_max} in the copy. Returns NULL if they are not there. */
static uint32_t *counts_of(const struct heap_image *image, uint32_t n_mmaps)
{
	size_t count = 0;
	uint32_t *const ints = (uint32_t *)memory_of(image, "/libc", &count);

	for (size_t i = 0; i + 4 < 2 * count; i++)
		if (ints[i] == n_mmaps && ints[i + 1] == 65536)
			return &ints[i];
	return NULL;
}

/* functrace compares glibc's count of mmapped chunks with the chunks that it finds, also if the program has changed the
 * limit of this count (M_MMAP_MAX). */
static void test_wrong_count_of_mmapped_chunks_is_refused(void **state)
{
	pid_t pid;
	struct snapshot *snapshot = take(&pid);
	const struct heap_image *image = snapshot_image(snapshot);
	uint32_t *const counts = counts_of(image, 20);
	struct heap *heap;
	const char *reason;

	assert_non_null(counts);
	counts[1] = 1000;
	counts[3] = 1;
	assert_int_equal(heap_read(image, &heap, &reason), HEAP_READ);
	assert_int_equal(heap_figures(heap)->hblks, 20);
	heap_free(heap);
	counts[0]--;
	assert_int_equal(heap_read(image, &heap, &reason), HEAP_INCONSISTENT);
	assert_string_equal(reason, "the mmapped chunks that were found differ from malloc's counts");
	snapshot_free(snapshot);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Returns how many blocks of SIZE bytes are reachable. Subtracts from *known the number of blocks that are not found by
 * their address with that tag. */
static size_t count_reachable(const struct heap_image *image, uint64_t tag, size_t *known)
{
	struct heap *heap;
	const char *reason;
	size_t count, reached = 0;

	assert_int_equal(heap_read(image, &heap, &reason), HEAP_READ);
	heap_classify(heap);
	count = heap_count(heap);

	for (size_t i = 0; i < count; i++) {
		/* A block that reuses a chunk from before the fork may be larger, by a remainder that is too small for
		 * a chunk. */
		reached += heap_block(heap, i).size >= SIZE && heap_block(heap, i).size <= SIZE + 16 &&
			   heap_block(heap, i).class == HEAP_REACHABLE;
		*known += heap_find(heap, heap_block(heap, i).address | tag) == i;
	}
	*known -= count;
	heap_free(heap);
	return reached;
}

/* On AArch64 the highest byte of a pointer is not a part of the address (memory tagging has its tags there). */
static void test_tagged_pointers_reach_their_blocks(void **state)
{
	pid_t pid;
	struct snapshot *snapshot = take(&pid);
	struct heap_image image = *snapshot_image(snapshot);
	struct arch tagging = *image.arch, plain_pointers = *image.arch;
	size_t size, known = 0;
	uint64_t *words = (uint64_t *)(uintptr_t)image.bytes(&image, (uintptr_t)blocks, &size);

	tagging.tags.bits = 8;
	plain_pointers.tags.bits = 0;
	if (sizeof(void *) == 8) {
		assert_non_null(words);
		assert_true(size >= sizeof(blocks));
		image.arch = &tagging;
		const size_t plain = count_reachable(&image, 0, &known);

		assert_true(plain >= BLOCKS - BLOCKS / 3 - 1);
		for (size_t i = 0; i < BLOCKS; i++)
			words[i] |= words[i] ? (uint64_t)(i % 15 + 1) << 56 : 0;
		assert_int_equal(count_reachable(&image, 0x5aull << 56, &known), plain);
		assert_int_equal(known, 0);
		image.arch = &plain_pointers;
		/* A few blocks may be reachable by old words on stacks. */
		assert_true(count_reachable(&image, 0, &known) < plain / 50);
	}
	snapshot_free(snapshot);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The kernel shows mappings of huge pages (glibc.malloc.hugetlb=2) as a deleted file. */
static void test_chunks_in_huge_pages_are_found(void **state)
{
	pid_t pid;
	struct snapshot *snapshot = take(&pid);
	struct heap_image image = *snapshot_image(snapshot);
	struct heap_mapping *mappings = xcalloc(image.n_mappings, sizeof(*mappings));
	struct heap *heap;
	const char *reason;
	size_t huge = 0;

	memcpy(mappings, image.mappings, image.n_mappings * sizeof(*mappings));
	image.mappings = mappings;
	assert_int_equal(heap_read(&image, &heap, &reason), HEAP_READ);
	for (size_t i = 0, count = heap_count(heap); i < count; i++) {
		const size_t m = COUNT_UP_TO(mappings, image.n_mappings, .start, heap_block(heap, i).address) - 1;

		if (heap_block(heap, i).size < 300000 || mappings[m].path[0])
			continue;
		mappings[m].path = "/anon_hugepage (deleted)";
		huge++;
	}
	assert_true(huge);
	heap_free(heap);
	assert_int_equal(heap_read(&image, &heap, &reason), HEAP_READ);
	assert_int_equal(heap_figures(heap)->hblks, 20);
	heap_free(heap);
	free(mappings);
	snapshot_free(snapshot);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Reads the heap of an image whose mappings have tags, or have none. */
static struct heap *heap_with(const struct heap_image *image, struct heap_mapping *mappings, bool has_tags)
{
	struct heap *heap;
	const char *reason;

	for (size_t i = 0; i < image->n_mappings; i++)
		mappings[i].has_tags = has_tags;
	assert_int_equal(heap_read(image, &heap, &reason), HEAP_READ);
	return heap;
}

/* In tagged memory a block does not extend into the next chunk's header, unless it is an mmapped chunk. */
static void test_blocks_in_tagged_memory_end_before_the_next_header(void **state)
{
	pid_t pid;
	struct snapshot *snapshot = take(&pid);
	struct heap_image image = *snapshot_image(snapshot);
	struct heap_mapping *mappings = xcalloc(image.n_mappings, sizeof(*mappings));
	size_t mapped = 0;

	memcpy(mappings, image.mappings, image.n_mappings * sizeof(*mappings));
	image.mappings = mappings;
	struct heap *plain = heap_with(&image, mappings, false), *tagged = heap_with(&image, mappings, true);
	const size_t count = heap_count(plain);

	assert_int_equal(count, heap_count(tagged));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(heap_block(plain, i).address, heap_block(tagged, i).address);
		if (heap_block(plain, i).size < 300000)
			assert_int_equal(heap_block(tagged, i).size, heap_block(plain, i).size - sizeof(void *));
		mapped +=
			heap_block(plain, i).size >= 300000 && heap_block(tagged, i).size == heap_block(plain, i).size;
	}
	assert_true(mapped >= 20);
	heap_free(plain);
	heap_free(tagged);
	free(mappings);
	snapshot_free(snapshot);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_heap_is_read_or_refused),
		cmocka_unit_test(test_old_pointers_to_a_cache_are_ignored),
		cmocka_unit_test(test_tagged_pointers_reach_their_blocks),
		cmocka_unit_test(test_blocks_in_tagged_memory_end_before_the_next_header),
		/* These come last, because a forked child also has the old words that all earlier tests have left in
		 * memory. */
		cmocka_unit_test(test_wrong_count_of_mmapped_chunks_is_refused),
		cmocka_unit_test(test_chunks_in_huge_pages_are_found)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
