/* Tests where the program's part of a block begins, according to the addresses in a trace, which come in any order. */
#include "config.h"
#include "heap/heap_private.h"
#include "base/util.h"
#include "unit_test.h"

#define BLOCK 0x10030u /* a block of 0x1000 bytes; in an aligned block the program's part may begin later */

struct known {
	uint64_t addresses[3]; /* up to a 0 */
	uint64_t first;
};

static void check_start(const uint64_t *addresses, size_t count, bool is_reversed, uint64_t first)
{
	static const struct arch arch = {.pointer_size = 8};
	static const struct heap_image image = {.arch = &arch};
	struct heap *const heap = xcalloc(1, sizeof(*heap));

	heap->image = &image;
	region_add(heap, &(struct region){.start = 0x10000, .end = 0x20000, .begin = 0x10000});
	block_add(heap, BLOCK, 0x1000, 0);
	assert_true(blocks_index(heap));
	starts_aligned(heap, 0x10000, 0x14000);
	for (size_t i = 0; i < count; i++) {
		const uint64_t address = addresses[is_reversed ? count - 1 - i : i];

		assert_int_equal(heap_note_block(heap, address), address != BLOCK);
	}
	assert_int_equal(starts_first(heap, BLOCK), first);
	heap_free(heap);
}

static void test_start_of_a_block_follows_the_known_addresses(void **state)
{
	static const struct known cases[] = {
		{{0}, BLOCK},
		{{BLOCK}, BLOCK},
		{{0x10040}, 0x10040},
		{{0x10100}, 0x10100},
		{{0x10038}, BLOCK},            /* not from an alignment: another allocator's header */
		{{0x10040, 0x10040}, 0x10040}, /* known twice */
		{{0x10040, 0x10080}, BLOCK},   /* a pool, which divides the block */
		{{0x10040, 0x10080, 0x10100}, BLOCK},
		{{0x10038, 0x10080}, BLOCK},
		{{BLOCK, 0x10080}, BLOCK},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t count = 0;

		while (count < 3 && cases[i].addresses[count])
			count++;
		check_start(cases[i].addresses, count, false, cases[i].first);
		check_start(cases[i].addresses, count, true, cases[i].first);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_start_of_a_block_follows_the_known_addresses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
