/* Tests which memory is recognised as a thread's stack by the words of its struct pthread in an image. */
#include "config.h"
#include "heap/thread_stacks.h"
#include "unit_test.h"

#include <stdlib.h>

#define BASE          0x7f0000000000ull
#define BYTES         (1u << 16)
#define TP            (BASE + BYTES - 0x1000) /* the control block */
#define WORD(address) words[((address)-BASE) / sizeof(uint64_t)]

static uint64_t words[BYTES / sizeof(uint64_t)];
static const struct heap_mapping mappings[] = {
	{.start = 0x400000, .end = 0x480000, .readable = true, .writable = true, .path = "/program"},
	{.start = BASE, .end = BASE + BYTES, .readable = true, .writable = true, .path = ""},
};

/* If has_hole is true, the image does not contain these untouched pages. asked_for_hole: how often the tested code has
 * asked for them. */
#define HOLE     (BASE + 0x9000)
#define HOLE_END (BASE + 0xe000)
static bool has_hole;
static unsigned asked_for_hole;

static const void *bytes(const struct heap_image *image, uint64_t address, size_t *size)
{
	(void)image;
	if (address < BASE || address >= BASE + BYTES)
		return NULL;
	if (has_hole && address >= HOLE && address < HOLE_END) {
		asked_for_hole++;
		*size = HOLE_END - address;
		return NULL;
	}
	*size = (has_hole && address < HOLE ? HOLE : BASE + BYTES) - address;
	return (const unsigned char *)words + (address - BASE);
}

static bool find(struct thread_stack *memory)
{
	static const struct arch arch = {.pointer_size = 8, .tls = {.dtv_word = 1}};
	const struct heap_image image = {
		.mappings = mappings, .n_mappings = ARRAY_SIZE(mappings), .arch = &arch, .bytes = bytes};
	struct heap heap = {.image = &image, .words = {.image = &image, .width = 8}};

	return stack_memory_of(&heap, TP, memory);
}

static void put(uint64_t at, const uint64_t *some, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		WORD(at + i * sizeof(uint64_t)) = some[i];
}

static int clear(void **state)
{
	memset(words, 0, sizeof(words));
	return 0;
}

static void stack_of_glibc_is_recognised(void **state)
{
	struct thread_stack memory;

	assert_false(find(&memory));
	put(TP + 0x690, (const uint64_t[]){BASE, BYTES, 0x1000, 0x1000}, 4);
	assert_true(find(&memory));
	assert_true(memory.has_guard && memory.start == BASE + 0x1000 && memory.end == BASE + BYTES);
	put(TP + 0x690, (const uint64_t[]){BASE + 0x40, BYTES - 0x40, 0, 0}, 4);
	assert_true(find(&memory));
	assert_true(!memory.has_guard && memory.start == BASE + 0x40);
}

/* After the first thread's control block, a static program has other variables. A number and an address among them are
 * not the address and size of a stack. */
static void other_words_are_not_taken_for_a_stack(void **state)
{
	struct thread_stack memory;

	put(TP + 0xf30, (const uint64_t[]){1, TP + 0x1000, 0, 0}, 4);
	assert_false(find(&memory));
	put(TP + 0xf30, (const uint64_t[]){0x400000, TP + 0x1000 - 0x400000, 0, 0}, 4);
	assert_false(find(&memory));
}

/* Without a guard, the last words that musl stores about a stack look like those that glibc stores about a smaller
 * stack. */
static void stack_of_musl_is_recognised(void **state)
{
	struct thread_stack memory;

	put(TP + 0x48, (const uint64_t[]){BASE, BYTES, TP - 0x218, TP - 0x218 - BASE, 0}, 5);
	assert_true(find(&memory));
	assert_true(!memory.has_guard && memory.start == BASE && memory.end == TP - 0x218);
	put(TP + 0x48, (const uint64_t[]){BASE, BYTES, TP - 0x218, TP - 0x218 - BASE - 0x2000, 0x2000}, 5);
	assert_true(find(&memory));
	assert_true(memory.has_guard && memory.start == BASE + 0x2000);
}

/* Returns how many bytes below the thread's stack pointer count as used. */
static uint64_t used_below_in(const struct heap_thread *thread, const char *library)
{
	static const struct arch arch = {.pointer_size = 8, .stack.red_zone = 128};
	const struct heap_mapping stack[] = {
		{.start = 0x400000, .end = 0x480000, .executable = true, .path = "/program"},
		{.start = 0x500000, .end = 0x580000, .executable = true, .path = library},
		{.start = BASE, .end = BASE + BYTES, .readable = true, .writable = true, .path = "[stack]"},
	};
	const struct heap_image image = {.mappings = stack,
					 .n_mappings = ARRAY_SIZE(stack),
					 .threads = thread,
					 .n_threads = 1,
					 .arch = &arch,
					 .bytes = bytes};
	struct heap heap = {.image = &image, .words = {.image = &image, .width = 8}};
	size_t count;
	struct range *unused = stacks_unused(&heap, &count);

	assert_int_equal(count, 1);
	const uint64_t end = unused[0].end;

	free(unused);
	return thread->sp - end;
}

static uint64_t used_below(const struct heap_thread *thread)
{
	return used_below_in(thread, "/lib/libc.so.6");
}

/* A system call instruction does not change the red zone, so a function with such an instruction may have variables
 * there. The C library's functions that make system calls have none there. */
static void red_zone_counts_as_used(void **state)
{
	struct heap_thread thread = {.sp = BASE + 0x8000, .pc = 0x400010};

	assert_int_equal(used_below(&thread), 128);
	thread.in_syscall = true;
	assert_int_equal(used_below(&thread), 128);
	/* Without a file of the C library, the program is static and contains the C library's functions. */
	assert_int_equal(used_below_in(&thread, "/lib/libother.so"), 0);
	thread.is_ending = true;
	assert_int_equal(used_below(&thread), 0);
	thread = (struct heap_thread){.sp = BASE + 0x8000, .pc = 0x500010};
	assert_int_equal(used_below(&thread), 128);
	thread.in_syscall = true;
	assert_int_equal(used_below(&thread), 0);
}

/* A frame may have an array of megabytes that was never touched: it is not searched word by word for a signal frame. */
static void untouched_pages_are_not_searched(void **state)
{
	const struct heap_thread thread = {.sp = BASE + 0x8000, .pc = 0x400010};

	has_hole = true;
	assert_int_equal(used_below(&thread), 128);
	assert_int_equal(asked_for_hole, 2); /* for the word, and for the end of the hole */
	has_hole = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(stack_of_glibc_is_recognised, clear),
		cmocka_unit_test_setup(other_words_are_not_taken_for_a_stack, clear),
		cmocka_unit_test_setup(stack_of_musl_is_recognised, clear),
		cmocka_unit_test_setup(untouched_pages_are_not_searched, clear),
		cmocka_unit_test_setup(red_zone_counts_as_used, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
