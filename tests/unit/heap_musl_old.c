/* Tests the reader of musl's old malloc with images that are made here, of programs of 64 and of 32 bits. The reader
 * must find exactly the blocks of an undamaged image, and refuse each image with a known damage. It must read any other
 * damaged image to its end, or refuse it, in bounded time.
 *
 * An image has the variables of an object, with the bins, and with a region of the heap at the end of their last page;
 * the memory that brk(2) returned; a mapping with one more region; and two blocks in mappings of their own. */
#include "config.h"
#include "base/util.h"
#include "heap/heap.h"
#include "unit_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE       4096u
#define VARIABLES  0x500000u
#define BINS       (VARIABLES + 0x148u)
#define LEFT       (VARIABLES + 2 * PAGE - 512)
#define BRK        0x800000u
#define BRK_PAGES  4u
#define MAPPED     0x40000000u
#define MAP_PAGES  8u
#define BLOCKS_MAX 64u

struct world {
	unsigned word, header, align;
	struct heap_mapping mappings[3];
	unsigned char *bytes[3]; /* of each */
	struct heap_image image;
	struct heap_extent wanted[BLOCKS_MAX];
	size_t count;
	uint64_t free_bytes, free_count;
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

static unsigned char *bytes_of(struct world *w, uint64_t address)
{
	size_t size;

	return bytes_from(w, address, &size);
}

static void put(struct world *w, uint64_t address, uint64_t value)
{
	memcpy(bytes_of(w, address), &value, w->word);
}

static uint64_t get(struct world *w, uint64_t address)
{
	uint64_t value = 0;

	memcpy(&value, bytes_of(w, address), w->word);
	return value;
}

static uint64_t bin_at(const struct world *w, unsigned i)
{
	return BINS + i * (8 + 2 * w->word);
}

/* Returns the word that ends the list of a bin. */
static uint64_t end_of(const struct world *w, unsigned i)
{
	return bin_at(w, i) + 8 - w->header;
}

static void put_map(struct world *w, uint64_t map)
{
	memcpy(bytes_of(w, BINS - 8), &map, sizeof(map));
}

static uint64_t get_map(struct world *w)
{
	uint64_t map;

	memcpy(&map, bytes_of(w, BINS - 8), sizeof(map));
	return map;
}

static void expect_block(struct world *w, uint64_t chunk, uint64_t size)
{
	assert_true(w->count < BLOCKS_MAX);
	w->wanted[w->count++] = (struct heap_extent){.address = chunk + w->header, .size = size - w->header};
}

/* Appends a free chunk to the bin's list. */
static void append_to_bin(struct world *w, uint64_t chunk, unsigned bin)
{
	const uint64_t head = bin_at(w, bin) + 8, last = get(w, head + w->word), end = end_of(w, bin);

	put(w, chunk + w->header, end);
	put(w, chunk + w->header + w->word, last ? last : end);
	put(w, last && last != end ? last + w->header : head, chunk);
	put(w, head + w->word, chunk);
	put_map(w, get_map(w) | 1ull << bin);
}

struct part {
	unsigned units;
	int bin; /* of a free chunk; -1: it is in use */
};

/* Writes a region from its first chunk on; returns its end. */
static uint64_t build(struct world *w, uint64_t start, const struct part *parts, size_t count)
{
	uint64_t at = start;

	put(w, at, 1);
	for (size_t i = 0; i < count; i++) {
		const uint64_t size = (uint64_t)parts[i].units * w->align, word = size | (parts[i].bin < 0);

		put(w, at + w->word, word);
		put(w, at + size, word);
		if (parts[i].bin < 0) {
			expect_block(w, at, size);
		} else {
			append_to_bin(w, at, (unsigned)parts[i].bin);
			w->free_bytes += size;
			w->free_count++;
		}
		at += size;
	}
	put(w, at + w->word, 1);
	return at + w->header;
}

static const struct part left[] = {{2, -1}, {3, 2}, {1, -1}};
/* Bins before bin 32 have one size each. 33 units is the smallest size of bin 32; 42 units is neither the smallest nor
 * the largest size of bin 33. */
static const struct part in_brk[] = {{3, -1}, {1, 0}, {5, -1}, {33, 32}, {1, -1}, {42, 33}, {2, -1}};
static const struct part in_map[] = {{2, -1}, {3, 2}, {17, -1}, {1, 0}, {1, -1}};

/* Builds a region of that number of pages. Its last part has the remaining units. */
static void build_pages(struct world *w, uint64_t page, unsigned pages, const struct part *parts, size_t count)
{
	struct part all[16];
	unsigned units = pages * PAGE / w->align - 1; /* the headers of the first and of the last chunk take one */

	memcpy(all, parts, count * sizeof(*parts));
	for (size_t i = 0; i < count; i++)
		units -= parts[i].units;
	all[count] = (struct part){units, -1};
	assert_int_equal(build(w, page + w->header, all, count + 1), page + pages * PAGE);
}

/* Builds a block in a separate mapping, from that page on. aligned: the alignment of its memory; 0: no more than
 * usual. */
static void build_mapped(struct world *w, uint64_t page, unsigned pages, unsigned aligned)
{
	const uint64_t all = pages * PAGE;
	const uint64_t chunk = page + (aligned ? aligned - w->header : w->header);

	put(w, page + w->header, w->header);
	put(w, page + w->header + w->word, all - w->header);
	put(w, chunk, chunk - page);
	put(w, chunk + w->word, page + all - chunk);
	expect_block(w, chunk, page + all - chunk);
}

/* Begins an image without a heap; the mapping has this number of pages. */
static void begin_empty(struct world *w, unsigned word, unsigned pages)
{
	const struct heap_mapping mappings[] = {
		{.start = VARIABLES, .end = VARIABLES + 2 * PAGE, .path = "/lib/ld-musl-any.so.1"},
		{.start = BRK, .end = BRK + BRK_PAGES * PAGE, .path = "[heap]"},
		{.start = MAPPED, .end = MAPPED + pages * PAGE, .path = ""},
	};

	static const struct arch wide = {.pointer_size = 8, .malloc = {.word = 8}},
				 narrow = {.pointer_size = 4, .malloc = {.word = 4}};

	*w = (struct world){.word = word, .header = 2 * word, .align = 4 * word};
	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++) {
		w->mappings[i] = mappings[i];
		w->mappings[i].readable = w->mappings[i].writable = true;
		w->bytes[i] = xcalloc(1, mappings[i].end - mappings[i].start);
	}
	w->image = (struct heap_image){.mappings = w->mappings,
				       .n_mappings = ARRAY_SIZE(w->mappings),
				       .arch = word == 8 ? &wide : &narrow,
				       .bytes = image_bytes,
				       .context = w};
}

static void begin(struct world *w, unsigned word)
{
	begin_empty(w, word, MAP_PAGES);
	/* Some bins were in use, and are empty now. */
	for (unsigned i = 5; i < 40; i += 7) {
		put(w, bin_at(w, i) + 8, end_of(w, i));
		put(w, bin_at(w, i) + 8 + word, end_of(w, i));
	}
	build(w, LEFT + w->header, left, ARRAY_SIZE(left));
	build_pages(w, BRK, BRK_PAGES, in_brk, ARRAY_SIZE(in_brk));
	build_pages(w, MAPPED, 1, in_map, ARRAY_SIZE(in_map));
	build_mapped(w, MAPPED + 2 * PAGE, 2, 0);
	build_mapped(w, MAPPED + 4 * PAGE, 3, 256);
}

static void end(struct world *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->bytes); i++)
		free(w->bytes[i]);
}

static void check_whole(struct world *w)
{
	const char *reason = NULL;
	struct heap *heap;
	size_t count;

	assert_int_equal(heap_read(&w->image, &heap, &reason), HEAP_READ);
	assert_string_equal(heap_allocator(heap), "musl");
	count = heap_count(heap);
	const struct heap_figures *figures = heap_figures(heap);
	/* The expected size of the heap without blocks in mappings of their own. */
	const uint64_t arena = (BRK_PAGES + 1) * PAGE + 6 * w->align + w->header;

	assert_int_equal(count, w->count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(heap_block(heap, i).address, w->wanted[i].address);
		assert_int_equal(heap_block(heap, i).size, w->wanted[i].size);
		assert_int_equal(heap_find(heap, heap_block(heap, i).address + heap_block(heap, i).size - 1), i);
		assert_int_equal(heap_find(heap, heap_block(heap, i).address - 1), HEAP_NONE);
	}
	assert_int_equal(figures->arena, arena);
	assert_int_equal(figures->fordblks, w->free_bytes);
	assert_int_equal(figures->uordblks, arena - w->free_bytes);
	assert_int_equal(figures->ordblks, w->free_count);
	assert_int_equal(figures->hblks, 2);
	assert_int_equal(figures->hblkhd, 5 * PAGE);
	heap_free(heap);
}

/* The exact blocks are found, also after the program has changed bytes of a block. */
static void test_exact_blocks_are_found(void **state)
{
	struct world w;

	for (unsigned word = 4; word <= 8; word += 4) {
		begin(&w, word);
		check_whole(&w);
		for (size_t i = 0; i < w.count; i++)
			memset(bytes_of(&w, w.wanted[i].address), 0x41, w.wanted[i].size);
		check_whole(&w);
		/* Some threads have waited for the bin's lock. */
		memset(bytes_of(&w, bin_at(&w, 3) + 4), 1, 1);
		check_whole(&w);
		end(&w);
	}
}

/* The same heap is found if its mapping directly follows the variables' mapping, anonymous or with the path [heap]. */
static void test_heap_directly_after_variables_is_found(void **state)
{
	struct world w;

	for (unsigned word = 4; word <= 8; word += 4) {
		begin(&w, word);
		/* The addresses stay the same; only the gap before the heap is filled. */
		w.mappings[1].path = "";
		check_whole(&w);
		w.mappings[0].end = w.mappings[1].start;
		unsigned char *const whole = xcalloc(1, w.mappings[0].end - w.mappings[0].start);

		memcpy(whole, w.bytes[0], 2 * PAGE);
		free(w.bytes[0]);
		w.bytes[0] = whole;
		check_whole(&w);
		w.mappings[1].path = "[heap]";
		check_whole(&w);
		end(&w);
	}
}

/* Tests the classes of blocks to which only a lost block points, and of blocks to which a variable points. */
static void test_blocks_are_classified(void **state)
{
	struct world w;
	struct heap *heap;
	const char *reason;

	begin(&w, 8);
	put(&w, VARIABLES, w.wanted[0].address);
	put(&w, w.wanted[0].address, w.wanted[2].address + 8);
	put(&w, w.wanted[3].address, w.wanted[4].address);
	assert_int_equal(heap_read(&w.image, &heap, &reason), HEAP_READ);
	heap_classify(heap);
	assert_int_equal(heap_block(heap, 0).class, HEAP_REACHABLE);
	assert_int_equal(heap_block(heap, 1).class, HEAP_LOST);
	assert_int_equal(heap_block(heap, 2).class, HEAP_POSSIBLE);
	assert_int_equal(heap_block(heap, 3).class, HEAP_LOST);
	assert_int_equal(heap_block(heap, 4).class, HEAP_INDIRECT);
	heap_free(heap);
	end(&w);
}

/* A word that is damaged, and the reason with which the image is refused. */
struct damage {
	const char *reason;
	uint64_t address, value;
};

static void assert_refused(struct world *w, const struct damage *damage)
{
	const uint64_t old = get(w, damage->address);
	const char *reason = NULL;
	struct heap *heap;

	put(w, damage->address, damage->value);
	const enum heap_status status = heap_read(&w->image, &heap, &reason);

	if (status != HEAP_INCONSISTENT || strcmp(reason, damage->reason) != 0)
		fail_msg("%#" PRIx64 " at %#" PRIx64 " is refused with %d, %s; not: %s", damage->value, damage->address,
			 (int)status, reason, damage->reason);
	put(w, damage->address, old);
}

#define CHUNK "a chunk has an impossible size, or a size that differs from that in the next chunk's header"
#define FREE  "a bin has a chunk that is not free, or that belongs to another bin"
#define LIST  "a bin's list is broken"
#define LAST  "a bin's list does not end where it should"
#define MAP   "the map of bins that are not empty differs from the bins"
#define OTHER "some free chunks are in no bin"
#define PLACE "the memory from brk(2) does not begin or end as it should"

static void test_damaged_words_are_refused_with_a_reason(void **state)
{
	struct world w;

	for (unsigned word = 4; word <= 8; word += 4) {
		begin(&w, word);
		const unsigned header = w.header, align = w.align;
		const uint64_t first = BRK + header, second = first + 3 * align, third = second + align;
		const uint64_t in_map_free = MAPPED + header + 2 * align, left_free = LEFT + header + 2 * align;
		const struct damage all[] = {
			/* An overwritten size, of a block or of a free chunk; and the copy of it in the next chunk. */
			{CHUNK, third + word, 6 * align | 1},
			{CHUNK, third + word, UINT64_MAX},
			{CHUNK, third + word, 0},
			{CHUNK, third + word, (5 * align + word) | 1},
			{CHUNK, second + word, 2 * align},
			{CHUNK, third, 7 * align},
			/* Only one of the two copies of the size has the mark of a chunk in use. */
			{CHUNK, second + word, align | 1},
			{CHUNK, third, align | 1},
			/* The words at the beginning and at the end of a region. */
			{PLACE, first, 0},
			{PLACE, BRK, 0x4141},
			{CHUNK, BRK + BRK_PAGES * PAGE - word, 0},
			{CHUNK, BRK + BRK_PAGES * PAGE - word, align | 1},
			{CHUNK, MAPPED + PAGE - word, 2},
			/* A region without its beginning is not found, but the bins contain its chunks. */
			{FREE, MAPPED + header, 0},
			{FREE, LEFT + header, 0},
			{FREE, left_free + word, 4 * align},
			/* Damaged lists: a cycle, an end that comes too early, a pointer to another place, a wrong back
			 * pointer. */
			{LIST, in_map_free + header, in_map_free},
			{LIST, in_map_free + header, left_free},
			{LAST, left_free + header, end_of(&w, 2)},
			{FREE, left_free + header, third},
			{FREE, left_free + header, 0x123456},
			{LIST, left_free + header, 0},
			{LIST, left_free + header + word, left_free},
			{LIST, in_map_free + header + word, 0},
			{LAST, bin_at(&w, 2) + 8 + word, left_free},
			{FREE, bin_at(&w, 2) + 8, second},
			{MAP, BINS - 8, get(&w, BINS - 8) & ~(uint64_t)4},
			{MAP, BINS - 8, get(&w, BINS - 8) | 8},
			/* A thread holds a lock; the last lock is after the bins. */
			{"a thread is inside malloc", bin_at(&w, 17), 1},
			{"a thread is inside malloc", bin_at(&w, 64), 1},
		};

		for (size_t i = 0; i < ARRAY_SIZE(all); i++)
			assert_refused(&w, &all[i]);
		check_whole(&w);
		/* A free chunk that is in no list. */
		put(&w, bin_at(&w, 33) + 8, end_of(&w, 33));
		put(&w, bin_at(&w, 33) + 8 + word, end_of(&w, 33));
		put_map(&w, get_map(&w) & ~(1ull << 33));
		assert_refused(&w, &(struct damage){OTHER, VARIABLES, 0});
		end(&w);
	}
}

/* The list of all free chunks has a cycle that does not include the list's head. */
static void test_cyclic_list_is_refused_in_bounded_time(void **state)
{
	const uint64_t size = (uint64_t)4096 * PAGE;
	struct world w;
	const char *reason;
	struct heap *heap;
	uint64_t last = 0;

	begin_empty(&w, 8, 4096);
	w.mappings[1].path = "";
	/* Every second chunk is in use; the others are free. All have the smallest size, that of bin 0. */
	put(&w, MAPPED + 16, 1);
	for (uint64_t at = MAPPED + 16, i = 0; at < MAPPED + size - 16; at += 32, i++) {
		const uint64_t word = 32 | (i % 2 == 0);

		put(&w, at + 8, word);
		put(&w, at + 32, word);
		if (i % 2) {
			append_to_bin(&w, at, 0);
			last = at;
		}
	}
	put(&w, MAPPED + size - 8, 1);
	assert_int_equal(heap_read(&w.image, &heap, &reason), HEAP_READ);
	heap_free(heap);
	put(&w, last + 16, MAPPED + 16 + 32);
	const uint64_t before = clock_ns(CLOCK_MONOTONIC);

	assert_int_equal(heap_read(&w.image, &heap, &reason), HEAP_INCONSISTENT);
	assert_string_equal(reason, LIST);
	assert_true(clock_ns(CLOCK_MONOTONIC) - before < 10000000000u);
	end(&w);
}

/* There is no heap: the bins were never used, or they are variables of another allocator that point to addresses before
 * themselves, as in tcmalloc. */
static void test_images_without_a_heap_have_none(void **state)
{
	struct world w;
	const char *reason;
	struct heap *heap;

	begin(&w, 8);
	memset(w.bytes[0], 0, 2 * PAGE);
	assert_int_equal(heap_read(&w.image, &heap, &reason), HEAP_NOT_FOUND);
	for (unsigned i = 0; i < 64; i += 2) {
		put(&w, bin_at(&w, i) + 8, end_of(&w, i));
		put(&w, bin_at(&w, i) + 16, end_of(&w, i));
	}
	assert_int_equal(heap_read(&w.image, &heap, &reason), HEAP_NOT_FOUND);
	end(&w);
}

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 17) % below;
}

/* With any value at any place, the image is read to its end, or refused with a reason. */
static void test_randomly_damaged_images_are_read_or_refused(void **state)
{
	unsigned refused = 0;
	struct world w;

	for (unsigned round = 0; round < 4000; round++) {
		const char *reason = NULL;
		struct heap *heap;
		size_t count;

		begin(&w, round % 2 ? 8 : 4);
		for (uint64_t k = 1 + draw(6); k--;) {
			const struct heap_mapping *m = &w.mappings[draw(3)];
			const uint64_t at = m->start + w.word * draw((m->end - m->start) / w.word);
			const uint64_t values[] = {
				get(&w, at) ^ 1ull << draw(8 * w.word),   get(&w, at) + w.align, 0, 1, draw(UINT64_MAX),
				m->start + w.align * draw(128) + w.header};

			put(&w, get(&w, at) || draw(4) == 0 ? at : BINS + w.word * draw(128),
			    values[draw(ARRAY_SIZE(values))]);
		}
		const enum heap_status status = heap_read(&w.image, &heap, &reason);

		refused += status != HEAP_READ;
		assert_true(status == HEAP_READ || status == HEAP_NOT_FOUND || (status == HEAP_INCONSISTENT && reason));
		if (status == HEAP_READ) {
			heap_classify(heap);
			count = heap_count(heap);

			for (size_t i = 0; i < count; i++)
				assert_int_equal(heap_find(heap, heap_block(heap, i).address), i);
		}
		heap_free(heap);
		end(&w);
	}
	printf("# %u of 4000 damaged heaps were refused\n", refused);
	assert_true(refused > 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_blocks_are_found),
		cmocka_unit_test(test_heap_directly_after_variables_is_found),
		cmocka_unit_test(test_blocks_are_classified),
		cmocka_unit_test(test_damaged_words_are_refused_with_a_reason),
		cmocka_unit_test(test_cyclic_list_is_refused_in_bounded_time),
		cmocka_unit_test(test_images_without_a_heap_have_none),
		cmocka_unit_test(test_randomly_damaged_images_are_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
