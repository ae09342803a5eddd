/* Tests the reader of musl's malloc from 1.2.1 on with images that are made here.
 *
 * An image has the allocator's variables, two pages of descriptions, and the memory of a group. The group has one slot,
 * which takes all of its pages. One more mapping is the pool of another allocator, whose blocks only heap_add_blocks()
 * adds. */
#include "config.h"
#include "base/util.h"
#include "heap/heap.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE      4096u
#define VARIABLES 0x500000u
#define CONTEXT   (VARIABLES + 0x100u)
#define AREAS     0x600000u
#define META      (AREAS + 24u)
#define GROUP     0x40000000u
#define PAGES     2050u
#define UNIT      16u
#define SLOT      (GROUP + UNIT)
#define POOL      0x50000000u
#define SECRET    0x123456789abcdefull

struct world {
	struct heap_mapping mappings[4];
	unsigned char *bytes[4]; /* of each */
	struct heap_image image;
};

static unsigned char *bytes_from(struct world *w, uint64_t address, size_t *size)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->mappings); i++)
		if (address >= w->mappings[i].start && address < w->mappings[i].end) {
			*size = (size_t)(w->mappings[i].end - address);
			return w->bytes[i] + (address - w->mappings[i].start);
		}
	return NULL;
}

static const void *image_bytes(const struct heap_image *image, uint64_t address, size_t *size)
{
	return bytes_from(image->context, address, size);
}

static void put(struct world *w, uint64_t address, uint64_t value, unsigned bytes)
{
	size_t size;

	memcpy(bytes_from(w, address, &size), &value, bytes);
}

static void begin(struct world *w)
{
	static const struct arch arch = {.pointer_size = 8, .malloc = {.word = 8}};
	const struct heap_mapping mappings[] = {
		{.start = VARIABLES, .end = VARIABLES + PAGE, .path = "/lib/ld-musl-any.so.1"},
		{.start = AREAS, .end = AREAS + 2 * PAGE, .path = ""},
		{.start = GROUP, .end = GROUP + PAGES * PAGE, .path = ""},
		{.start = POOL, .end = POOL + PAGE, .path = ""},
	};

	*w = (struct world){0};
	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++) {
		w->mappings[i] = mappings[i];
		w->mappings[i].readable = w->mappings[i].writable = true;
		w->bytes[i] = xcalloc(1, mappings[i].end - mappings[i].start);
	}
	w->image = (struct heap_image){.mappings = w->mappings,
				       .n_mappings = ARRAY_SIZE(w->mappings),
				       .arch = &arch,
				       .bytes = image_bytes,
				       .context = w};
	put(w, CONTEXT, SECRET, 8);
	put(w, CONTEXT + 56, AREAS, 8);
	put(w, CONTEXT + 64, AREAS + PAGE, 8);
	put(w, AREAS, SECRET, 8);
	put(w, AREAS + 8, AREAS + PAGE, 8);
	put(w, AREAS + 16, 1, 4);
	put(w, AREAS + PAGE, SECRET, 8);
	put(w, META + 16, GROUP, 8);
	put(w, META + 32, 1u << 5 | 63u << 6 | PAGES << 12, 8);
	put(w, GROUP, META, 8);
}

static void end(struct world *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->bytes); i++)
		free(w->bytes[i]);
}

/* Writes what aligned_alloc() stores about a block of 100 bytes. */
static void put_block(struct world *w, uint64_t block)
{
	const uint64_t units = (block - SLOT) / UNIT, slot_end = GROUP + PAGES * PAGE - 4;
	const bool is_far = units > UINT16_MAX;

	put(w, slot_end - 4, slot_end - block - 100, 4);
	if (is_far)
		put(w, block - 8, units, 4);
	put(w, block - 4, is_far, 1);
	put(w, block - 3, 5u << 5, 1);
	put(w, block - 2, is_far ? 0 : units, 2);
	if (block == SLOT)
		return;
	put(w, SLOT - 3, 7u << 5, 1);
	put(w, SLOT - 2, units & UINT16_MAX, 2);
}

/* The offset of an aligned block from its slot is stored in 16 bits or, if these are too few, in 32 bits before
 * them. */
static void test_aligned_blocks_are_found_by_their_offset(void **state)
{
	static const uint64_t starts[] = {SLOT, GROUP + 0x1000, GROUP + 0x100000, GROUP + 0x400000, GROUP + 0x800000};
	const char *reason = NULL;
	struct heap *heap;
	struct world w;

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		begin(&w);
		put_block(&w, starts[i]);
		assert_int_equal(heap_read(&w.image, &heap, &reason), HEAP_READ);
		assert_string_equal(heap_allocator(heap), "musl");
		assert_int_equal(heap_count(heap), 1);
		assert_int_equal(heap_block(heap, 0).address, starts[i]);
		assert_int_equal(heap_block(heap, 0).size, 100);
		heap_free(heap);
		end(&w);
	}
	begin(&w);
	put_block(&w, GROUP + 0x400000);
	put(&w, GROUP + 0x400000 - 8, 1, 4);
	assert_int_equal(heap_read(&w.image, &heap, &reason), HEAP_INCONSISTENT);
	assert_string_equal(reason, "a slot in use has no block");
	end(&w);
}

/* A list of pages that leads back to an earlier page is refused at once. Otherwise the reader would store each step of
 * an endless walk. */
static void test_cyclic_list_of_pages_is_refused_at_once(void **state)
{
	static const uint64_t places[] = {AREAS, AREAS + PAGE};
	const char *reason = NULL;
	struct heap *heap;
	struct world w;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		begin(&w);
		put_block(&w, SLOT);
		put(&w, places[i] + 8, AREAS, 8);
		const clock_t began = clock();

		assert_int_equal(heap_read(&w.image, &heap, &reason), HEAP_INCONSISTENT);
		assert_true(clock() - began < CLOCKS_PER_SEC / 20);
		end(&w);
	}
}

/* Returns the class of the block at an address; HEAP_NONE if no block begins there. */
static unsigned class_at(const struct heap *heap, uint64_t address)
{
	const uint32_t index = heap_find(heap, address);

	return index == HEAP_NONE || heap_block(heap, index).address != address ? HEAP_NONE
										: heap_block(heap, index).class;
}

/* Blocks of another allocator, known from a trace, are classified like those of the heap. Blocks inside a block of the
 * heap, or in memory that the process has released, are not added. */
static void test_blocks_of_another_allocator_are_classified(void **state)
{
	struct heap_extent extents[] = {
		{POOL + 0x200, 0x40}, {POOL + 0x40, 0x40},   {POOL, 0x40},     {SLOT + 0x10, 0x10},
		{GROUP - PAGE, 0x40}, {POOL + 0x100, 0x400}, {POOL + 0x80, 0}, {POOL, 0x40},
	};
	const char *reason = NULL;
	struct heap *heap;
	struct world w;

	begin(&w);
	put_block(&w, SLOT);
	put(&w, VARIABLES, POOL + 0x40, 8);
	put(&w, POOL + 0x40, POOL + 0x80, 8);
	put(&w, POOL, SLOT, 8);
	put(&w, SLOT, POOL + 0x200, 8);
	assert_int_equal(heap_read(&w.image, &heap, &reason), HEAP_READ);
	assert_true(heap_add_blocks(heap, extents, ARRAY_SIZE(extents)));
	heap_classify(heap);
	assert_int_equal(heap_count(heap), 6);
	assert_int_equal(class_at(heap, POOL), HEAP_LOST);
	assert_int_equal(class_at(heap, POOL + 0x40), HEAP_REACHABLE);
	assert_int_equal(class_at(heap, POOL + 0x80), HEAP_REACHABLE);
	assert_int_equal(class_at(heap, POOL + 0x100), HEAP_LOST);
	assert_int_equal(heap_block(heap, heap_find(heap, POOL + 0x100)).size, 0x100);
	assert_int_equal(class_at(heap, POOL + 0x200), HEAP_INDIRECT);
	assert_int_equal(class_at(heap, SLOT), HEAP_INDIRECT);
	heap_free(heap);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_aligned_blocks_are_found_by_their_offset),
					   cmocka_unit_test(test_cyclic_list_of_pages_is_refused_at_once),
					   cmocka_unit_test(test_blocks_of_another_allocator_are_classified)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
